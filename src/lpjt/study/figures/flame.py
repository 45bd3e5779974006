"""A flame graph as one SVG file: stacks from the bottom up, as wide as their time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from lpjt._whole_files import write_whole

WIDTH, ROW, MARGIN, HEAD = 1400, 18, 10, 46  # pixels
CHARACTER = 6.3  # pixels of a character of the font, on average
NARROWEST = 0.6  # pixels: what is narrower is left out with all above it

#: Colours by the first word of a name: ours, the array libraries, the rest.
_COLOURS = {"lpjt": "#f0a35e", "numpy": "#8fb8de", "scipy": "#8fb8de", "sklearn": "#9fd0b5", "faiss": "#c9a6d8"}
_OTHER = "#d5d5d0"
_LEGEND = (("lpjt", "lpjt"), ("numpy, scipy", "numpy"), ("scikit-learn", "sklearn"), ("faiss", "faiss"), ("other", ""))


@dataclass(slots=True)
class Flame:
    """A function as called by one stack, and what it called."""

    name: str
    seconds: float = 0.0
    parts: dict[str, "Flame"] = field(default_factory=dict)

    def add(self, names: Iterable[str], seconds: float) -> None:
        """Add the time of a stack."""
        flame = self
        flame.seconds += seconds
        for name in names:
            flame = flame.parts.setdefault(name, Flame(name))
            flame.seconds += seconds

    def depth(self) -> int:
        """Number of functions above each other, this one too."""
        return 1 + max((part.depth() for part in self.parts.values()), default=0)


def draw_flame(stacks: Mapping[tuple[str, ...], float], title: str, path: Path, *, overwrite: bool = False) -> None:
    """Write the graph of named stacks and their seconds."""
    root = Flame("fit")
    for names, seconds in stacks.items():
        root.add(names, seconds)
    height = HEAD + root.depth() * ROW + 2 * MARGIN
    scale = (WIDTH - 2 * MARGIN) / max(root.seconds, 1e-12)
    boxes = "\n".join(_boxes(root, MARGIN, height - MARGIN - ROW, scale, root.seconds))
    write_whole(path, _document(title, height, boxes), overwrite=overwrite)


def _boxes(flame: Flame, x: float, y: float, scale: float, whole: float) -> Iterator[str]:
    width = flame.seconds * scale
    if width < NARROWEST:
        return
    name, share = escape(flame.name), 100 * flame.seconds / max(whole, 1e-12)
    colour = _COLOURS.get(flame.name.split(".")[0].split(":")[0], _OTHER)
    shown = _shortened(flame.name, int((width - 6) / CHARACTER))
    yield (
        f'<g><title>{name}\n{flame.seconds:.3f} s, {share:.1f} %</title><rect x="{x:.1f}" y="{y}" '
        f'width="{max(width - 0.5, 0.3):.1f}" height="{ROW - 1}" rx="2" fill="{colour}"/>'
        + (f'<text x="{x + 3:.1f}" y="{y + 13}">{escape(shown)}</text>' if shown else "")
        + "</g>"
    )
    for part in sorted(flame.parts.values(), key=lambda part: part.name):
        yield from _boxes(part, x, y - ROW, scale, whole)
        x += part.seconds * scale


def _shortened(name: str, n: int) -> str:
    """The name in at most n characters: without its module if that does not fit, and not at all in fewer than three."""
    short = name if len(name) <= n else name.rpartition(": ")[2]
    return short if len(short) <= n else (f"{short[: n - 1]}…" if n >= 4 else "")


def _document(title: str, height: int, boxes: str) -> str:
    legend = "".join(
        f'<rect x="{MARGIN + 130 * i}" y="28" width="12" height="12" rx="2" fill="{_COLOURS.get(key, _OTHER)}"/>'
        f'<text x="{MARGIN + 130 * i + 17}" y="38">{words}</text>'
        for i, (words, key) in enumerate(_LEGEND)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        "<style>text{font:11px Verdana,Helvetica,sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}"
        "g:hover rect{stroke:#222}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
        f'<text class="title" x="{MARGIN}" y="18">{escape(title)}</text>\n{legend}\n{boxes}\n</svg>\n'
    )
