"""Every parameter of every deep method does what its documentation says, and its case would notice if it did not.

A new method or a new parameter needs a case in one of the `deep_cases_*` files of this folder.
"""

import pytest

pytest.importorskip("torch", reason="the deep methods need torch")
pytest.importorskip("ot", reason="DeepJDOT needs POT")

# Imported for the cases that they register.
import deep_cases_methods  # noqa: F401
import deep_cases_shared  # noqa: F401
from deep_cases import CASES, Fitter, public_parameters

every_parameter = pytest.mark.parametrize(
    ("name", "parameter"), public_parameters(), ids=[".".join(pair) for pair in public_parameters()]
)


def test_every_parameter_has_a_case():
    assert set(CASES) == set(public_parameters())


@every_parameter
def test_the_parameter_does_what_its_documentation_says(name, parameter):
    CASES[name, parameter](Fitter(name))


@every_parameter
def test_the_case_notices_a_parameter_that_is_frozen_at_its_default(name, parameter):
    with pytest.raises((AssertionError, FileNotFoundError, StopIteration)):
        CASES[name, parameter](Fitter(name, frozen=parameter))
