"""Domains in files: reading the common formats, writing predicted labels."""

from lpjt.files.domain import FileDomain, FileError, ReadOptions
from lpjt.files.frames import as_matrix
from lpjt.files.known_labels import read_known_labels
from lpjt.files.match import match_columns
from lpjt.files.reading import SUFFIXES, open_table, read_domain
from lpjt.files.writing import STDOUT, check_output, label_columns, write_columns, write_labels

__all__ = [
    "STDOUT",
    "SUFFIXES",
    "FileDomain",
    "FileError",
    "ReadOptions",
    "as_matrix",
    "check_output",
    "label_columns",
    "match_columns",
    "open_table",
    "read_domain",
    "read_known_labels",
    "write_columns",
    "write_labels",
]
