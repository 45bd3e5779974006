"""Tables as people have them, in front of an estimator that takes numbers: matching, imputation, levels, dates."""

from lpjt.tables.adapter import TableAdapter
from lpjt.tables.encoder import ColumnCode, TableEncoder
from lpjt.tables.preparing import Prepared

__all__ = ["ColumnCode", "Prepared", "TableAdapter", "TableEncoder"]
