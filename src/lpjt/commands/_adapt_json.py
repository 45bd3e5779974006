"""``lpjt adapt --json``: what was read and found, for programs."""

import json
from typing import Any

import numpy as np

from lpjt import __version__
from lpjt._safe_text import visible
from lpjt.commands._adapt_files import Inputs
from lpjt.commands._adapt_fit import Run
from lpjt.commands._adapt_show import score_labels
from lpjt.commands.remedies import as_options


def describe_inputs(inputs: Inputs) -> dict[str, Any]:
    """The files, and what becomes of their columns."""
    roles = ["source"] * len(inputs.sources) + ["target"]
    files = [
        {
            "role": role,
            "path": str(domain.path),
            "format": domain.kind,
            "rows": domain.X.shape[0],
            "columns": domain.X.shape[1],
            "label": domain.label_name,
            "id": domain.id_name,
            "weight": domain.weight_name,
            "remarks": list(domain.remarks),
        }
        for role, domain in zip(roles, inputs.domains, strict=True)
    ]
    return {"version": __version__, "files": files, "columns": inputs.columns, "notes": inputs.notes}


def describe_run(run: Run) -> dict[str, Any]:
    """All that `describe_inputs` has, the fit, its labels in numbers, and how far to trust them."""
    model, confidence = run.model, run.confidence
    labels, counts = np.unique(model.transduction_, return_counts=True)
    score = score_labels(run)
    return {
        **describe_inputs(run.inputs),
        "parameters": run.parameters,
        "output": str(run.request.output),
        "rows": len(confidence),
        "labels": {str(label): count for label, count in zip(labels, counts.tolist(), strict=True)},
        "left_without_label": int((confidence < run.request.trust).sum()),
        "mean_confidence": float(confidence.mean()),
        "estimated_accuracy": model.estimated_accuracy_,
        "estimated_accuracy_interval": model.estimated_accuracy_interval_,
        "accuracy": None if score is None else score["accuracy"],
        "absent_classes": model.absent_classes_.tolist(),
        "adapted": model.adapted_,
        "iterations": model.n_iter_,
        "scaling": model.scaling_,
        "candidates": model.candidates_,
        "best_settings": None if run.search is None else run.search.best_params_,
        "summary": as_options(model.summary_),
        "warnings": run.warnings,
        "seconds": round(run.seconds, 3),
    }


def to_json(values: dict[str, Any]) -> str:
    """Values as JSON; numpy's numbers and arrays as those of Python, all else as text."""
    return visible(json.dumps(values, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
