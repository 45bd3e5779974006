"""Domains in files: reading the common formats, matching their columns, writing predicted labels."""

from lpjt.files.domain import FileDomain, FileError, ReadOptions
from lpjt.files.match import match_columns
from lpjt.files.reading import SUFFIXES, read_domain
from lpjt.files.writing import check_output, write_labels

__all__ = [
    "SUFFIXES",
    "FileDomain",
    "FileError",
    "ReadOptions",
    "check_output",
    "match_columns",
    "read_domain",
    "write_labels",
]
