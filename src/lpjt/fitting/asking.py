"""The order in which target rows of a fit should be labelled by hand, kept so that it needs no rows later."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from lpjt._typing import Array, Codes, Mask
from lpjt.core.blocks import multiply
from lpjt.core.coordinates import to_coordinates
from lpjt.domains import Domains
from lpjt.fitting.engine import Engine
from lpjt.fitting.plan import Outcome
from lpjt.selection.asking import first_rows, merge_orders, order_rows
from lpjt.selection.evidence import every_few

#: Upper bounds on the unlabelled and the labelled rows of a target that are compared with each other, and on those that
#: are put in order: a fraction of a second, and a few kilobytes in a saved model.
COMPARED_FREE, COMPARED_GIVEN, MOST_ASKED = 1500, 500, 500


def order_targets(
    domains: Domains,
    labels: list[Codes],
    outcome: Outcome,
    engine: Engine,
    absent: Mask,
    *,
    here: Sequence[Array] | None = None,
) -> tuple[Codes, ...]:
    """Rows of each target in the order in which their labels would tell most.

    Parameters
    ----------
    domains : Domains
    labels : list of int arrays, (n_j,)
        Class codes of the rows of each target, -1 where unlabelled.
    outcome : Outcome
        Of the whole fit.
    engine : Engine
    absent : bool array, (n_classes,)
        Classes that seem to be absent from the targets.
    here : sequence of arrays, (n_j, n_classes), optional
        Distributions of each target in memory; otherwise those of the outcome, which the engine holds.

    Returns
    -------
    tuple of int arrays, (m_j, 3)
        For each row: its position in its target, the class for which it was chosen or -1, and its position among all
        target rows of the caller.
    """
    n_sources, orders = len(domains.sources), []
    projections = outcome.projections[n_sources:]
    for j, (d, y) in enumerate(zip(domains.targets, labels, strict=True)):
        some = np.sort(
            np.concatenate(
                [every_few(np.flatnonzero(y < 0), COMPARED_FREE), every_few(np.flatnonzero(y >= 0), COMPARED_GIVEN)]
            )
        )
        Z = multiply(to_coordinates(engine.take(d.X, some), outcome.coordinates[n_sources + j]), projections[j])
        F = np.asarray(engine.take(outcome.distributions[j], some)) if here is None else here[j][some]
        rows, reasons = order_rows(normalize(Z), F, y[some] >= 0, MOST_ASKED, absent=absent)
        places = some[rows] if domains.target_rows is None else domains.target_rows[j][some[rows]]
        orders.append(np.column_stack([some[rows], reasons, places]))
    return tuple(orders)


def rows_to_label(orders: Mapping[str, Codes], n: int, *, named: bool) -> Any:
    """The first `n` rows of the orders of a fit: by name of the target if `named`, else of all targets together.

    Parameters
    ----------
    orders : mapping of name to int array, (m_j, 3)
        From `order_targets`.
    n : int
    named : bool

    Returns
    -------
    int array, (at most n,), or dict of name to array
        Positions among the target rows of the caller.
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n={n!r} is no number of rows to label. Give a whole number of at least 1.")
    if n > MOST_ASKED:
        raise ValueError(f"n={n} is more than the {MOST_ASKED} rows that a fit puts in order. Label these, fit again.")
    if not orders:
        raise ValueError("There is no target, and so no row to label. Give X_target to fit.")
    if named:
        return {name: first_rows(order[:, 2], order[:, 1], n) for name, order in orders.items()}
    order = merge_orders(list(orders.values()))
    return first_rows(order[:, 2], order[:, 1], n)
