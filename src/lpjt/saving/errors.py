"""The error of model files."""


class ModelFileError(ValueError):
    """A model cannot be kept in a file, or a file cannot be read as a model; the message has the reason.

    Examples
    --------
    >>> import lpjt, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".lpjt") as file:
    ...     lpjt.load(file.name)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lpjt.saving.errors.ModelFileError: ...not a model file, or one that was cut short...
    """
