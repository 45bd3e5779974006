"""What a distributed fit cannot do, told before anything is computed."""

from lpjt.classifiers import Propagation

_IN_MEMORY = "or bring the rows to memory, LPJT().fit(X.compute(), y, X_target.compute())"


def refuse(domains, plan):
    """Raise where the plan asks for what needs all rows in one place."""
    if not isinstance(plan.classifier, Propagation):
        raise ValueError(
            "Dask arrays are labelled by classifier='propagation' or 'harmonic'; the others learn from all rows in one "
            f"place. Set one of them, {_IN_MEMORY}."
        )
    if plan.kernel != "linear":
        raise ValueError(f"Dask arrays need kernel='linear', got {plan.kernel!r}. Leave it out, {_IN_MEMORY}.")
    if plan.start == "pca-nn":
        raise ValueError(f"start='pca-nn' is not to be had with Dask arrays. Use start='auto', {_IN_MEMORY}.")
    if plan.settings.max_pairs is not None:
        raise ValueError(f"preset='code' is not to be had with Dask arrays. Leave it out, {_IN_MEMORY}.")
    if plan.settings.search != "exact":
        raise ValueError(
            "Dask arrays are searched exactly, block against block: neighbors='approximate' is for arrays in memory. "
            f"Set neighbors='auto' or 'exact', {_IN_MEMORY}."
        )
    widths = sorted({d.X.shape[1] for d in (*domains.sources, *domains.targets)})
    if len(widths) > 1:
        raise ValueError(
            f"Dask arrays must be of one width, got {' and '.join(map(str, widths))} columns. Give domains of equal "
            f"width, {_IN_MEMORY}, which takes any widths."
        )
