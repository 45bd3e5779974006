"""Models that are kept: one file of arrays and JSON, from which nothing is executed when it is read.

A model file is a zip, uncompressed, of ``model.json`` and ``.npy`` arrays. ``model.json`` has the version of the
format, the versions of the packages, a description to read, the tree of the model's values, and dtype, shape, size and
SHA-256 of every array; the comment of the zip has the SHA-256 of ``model.json``.
"""

from lpjt.saving.allowed import TRUSTED_TYPES
from lpjt.saving.describe import describe
from lpjt.saving.errors import ModelFileError
from lpjt.saving.model_file import load, read_model, save

__all__ = ["TRUSTED_TYPES", "ModelFileError", "describe", "load", "read_model", "save"]
