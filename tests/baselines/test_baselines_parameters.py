"""Every parameter of every public baseline does what its documentation says, and its case would notice if it did not.

A new baseline or a new parameter needs a case in one of the `baseline_cases_*` files of this folder.
"""

# Imported for the cases that they register.
import baseline_cases_alignment  # noqa: F401
import baseline_cases_few_labels  # noqa: F401
import baseline_cases_graphs  # noqa: F401
import baseline_cases_pseudo  # noqa: F401
import baseline_cases_shared  # noqa: F401
import pytest
from baseline_cases import CASES, Fitter, public_parameters

every_parameter = pytest.mark.parametrize(
    ("name", "parameter"), public_parameters(), ids=[".".join(pair) for pair in public_parameters()]
)


def case_of(name, parameter):
    if (name, parameter) not in CASES:
        pytest.fail(
            f"lpjt.baselines.{name} has the parameter {parameter!r}, but no case says what it does. Add one to a "
            f'tests/baselines/baseline_cases_*.py file: @case("{parameter}", "{name}").'
        )
    return CASES[name, parameter]


@every_parameter
def test_the_parameter_does_what_its_documentation_says(name, parameter):
    case_of(name, parameter)(Fitter(name))


@every_parameter
def test_the_case_fails_where_the_parameter_is_frozen_at_its_default(name, parameter):
    case = case_of(name, parameter)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        case(Fitter(name, frozen=parameter))


def test_no_case_is_of_a_parameter_that_is_gone():
    assert set(CASES) <= set(public_parameters())
