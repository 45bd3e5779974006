"""Methods over tasks: what is run, how one run becomes one row, and which runs a table needs."""

from lpjt.study.runs.methods import METHODS, Method, find_method

__all__ = ["METHODS", "Method", "find_method"]
