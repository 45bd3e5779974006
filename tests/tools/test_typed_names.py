"""The check of public types: it counts what users can reach, and sees what is not declared."""

import pytest

import typed_names


def symbol(*messages, name="lpjt.estimator.LPJT.fit", ambiguous=False):
    return {"name": name, "isTypeAmbiguous": ambiguous, "diagnostics": [{"message": message} for message in messages]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (symbol(), 0),
        (symbol("Type of metaclass unknown", 'Type of base class "sklearn.base.BaseEstimator" is unknown'), 0),
        (symbol('Type of parameter "kernel" is partially unknown\n  Parameter type is "str | Kernel"'), 0),
        (symbol('Type of parameter "X" is partially unknown\n  Parameter type is "list[Unknown]"'), 1),
        (symbol('Type annotation is missing for parameter "X"', "Return type annotation is missing"), 2),
        (symbol('Type of parameter "W" is unknown'), 1),
        (symbol(ambiguous=True), 1),
    ],
)
def test_what_is_a_fault(given, expected):
    assert len(typed_names.faults(given)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lpjt.LPJT", True),
        ("lpjt.estimator.LPJT.__init__", True),
        ("lpjt.fitted.FittedModel.predict", True),  # inherited
        ("lpjt.baselines._base.Baseline.fit", True),
        ("lpjt.datasets.find_table", True),
        ("lpjt.core.graphs.degrees", False),
        ("lpjt.study.store.Store", False),
    ],
)
def test_public_names(name, expected):
    assert typed_names.is_public(name, typed_names.public_names()) is expected


def test_the_names_are_printed_and_the_check_fails(monkeypatch, capsys):
    monkeypatch.setattr(typed_names, "verify", lambda: [symbol(), symbol("Return type is unknown", name="lpjt.LPJT")])
    with pytest.raises(SystemExit) as end:
        typed_names.main()
    assert end.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "lpjt.LPJT: Return type is unknown",
        "Types of public names: 1 of 2 complete (50.0 %).",
    ]
