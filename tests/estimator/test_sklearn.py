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
    reason = "a repeated row takes several places among the nearest rows of a row, and one of weight 2 takes one"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
