"""The error of model files."""


class ModelFileError(ValueError):
    """A model cannot be kept in a file, or a file cannot be read as a model; the message has the reason."""
