"""Values and errors as one line of text."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

MAX_MESSAGE = 1000  # characters: a method that warns in every iteration must not fill the store


def canonical_json(value: Any) -> str:
    """JSON that is the same text for the same value: sorted names, no spaces, numpy scalars as plain ones."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain_scalar
    )


def one_line(error: BaseException) -> str:
    """An error as one line that begins with its kind."""
    return join_messages([f"{type(error).__name__}: {error}".rstrip(": ")])


def join_messages(messages: Iterable[str]) -> str:
    """Messages on one line, each once, at most `MAX_MESSAGE` characters."""
    text = "; ".join(dict.fromkeys(" ".join(message.split()) for message in messages if message))
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written as JSON. Give plain values.")
