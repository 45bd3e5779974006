"""Data sets: the registry, loaders, downloads, and the protocols of the tables."""

from lpjt.datasets.loading import LabelledRows, load_domain, load_domains
from lpjt.datasets.protocols import Problem, load_problem, locate
from lpjt.datasets.registry import SETS, DataError, DataFile, DataSet, Domain, find_set
from lpjt.datasets.tables import TABLES, TableSpec, find_pair, find_table, known_tables

__all__ = [
    "SETS",
    "TABLES",
    "DataError",
    "DataFile",
    "DataSet",
    "Domain",
    "LabelledRows",
    "Problem",
    "TableSpec",
    "find_pair",
    "find_set",
    "find_table",
    "known_tables",
    "load_domain",
    "load_domains",
    "load_problem",
    "locate",
]
