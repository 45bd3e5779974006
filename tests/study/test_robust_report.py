"""The robustness suite: from stored rows to figures, goals, tables, the plot and the page."""

import pytest

from lpjt.study.figures.robustness import draw_robustness
from lpjt.study.pages import robustness
from lpjt.study.robust import sheets
from lpjt.study.robust.summary import GOALS, summarise
from lpjt.study.robust.tasks import PARTS, plan_tasks
from robust_rows import make_row, make_task

#: Accuracy with and without adaptation, and other figures: gains of +5, -9, -1, -1.5 and +20 points.
ROWS = [
    make_row(make_task("whole"), 80.0, 75.0, calibration_error=2.0, estimate_error=1.0),
    make_row(make_task("cut to 20 %", n_kept=2, draw=1), 51.0, 60.0, calibration_error=10.0, covered=False),
    make_row(make_task("thinned", part="confirmation", source="W"), 59.0, 60.0, estimate_error=9.0),
    make_row(make_task("halves", part="confirmation", source="W"), 88.5, 90.0, adapted=False, candidate=None),
    make_row(make_task("cut to 50 %", family="PIE", source="05", n_kept=5, draw=2), 70.0, 50.0),
]
FAILED = make_task("whole", source="D").row_without_result(status="failed", message="why")


def lines_of(sheet):
    return {line[0]: dict(zip(sheet.headings[1:], line[1:], strict=True)) for line in sheet.rows}


def judge(words, rows):
    (goal,) = [goal for goal in GOALS if words in goal.what]
    return goal.judge(rows)


def test_a_summary_has_the_means_of_the_rows_with_a_result():
    found = summarise([*ROWS, FAILED])
    assert found.n_tasks == 5
    assert found.unadapted == pytest.approx((75 + 60 + 60 + 90 + 50) / 5)
    assert found.accuracy == pytest.approx((80 + 51 + 59 + 88.5 + 70) / 5)
    assert found.harmed == pytest.approx(40)  # -9 and -1.5; exactly one point is no harm
    assert found.worst_loss == pytest.approx(9)
    assert found.calibration_error == pytest.approx((2 + 10 + 5 + 5 + 5) / 5)
    assert found.estimate_error == pytest.approx((1 + 2 + 9 + 2 + 2) / 5)
    assert found.coverage == pytest.approx(80)
    assert summarise([FAILED]) is None
    assert summarise(ROWS[:1]).worst_loss == 0


def test_a_line_of_a_summary_is_of_its_kind_or_family():
    by_kind = lines_of(sheets.kinds_sheet([*ROWS, FAILED], "By kind"))
    assert list(by_kind) == ["whole", "cut to 20 %", "cut to 50 %", "thinned", "halves", "all"]
    assert list(by_kind["cut to 20 %"].values()) == ["1", "60.0", "51.0", "100.0", "9.0", "10.0", "2.0", "0.0"]
    assert list(by_kind["all"].values()) == ["5", "67.0", "69.7", "40.0", "9.0", "5.4", "3.2", "80.0"]
    by_family = lines_of(sheets.families_sheet(ROWS, "By family"))
    assert list(by_family) == ["SURF", "PIE", "all"]
    assert by_family["PIE"]["LPJT, %"] == "70.0"
    assert set(lines_of(sheets.kinds_sheet([], ""))["all"].values()) == {"0", "–"}


@pytest.mark.parametrize(
    ("words", "figure", "value", "met"),
    [
        ("tasks harmed", {"accuracy": 73.9}, 100.0, False),
        ("tasks harmed", {"accuracy": 74.0}, 0.0, True),
        ("worst loss", {"accuracy": 66.9}, 8.1, False),
        ("worst loss", {"accuracy": 67.0}, 8.0, True),
        ("cut or thinned", {"accuracy": 79.9}, 4.9, False),
        ("cut or thinned", {"accuracy": 80.0}, 5.0, True),
        ("calibration", {"calibration_error": 6.1}, 6.1, False),
        ("calibration", {"calibration_error": 6.0}, 6.0, True),
        ("estimated", {"estimate_error": 6.1}, 6.1, False),
        ("estimated", {"estimate_error": 6.0}, 6.0, True),
        ("interval", {"covered": False}, 0.0, False),
        ("interval", {"covered": True}, 100.0, True),
    ],
)
def test_goals_are_met_up_to_their_limits(words, figure, value, met):
    row = make_row(make_task("thinned"), unadapted=75.0) | figure
    assert judge(words, [row]) == (pytest.approx(value), met)


def test_goals_of_shares_allow_one_task_in_ten():
    harmless, harmful = make_row(make_task()), make_row(make_task(), accuracy=70.0, covered=False)
    assert judge("tasks harmed", [harmless] * 9 + [harmful]) == (pytest.approx(10), True)
    assert judge("interval", [harmless] * 9 + [harmful]) == (pytest.approx(90), True)
    assert judge("tasks harmed", [harmless] * 8 + [harmful]) == (pytest.approx(100 / 9), False)
    assert judge("interval", [harmless] * 8 + [harmful]) == (pytest.approx(800 / 9), False)


def test_the_gain_is_of_cut_and_thinned_targets_alone():
    rows = [make_row(make_task(kind), 80.0, 70.0) for kind in ("cut to 20 %", "cut to 30 %", "cut to 50 %", "thinned")]
    others = [make_row(make_task(kind), 10.0, 90.0) for kind in ("whole", "halves")]
    assert judge("cut or thinned", rows + others) == (pytest.approx(10), True)
    assert judge("cut or thinned", others) is None


def test_goals_are_judged_on_all_tasks_and_on_each_part():
    sheet = sheets.goals_sheet(ROWS)
    assert sheet.headings[2:] == ("all tasks", "goal met", "development", "goal met", "confirmation", "goal met")
    worst = next(line for line in sheet.rows if line[0].startswith("worst"))
    assert worst[1:] == (
        "at most 8 points", "9.0 points", "not met", "9.0 points", "not met", "1.5 points", "met",
    )  # fmt: skip
    assert {cell for line in sheets.goals_sheet([]).rows for cell in line[2:]} == {"–"}


def test_tasks_are_listed_the_worst_first():
    sheet = sheets.tasks_sheet([*ROWS, FAILED])
    found = lines_of(sheet)
    assert [line["difference, points"] for line in found.values()] == ["-9.0", "-1.5", "-1.0", "+5.0", "+20.0"]
    assert next(iter(found)) == "SURF C-A, 2 of 10 classes, draw 1"
    assert list(found["SURF C-A, 2 of 10 classes, draw 1"].values()) == [
        "development", "100 + 50", "57.0", "60.0", "60.0", "51.0", "-9.0", "70.0", "10.0", "53.0", "2.0",
        "47.0 to 55.0", "no", "yes", "unit, free, linear", "8", "0", "0", "0", "1.5",
    ]  # fmt: skip
    assert (found["SURF W, halves"]["adapted"], found["SURF W, halves"]["candidate"]) == ("no", "–")
    worst = sheets.worst_sheet(ROWS, n_tasks=2)
    assert [line[0] for line in worst.rows] == list(found)[:2]
    assert set(worst.headings) < set(sheet.headings)


def test_the_parts_are_listed_as_the_tasks_have_them():
    listed = lines_of(sheets.parts_sheet())
    suite = plan_tasks()
    for family, cells in listed.items():
        for what, halved in (("pairs", False), ("halved", True)):
            for part in PARTS:
                pairs = dict.fromkeys(
                    task.pair
                    for task in suite
                    if (task.family, task.part, task.kind == "halves") == (family, part, halved)
                )
                assert cells[f"{what}, {part}"] == ", ".join(pairs)


def test_dots_stand_for_tasks(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    from matplotlib.axes import Axes

    drawn, scatter = {}, Axes.scatter

    def watched(axes, x, y, *args, label, **options):
        drawn[label] = (tuple(x), tuple(y))
        return scatter(axes, x, y, *args, label=label, **options)

    monkeypatch.setattr(Axes, "scatter", watched)
    assert draw_robustness([*ROWS, FAILED], tmp_path / "figures" / "dots.png")
    assert drawn["cut to 20 %"] == ((60.0,), (51.0,))
    assert set(drawn) == {"whole", "cut to 20 %", "cut to 50 %", "thinned", "halves"}
    assert (tmp_path / "figures" / "dots.png").read_bytes().startswith(b"\x89PNG")
    assert not draw_robustness([FAILED], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_the_page_is_written_from_rows(tmp_path):
    pytest.importorskip("matplotlib", reason="the page has a figure")
    tasks = plan_tasks(only="SURF C-A")
    rows = [make_row(task, accuracy=70.0 + place) for place, task in enumerate(tasks)]
    page = tmp_path / "docs" / "robustness.md"
    strangers = [make_row(make_task(max_rows=7), accuracy=1.0)]
    written = robustness.write_page(tasks, rows + strangers, page)
    assert written == [page, tmp_path / "docs" / "figures" / "robustness.png"]
    assert all(path.is_file() for path in written)
    text = page.read_text()
    assert text.startswith("# Robustness\n\n<!-- Written by `lpjt bench robust --page --force`")
    assert "at most 600 rows per domain" in text
    assert "![Accuracy of LPJT against accuracy without adaptation](figures/robustness.png)" in text
    assert "| all | 8 | 75.0 | 73.5 |" in text
    assert text.count("**Development**") == text.count("**Confirmation**") == 2
    listed = [line for line in text.splitlines() if line.startswith("| SURF C-A,")]
    assert len(listed) == 8
    assert listed[0].startswith("| SURF C-A, whole | development |")
    assert "\n| SURF | 20" in text.split("## Machine")[1]  # a year
    assert "Not complete" not in text


def test_the_page_says_what_is_missing_and_what_failed(tmp_path):
    pytest.importorskip("matplotlib", reason="the page has a figure")
    tasks = plan_tasks(only="SURF C-A")
    rows = [make_row(tasks[0]), tasks[1].row_without_result(status="crashed", message="no memory")]
    robustness.write_page(tasks, rows, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "**Not complete:** 1 of 8 tasks have a result; 6 are not measured yet, 1 failed." in text
    assert "- SURF C-A, 2 of 10 classes, draw 1: crashed, no memory" in text
