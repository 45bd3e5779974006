"""The fit of ``lpjt adapt``, and all that is at hand after it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone

from lpjt._warnings import readable_warnings
from lpjt.classifiers import Propagation, make_classifier
from lpjt.commands._adapt_files import Inputs
from lpjt.commands._adapt_parameters import make_model
from lpjt.commands._adapt_request import Request
from lpjt.commands.output import print_error, progress_console
from lpjt.commands.remedies import as_options
from lpjt.estimator import LPJT
from lpjt.files import FileDomain, label_columns
from lpjt.search import LPJTSearch
from lpjt.tables import TableAdapter

#: What `--search` compares; a parameter that has an option of its own is left out if that is given.
SEARCH_GRID: dict[str, list[Any]] = {
    "n_components": [10, 20, "auto"],
    "variance_weight": [0.1, 1.0],
    "classifier__n_neighbors": [5, 15],
}

_PROGRESS = {"n_iter": "iteration", "n_changed": "labels changed:"}


@dataclass(frozen=True, slots=True)
class Run:
    """A finished fit and what it was made of: for what is written, shown, kept or reported after it."""

    request: Request
    inputs: Inputs
    model: LPJT  # fitted
    adapter: TableAdapter | None  # fitted, with `model` in it; None if all domains are matrices
    parameters: dict[str, Any]  # of the model, as given
    seconds: float
    search: LPJTSearch | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def fitted(self) -> LPJT | TableAdapter:
        """What labels new rows of the target's file: the adapter, or the model if there is none."""
        return self.model if self.adapter is None else self.adapter

    @property
    def domains(self) -> list[FileDomain]:
        """The files: sources, then the target."""
        return self.inputs.domains

    @property
    def confidence(self) -> np.ndarray:
        """How sure each label is, (n_target,)."""
        return self.model.label_distributions_.max(axis=1)

    def output_columns(self) -> dict[str, np.ndarray]:
        """What is written: id, label, confidence and, if asked for, one column per class."""
        target = self.inputs.target
        return label_columns(
            self.model.transduction_,
            self.confidence,
            ids=target.ids,
            id_name=target.id_name or "row",
            classes=self.model.classes_.tolist(),
            distributions=self.model.label_distributions_ if self.request.proba else None,
            trust=self.request.trust,
        )


def fit(screen: Console, request: Request, inputs: Inputs) -> Run:
    """Fit on the sources, given as a dict if there are several, and the target; with the best setting if asked for."""
    parameters = request.parameters()
    started = time.perf_counter()
    with readable_warnings() as lines, progress_console(quiet=screen.quiet).status("Adapting ...") as status:

        def progress(record: Any) -> None:
            status.update(describe(record))

        model = make_model({**parameters, "callback": progress})
        estimator: LPJT | LPJTSearch = model
        if request.search:
            status.update("Searching ...")
            estimator = make_search(model, given=parameters)
        fitted, adapter = _fit(estimator, inputs)
    said = [as_options(line) for line in lines]
    for line in said:
        print_error(f"warning: {line}")
    search = fitted if isinstance(fitted, LPJTSearch) else None
    found: LPJT = fitted if search is None else search.best_estimator_
    found.set_params(callback=None)  # a function of this run, which could not be kept with the model
    if adapter is not None:
        adapter.estimator_ = found
        adapter.set_params(estimator=clone(found))
    return Run(request, inputs, found, adapter, parameters, time.perf_counter() - started, search, said)


def _fit(estimator: LPJT | LPJTSearch, inputs: Inputs) -> tuple[Any, TableAdapter | None]:
    """The fitted estimator, and the adapter in which it is."""
    X = inputs.joined({name: domain.X for name, domain in inputs.sources.items()})
    y = inputs.joined({name: domain.y for name, domain in inputs.sources.items()})
    weights = {}
    if all(domain.weights is not None for domain in inputs.sources.values()):
        weights["sample_weight"] = inputs.joined({name: domain.weights for name, domain in inputs.sources.items()})
    if inputs.adapter is None:
        return estimator.fit(X, y, inputs.target.X, inputs.y_target, **weights), None
    adapter = inputs.adapter.set_params(estimator=estimator)
    adapter.fit(X, y, inputs.target.X, inputs.y_target, prepared=inputs.prepared, **weights)
    return adapter.estimator_, adapter


def make_search(model: LPJT, *, given: Mapping[str, Any]) -> LPJTSearch:
    """A search for what the command line did not give."""
    rule = make_classifier(model.classifier)
    grid = {name: values for name, values in SEARCH_GRID.items() if name not in given}
    if isinstance(rule, Propagation):
        model.set_params(classifier=rule)
    else:
        grid.pop("classifier__n_neighbors", None)
    return LPJTSearch(model, grid, random_state=model.random_state)


def describe(record: Any) -> str:
    """One line of progress from a record of the history, which is a mapping or an object."""
    values = record if isinstance(record, Mapping) else {key: getattr(record, key, None) for key in _PROGRESS}
    parts = [f"{words} {values[key]}" for key, words in _PROGRESS.items() if values.get(key) is not None]
    return "Adapting: " + (", ".join(parts) or "...")
