"""Pictures of reports for the documentation: `python tools/screenshots.py` writes docs/figures/report-*.png.

Those of `lpjt demo` and, with LPJT_DATA, of amazon to webcam. Needs Chromium, websocket-client and pillow.
"""

import argparse
import os
import tempfile
import warnings
from pathlib import Path

from browser import open_browser
from lpjt import LPJT
from lpjt.datasets import load_problem
from lpjt.datasets.bundled import load_mnist, load_uci, shrink

FIGURES = Path(__file__).parents[1] / "docs" / "figures"

#: Name, width and height of the window, dark or light, for each report.
SHOTS = (("", 1280, 1190, False), ("-dark", 1280, 1190, True), ("-narrow", 400, 900, False))


def demo_page(path: Path) -> None:
    """The report of the first transfer of `lpjt demo`."""
    source, target = load_uci(), shrink(load_mnist())
    model = LPJT(random_state=0).fit(source.X, source.y, target.X)
    rows = {"X": source.X, "y": source.y, "X_target": target.X, "y_true": target.y}
    model.report(path, **rows, title="UCI digits to MNIST digits", command="lpjt demo", overwrite=True)


def office_page(path: Path) -> None:
    """The report of amazon to webcam with EfficientNet's features, which has no label of the target."""
    problem = load_problem("efficientnet", "A to W")
    model = LPJT(random_state=0).fit(problem.X_source, problem.y_source, problem.X_target)
    model.report(
        path,
        X=problem.X_source,
        y=problem.y_source,
        X_target=problem.X_target,
        title="amazon to webcam",
        overwrite=True,
    )


def shrink_picture(path: Path) -> None:
    """Fewer colours: a third of the bytes, and no difference that one sees."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


def main() -> None:
    """Make the reports and take their pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=FIGURES, help="directory of the pictures")
    parser.add_argument("--pages", type=Path, help="directory in which the reports are kept")
    given = parser.parse_args()
    makers = {"demo": demo_page} | ({"amazon-webcam": office_page} if os.environ.get("LPJT_DATA") else {})
    with tempfile.TemporaryDirectory() as scratch, open_browser() as browser:
        for name, make in makers.items():
            page = (given.pages or Path(scratch)) / f"report-{name}.html"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make(page)
            for tag, width, height, dark in SHOTS:
                browser.open(page, width=width, height=height, dark=dark)
                picture = given.output / f"report-{name}{tag}.png"
                browser.picture(picture)
                shrink_picture(picture)
                print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")
        if browser.problems:
            raise SystemExit("\n".join(browser.problems))


if __name__ == "__main__":
    main()
