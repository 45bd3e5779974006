"""scikit-learn's contract, on every public estimator; each exception with its reason."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from lpjt import LPJT

ESTIMATORS = [
    LPJT(random_state=0),
    LPJT(classifier="nn", scaling="standard", random_state=0),
    LPJT(kernel="rbf", scaling="none", random_state=0),
]


def expected_failures(estimator):
    """Checks that cannot hold, with the reason."""
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
