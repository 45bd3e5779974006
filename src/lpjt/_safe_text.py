"""Text from data, safe on a terminal and in a spreadsheet: labels, ids and column names may come from strangers."""

import re
from typing import Any

#: Characters that act instead of being seen: controls (a terminal obeys them), changes of direction, halves of a
#: character. Line feeds and tabs stay.
_ACTING = (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000))
_ESCAPES = {code: f"\\u{code:04x}" for code in _ACTING if chr(code) not in "\t\n"}

# Also the wide forms, which spreadsheets in some languages take for the same.
_STARTS_FORMULA = re.compile(r"[=+\-@\t\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


def visible(text: str) -> str:
    r"""A text in which characters that a terminal would obey are seen, as in ``\u001b[31m``.

    The escapes are those of JSON, so this may be applied to JSON as a whole.
    """
    return text if text.isprintable() else text.translate(_ESCAPES)


def safe_cell(value: Any) -> Any:
    """A cell of csv that no spreadsheet takes for a formula: `visible`, and with ' in front where it starts as one.

    Numbers, such as -1 and the text "-1", and single characters, such as the class "+", stay as they are.
    """
    if not isinstance(value, str):
        return value
    text = visible(value)
    is_formula = len(text) > 1 and _STARTS_FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text
