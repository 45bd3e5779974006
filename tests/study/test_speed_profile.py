"""Where the time of a fit goes: the sampled stacks, the tables and the drawing."""

import threading
import time
from xml.etree import ElementTree

import pytest

from lpjt.study.figures.flame import WIDTH, draw_flame
from lpjt.study.speed.profile import Profile, StackSampler, functions_sheet, name_of, stages_sheet
from speed_records import run

A, B, C = (
    ("/x/site-packages/numpy/a.py", 1, "a"),
    ("/y/src/lpjt/core/b.py", 2, "b"),
    ("/y/src/lpjt/c/__init__.py", 3, "c"),
)
SVG = "{http://www.w3.org/2000/svg}"


def rest():
    time.sleep(0.15)


def work_and_rest():
    end = time.perf_counter() + 0.15
    while time.perf_counter() < end:
        pass
    rest()


def test_stacks_have_the_time_that_was_spent_in_them():
    def root():
        [work_and_rest() for _ in range(2)]

    sampler = StackSampler(threading.get_ident(), root.__code__)
    sampler.start()
    root()
    time.sleep(0.1)  # not below the root
    stacks = sampler.stop()
    by_name = {tuple(name for _, _, name in stack): seconds for stack, seconds in stacks.items()}
    assert set(by_name) <= {("work_and_rest",), ("work_and_rest", "rest")}, "comprehensions count for their caller"
    assert all(seconds > 0.03 for seconds in by_name.values()), by_name  # 0.3 each, on an idle machine
    assert len(by_name) == 2


def test_the_tables_tell_own_time_from_that_of_callees():
    profile = Profile(4.0, {"labels": 1.0, "objective": 2.0}, {(B, A): 1.0, (B, C, B): 1.0, (B,): 2.0}, {B: 1234})
    assert stages_sheet(profile).rows == [
        ("objective", "50.0", "2.000"), ("labels", "25.0", "1.000"), ("other", "25.0", "1.000")
    ]  # fmt: skip
    assert functions_sheet(profile).rows == [
        ("lpjt.core.b: b", "75.0", "100.0", "1,234"),
        ("numpy.a: a", "25.0", "25.0", "–"),
    ]
    assert name_of(C) == "lpjt.c: c"


def test_the_drawing_is_as_wide_as_the_time(tmp_path):
    path = tmp_path / "flame.svg"
    draw_flame({("lpjt.x: <lambda>",): 3.0, ("numpy: b", "numpy: c"): 1.0}, "A & B", path)
    tree = ElementTree.parse(path).getroot()
    boxes = {group.find(f"{SVG}title").text: group.find(f"{SVG}rect") for group in tree.iter(f"{SVG}g")}
    assert set(boxes) == {
        "fit\n4.000 s, 100.0 %", "lpjt.x: <lambda>\n3.000 s, 75.0 %", "numpy: b\n1.000 s, 25.0 %",
        "numpy: c\n1.000 s, 25.0 %",
    }  # fmt: skip
    width = {title.split("\n")[0]: float(box.get("width")) for title, box in boxes.items()}
    assert width["lpjt.x: <lambda>"] == pytest.approx(0.75 * (WIDTH - 20), abs=1)
    place = {title.split("\n")[0]: (float(box.get("x")), float(box.get("y"))) for title, box in boxes.items()}
    assert place["numpy: c"][1] < place["numpy: b"][1] < place["fit"][1], "callees lie above their callers"
    assert place["numpy: c"][0] == place["numpy: b"][0] > place["lpjt.x: <lambda>"][0]
    assert "http" not in path.read_text().replace("http://www.w3.org/2000/svg", ""), "no other file is needed"


def test_the_command_profiles_a_small_fit(monkeypatch, tmp_path):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    path = tmp_path / "fit.svg"
    arguments = ("profile", "--rows", 60, "--width", 20, "--classes", 3, "-o", path)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "candidates" in result.output
    assert "own time" in result.output
    assert "lpjt.estimator: fit" in path.read_text(encoding="utf-8")
    assert run(*arguments).exit_code == 2, "the file exists"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--rows", 20), "at least 100 rows"), (("--pair", "pie"), "TABLE:PAIR"), (("--pair", "no:x"), "no")],
)
def test_refusals_say_what_to_give(arguments, words):
    result = run("profile", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
