"""What ``lpjt adapt`` reads: the sources, the target, and labels that are known."""

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lpjt.commands._adapt_request import Request, split_names
from lpjt.commands.output import count_rows
from lpjt.files import FileDomain, FileError, as_matrix, match_columns, read_domain, read_known_labels
from lpjt.files.domain import LABEL_NAMES, LIKE_MISSING, normalize_name, shown_name
from lpjt.tables import Prepared, TableAdapter


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that was read, before a fit."""

    domains: list[FileDomain]  # the sources, then the target
    y_target: np.ndarray | None  # labels of the target that the fit learns from
    adapter: TableAdapter | None  # not yet fitted, and without its estimator; None if all domains are matrices
    prepared: Prepared | None  # what becomes of each column of tables
    notes: list[str]

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What becomes of each column, as `TableAdapter.columns_`; empty if all domains are matrices."""
        return [] if self.prepared is None else self.prepared.columns

    @property
    def target(self) -> FileDomain:
        """The file to label."""
        return self.domains[-1]

    @property
    def sources(self) -> dict[str, FileDomain]:
        """The labelled files, by the names that their domains have in the fit."""
        return dict(zip(source_names(self.domains[:-1]), self.domains[:-1], strict=True))

    def joined(self, values: dict[str, Any]) -> Any:
        """Values by source, as the estimator takes them: by name if there are several."""
        return values if len(values) > 1 else next(iter(values.values()))


def read_inputs(request: Request) -> Inputs:
    """Read all files, and find out what becomes of each column."""
    domains = _read_domains(request)
    domains, adapter, notes = _choose_way(domains, request)
    notes = [*_doubtful_classes(domains, request), *notes]
    inputs = Inputs(domains, _known_labels(request, domains), adapter, None, notes)
    if adapter is None:
        return inputs
    tables = {name: domain.X for name, domain in inputs.sources.items()}
    prepared = adapter.prepare(inputs.joined(tables), inputs.target.X)
    return Inputs(domains, inputs.y_target, adapter, prepared, [*notes, *prepared.notes])


def _read_domains(request: Request) -> list[FileDomain]:
    shared: dict[str, Any] = {"as_table": True, "weight": request.weight, **request.layout}
    shared |= {"columns": split_names(request.columns), "drop": split_names(request.drop)}
    domains: list[FileDomain] = []
    for path in request.sources:
        first = domains[0] if domains else None
        found = read_domain(path, request.label, request.id_column, role="source", like=first, **shared)
        domains.append(require_labels(found))
    target = request.target
    domains.append(
        read_domain(target, request.target_label, request.id_column, role="target", like=domains[0], **shared)
    )
    _check_dropped(shared["drop"], domains)
    if request.weight is not None and any(domain.weights is None for domain in domains[:-1]):
        raise FileError("--weight names a column, but a source is no table with named columns. Leave it out.")
    return domains


def _check_dropped(names: Sequence[str], domains: Sequence[FileDomain]) -> None:
    """Refuse a name to leave out that no file has: it is likely a slip, and the column would stay."""
    found = {name.lower() for domain in domains for name in domain.dropped}
    known = sorted({name for domain in domains for name in domain.feature_names or ()})
    for name in names:
        if name not in found and name.lower() not in found:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            raise FileError(f"--drop {name}: no file has such a column.{hint}")


def _may_be_meant(domain: FileDomain) -> str:
    """The columns of a source without labels, and which of them is called like labels all the same."""
    names = domain.feature_names or ()
    alike = next((name for name in names if normalize_name(name) in LABEL_NAMES), None)
    if alike is not None:
        why = "it holds fractions, or hardly any value twice"
        return f" '{shown_name(alike)}' was taken for a measured feature: {why}."
    return f" Its columns: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else ""


def require_labels(domain: FileDomain) -> FileDomain:
    """Refuse a source with unlabelled rows."""
    if domain.y is None:
        raise FileError(f"{domain.path}: no labels found. Name the label column with --label.{_may_be_meant(domain)}")
    unlabelled = np.flatnonzero(~domain.labelled)
    if len(unlabelled):
        raise FileError(
            f"{domain.path}: {count_rows(len(unlabelled))} {'have' if len(unlabelled) != 1 else 'has'} no label in "
            f"'{domain.label_name}', the first is row {unlabelled[0]} (counted from 0). Label or remove them."
        )
    return domain


def _doubtful_classes(domains: Sequence[FileDomain], request: Request) -> list[str]:
    """A sentence for each class whose name is a word for a missing label, in the files that the fit learns from."""
    remedies = [(domain, "remove these rows") for domain in domains[:-1]]
    if request.target_label is not None:
        remedies.append((domains[-1], "leave these cells blank"))
    return [
        f"{domain.path.name}: a class is called '{name}' ({count_rows(count)} in "
        f"'{domain.label_name}'). If it means that there is no label, {remedy}."
        for domain, remedy in remedies
        if domain.y is not None
        for name, count in Counter(map(str, domain.y[domain.labelled])).items()
        if name.lower() in LIKE_MISSING
    ]


def _choose_way(domains: list[FileDomain], request: Request) -> tuple[list[FileDomain], TableAdapter | None, list[str]]:
    """Tables go through a `TableAdapter`; matrices, which may be sparse or larger than memory, go to `LPJT`."""
    has_sparse = any(sparse.issparse(domain.X) for domain in domains)
    one_width = len({domain.X.shape[1] for domain in domains}) == 1
    # Matrices of equal widths that are different features need the adapter, too: see `TableEncoder.padding`.
    as_tables = any(domain.is_table for domain in domains) or (request.match == "different" and one_width)
    if as_tables and not has_sparse:
        impute = None if request.impute == "none" else request.impute
        return domains, TableAdapter(match=request.match, impute=impute, max_levels=request.max_levels), []
    matched, notes = match_columns([as_matrix(domain) for domain in domains], request.match)
    return matched, None, notes


def _known_labels(request: Request, domains: Sequence[FileDomain]) -> np.ndarray | None:
    target = domains[-1]
    if not request.target_labels:
        return target.y if request.target_label is not None else None
    classes = list(
        dict.fromkeys(label for domain in domains[:-1] for label in (domain.y if domain.y is not None else ()))
    )
    label = request.label or domains[0].label_name
    known = np.full(target.X.shape[0], None, dtype=object)
    for path in request.target_labels:
        found = read_known_labels(path, target, classes, label=label, **request.layout)
        for row in np.flatnonzero([one is not None for one in found]):
            if known[row] is not None and known[row] != found[row]:
                name = row if target.ids is None else target.ids[row]
                raise FileError(
                    f"{path}: '{name}' is '{found[row]}' here, '{known[row]}' in a file before. Correct it."
                )
            known[row] = found[row]
    return known


def source_names(sources: Sequence[FileDomain]) -> list[str]:
    """The name "source" of one, the names of the files without suffix of several, numbered if two are the same."""
    if len(sources) == 1:
        return ["source"]
    stems = [domain.path.name.split(".")[0] for domain in sources]
    taken = {"source", "target"}
    return [
        stem if stems.count(stem) == 1 and stem not in taken else f"{stem}-{i}" for i, stem in enumerate(stems, start=1)
    ]
