"""scikit-learn's contract, on every public baseline; each exception with its reason."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from lpjt import baselines

#: Cheaper than the default, so that a thousand checks take seconds: C is given instead of cross-validated.
CHEAP = {
    "CDLS": {"n_iter": 2},
    "CORAL": {"C": 1.0},
    "GFK": {"n_components": 1},  # the checks have two columns and more, and a subspace has at most half of them
    "LSSA": {"C": 1.0},
    "OptimalTransport": {"method": "emd"},
    "PCASVM": {"C": 1.0},
}
ESTIMATORS = [getattr(baselines, name)(**CHEAP.get(name, {})) for name in baselines.__all__]

EXPECTED_FAILURES = {
    "MEDA": {
        "check_classifiers_train": "The check has three classes in two columns, and no target. Subspaces of at most "
        "half the width are then one line, whose features of unit length are -1 and 1: enough for two classes only."
    }
}


def expected_failures(estimator):
    """Checks that cannot hold, with the reason."""
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
