"""A shift that the deep methods undo and an unadapted network does not, and fits that take a second."""

import numpy as np

from lpjt import deep

#: A network that learns the toy quickly.
QUICK = {"scaling": "none", "hidden": 32, "learning_rate": 0.01, "max_epochs": 12, "random_state": 0}


def moved_clusters(seed=0, *, n_source=120, n_target=90, move=2.4, aside=1.5, width=6, n_classes=3):
    """Clusters on a circle; the target's are moved across the boundaries, and in a column that tells the domains.

    Whoever makes the domains alike subtracts the one column from the other, and has the clusters of the source.
    """
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(n_classes) / n_classes
    centres = np.zeros((n_classes, width))
    centres[:, 0], centres[:, 1] = 2.5 * np.cos(angles), 2.5 * np.sin(angles)
    y, y_target = np.arange(n_source) % n_classes, np.arange(n_target) % n_classes
    X, X_target = (centres[labels] + 0.6 * rng.normal(size=(len(labels), width)) for labels in (y, y_target))
    X_target[:, 0] += move
    X_target[:, 2] += aside
    return X, y, X_target, y_target


def quick(name, **changes):
    """A method that is not fitted, with the quick network."""
    return getattr(deep, name)(**{**QUICK, **changes})


def accuracy(model, y_target):
    return float(np.mean(model.transduction_ == y_target))
