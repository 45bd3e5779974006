"""The registry of data sets, by the names that commands and tables use."""

import difflib
from collections.abc import Iterable

from lpjt.datasets import registry_office as office
from lpjt.datasets import registry_others as others
from lpjt.datasets.records import DataError, DataFile, DataSet, Domain
from lpjt.registry import Registry

#: The registry. Sets of the paper first, then those beside them, then those of other packages.
SETS: Registry[DataSet] = Registry(
    "lpjt.datasets",
    DataSet,
    (
        office.SURF,
        office.DECAF6,
        office.VGG,
        others.PIE,
        others.DIGITS,
        others.MNIST_FULL,
        others.USPS_FULL,
        office.OFFICE_HOME,
        office.VISDA,
        office.EFFICIENTNET,
        office.GOOGLENET,
        others.COIL,
        others.AMAZON_400,
        others.AMAZON_5000,
        others.CDLS_DEMO,
        office.IMAGES,
    ),
)


def find_set(name: str) -> DataSet:
    """The set called `name`, or an error with the nearest name."""
    if name not in SETS:
        raise DataError(f"'{name}' is not a data set ({nearest(name, SETS)}).")
    return SETS[name]


def find_domain(data: DataSet, name: str) -> Domain:
    """The domain of a set called `name`, or an error with the nearest name."""
    if name not in data.domains:
        raise DataError(f"{data.name} has no domain '{name}' ({nearest(name, data.domains)}).")
    return data.domains[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """A phrase with the known name nearest to `name`, or with all known names if none is near."""
    folded = {str(other).lower(): str(other) for other in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    if near:
        return f"nearest: '{folded[near[0]]}'"
    return "known: " + ", ".join(folded.values())


__all__ = ["SETS", "DataError", "DataFile", "DataSet", "Domain", "find_domain", "find_set", "nearest"]
