"""Matching the columns of several domains by name, where their files name them."""

from collections.abc import Sequence
from dataclasses import replace

from scipy import sparse

from lpjt.files.domain import FileDomain, quote_names


def match_columns(domains: Sequence[FileDomain]) -> tuple[list[FileDomain], list[str]]:
    """Order the columns as in the first domain where the names are the same, and give all svmlight files one width.

    Parameters
    ----------
    domains : sequence of FileDomain
        They are not modified.

    Returns
    -------
    domains : list of FileDomain
        In the given order.
    notes : list of str
        One sentence per domain whose columns do not match.
    """
    matched = _one_width(list(domains))
    first, notes = matched[0], []
    for position, domain in enumerate(matched[1:], start=1):
        matched[position], note = _order_like(first, domain)
        notes += [note] if note else []
    return matched, notes


def _one_width(domains: list[FileDomain]) -> list[FileDomain]:
    """Pad svmlight files, which show only the columns in use, to the widest; drop column 0 if no file uses it."""
    places = [i for i, domain in enumerate(domains) if domain.kind == "svmlight"]
    if not places:
        return domains
    width = max(domains[i].X.shape[1] for i in places)
    start = int(width > 1 and all(domains[i].X[:, [0]].nnz == 0 for i in places))
    for i in places:
        X = sparse.csr_matrix(domains[i].X)
        X.resize(X.shape[0], width)
        domains[i] = replace(domains[i], X=X[:, start:] if start else X)
    return domains


def _order_like(first: FileDomain, domain: FileDomain) -> tuple[FileDomain, str | None]:
    names, others = first.feature_names, domain.feature_names
    if names is None or others is None or names == others:
        return domain, _transposed_note(first, domain)
    missing = [name for name in names if name not in set(others)]
    extra = [name for name in others if name not in set(names)]
    if not missing and not extra:
        position = {name: i for i, name in enumerate(others)}
        X = domain.X[:, [position[name] for name in names]]
        return replace(domain, X=X, feature_names=names), None
    if len(missing) == len(names):
        same = "; they are matched by position" if len(names) == len(others) else ""
        return domain, f"{domain.path.name} shares no column name with {first.path.name}{same}."
    differences = [f"lacks {quote_names(missing, 3)}"] if missing else []
    differences += [f"also has {quote_names(extra, 3)}"] if extra else []
    return domain, (
        f"{domain.path.name} {' and '.join(differences)}, compared with {first.path.name}. They are treated as "
        "different features; keep only the common columns for a better transfer."
    )


def _transposed_note(first: FileDomain, domain: FileDomain) -> str | None:
    """Warn about a matrix without labels that has as many rows as the first domain has columns."""
    width = first.X.shape[1]
    if domain.y is None and domain.X.shape[0] == width != domain.X.shape[1]:
        return (
            f"{domain.path.name} has {width} rows, as many as {first.path.name} has columns: if its columns "
            "are the samples, transpose it."
        )
    return None
