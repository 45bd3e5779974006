"""Words and numbers for people: names from data made safe to show, counts, percentages."""

import unicodedata
from typing import Any

#: Longer names are cut in the middle: the two ends tell most names apart.
LONGEST = 60


def clean(value: Any, longest: int = LONGEST) -> str:
    """A label, id or column name as one short line of text.

    Control characters and those that turn the direction of the text around are replaced; markup is not escaped here,
    as the page escapes every string where it is written.
    """
    text = "".join(_visible(letter) for letter in str(value)).strip()
    text = " ".join(text.split()) or "(blank)"
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def _visible(letter: str) -> str:
    if letter in "\t\n\r":
        return " "
    # Cc: controls, Cf: overrides of the direction and other invisible marks, Cs: halves of a character.
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(letter) in {"Cc", "Cf", "Cs"} else letter


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent, such as "55 %"."""
    return f"{100 * share:.{digits}f} %"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, such as "1 row" or "1,797 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def short(value: float) -> str:
    """A measured value in few characters."""
    if value == 0 or 0.01 <= abs(value) < 100_000:
        return f"{value:.4g}"
    return f"{value:.2e}"


def listing(names: list[str], limit: int = 5) -> str:
    """The first names, joined by commas, and the number of the others."""
    shown = ", ".join(names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")
