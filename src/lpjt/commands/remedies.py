"""What warnings and summaries tell a Python caller to do, in the options of ``lpjt adapt``."""

_IN_PYTHON = {
    "fit with scaling='source'": "give --set scaling=source",
    "Choose scaling='standard' or": "Give --set scaling=standard or",
    "(y_target)": "(--target-labels FILE)",
    "A smaller locality_weight or a classifier=Propagation(...) with more n_neighbors may prevent it": (
        "A smaller --set locality_weight=... or a larger --set classifier__n_neighbors=... may prevent it"
    ),
    "increase n_neighbors of classifier=Propagation(...)": "give a larger --set classifier__n_neighbors=...",
    "Increase max_iter or tol, or": "Give a larger --set max_iter=... or --set tol=..., or",
    "Set safeguard=False to": "Give --set safeguard=false to",
    "Set a larger variance_weight, fewer n_components or another scaling": (
        "Give a larger --set variance_weight=..., fewer --n-components or another --scaling"
    ),
    "Set another landmark_ratio, or None for": "Give another --set landmark_ratio=..., or none for",
    "fit again with these rows as the target": "run `lpjt adapt` again with this file as TARGET",
}


def as_options(text: str) -> str:
    """A warning or a summary in which the remedies are options of the command line instead of Python."""
    for python, option in _IN_PYTHON.items():
        text = text.replace(python, option)
    return text
