"""Matrices of several files beside each other; tables are matched by `lpjt.tables`."""

from collections.abc import Sequence
from dataclasses import replace

from scipy import sparse

from lpjt.files.domain import FileDomain, FileError


def match_columns(domains: Sequence[FileDomain], match: str = "name") -> tuple[list[FileDomain], list[str]]:
    """Give all svmlight files one width, and refuse other widths that differ, unless they are meant to.

    Parameters
    ----------
    domains : sequence of FileDomain
        Matrices, no tables. They are not modified.
    match : {"name", "position", "different"}
        "different" accepts any widths. Columns without names can only be matched by position.

    Returns
    -------
    domains : list of FileDomain
        In the given order.
    notes : list of str
        One sentence per domain that looks strange.
    """
    matched = _one_width(list(domains))
    first = matched[0]
    notes = [note for domain in matched[1:] if (note := _transposed_note(first, domain))]
    found = ", ".join(f"{domain.path.name} {domain.X.shape[1]}" for domain in matched)
    if len({domain.X.shape[1] for domain in matched}) == 1:
        return matched, notes
    if match != "different":
        raise FileError(
            f"The numbers of columns differ ({found}), and without names columns are matched by position. If they are "
            "different features, say so with --match different, which needs some target labels to be of use."
            + "".join(f" {note}" for note in notes)
        )
    return matched, [*notes, f"The files are taken to have different features ({found} columns): nothing is matched."]


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


def _transposed_note(first: FileDomain, domain: FileDomain) -> str | None:
    """Warn about a matrix without labels that has as many rows as the first domain has columns."""
    width = first.X.shape[1]
    if domain.y is None and domain.X.shape[0] == width != domain.X.shape[1]:
        return (
            f"{domain.path.name} has {width} rows, as many as {first.path.name} has columns: if its columns "
            "are the samples, transpose it."
        )
    return None
