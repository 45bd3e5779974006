"""Feature tables on disk: reading any common kind, matching their columns, writing labels."""

from lpjt.files.match import match_columns
from lpjt.files.reading import SUFFIXES, read_table
from lpjt.files.table import FileError, Table, Wanted
from lpjt.files.writing import check_output, write_labels

__all__ = [
    "SUFFIXES",
    "FileError",
    "Table",
    "Wanted",
    "check_output",
    "match_columns",
    "read_table",
    "write_labels",
]
