"""Text files, compressed or not, in blocks: how much there is of them, and whether they are text at all."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lpjt.isolated.limits import Limits
from lpjt.isolated.parts import RefusedError, UnreadableError

_BLOCK = 2**20  # bytes read together


def blocks(path: Path, limits: Limits, *, compressed: bool | None = None) -> Iterator[bytes]:
    """The bytes of a file block by block; an error once they exceed the limit, whatever the file announces.

    They are decompressed if `compressed`, which is told by the name (.gz) if it is None.
    """
    total = 0
    if compressed is None:
        compressed = path.suffix.lower() == ".gz"
    opener: Any = gzip.open if compressed else open
    try:
        with opener(path, "rb") as stream:
            while block := stream.read(_BLOCK):
                total += len(block)
                limits.refuse_bytes(total, "its content exceeds")
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UnreadableError(str(error)) from error


def check_stream(path: Path, limits: Limits, encoding: str | None = None) -> None:
    """Refuse text that is larger than the limit, or has zero characters: parsers drop the cells around them.

    One pass in constant memory, before anything is parsed.
    """
    decoder, line = None, 1
    for number, block in enumerate(blocks(path, limits)):
        if number == 0:
            decoder = _decoder(block, encoding)
        text: Any = block if decoder is None else decoder.decode(block)
        zero, newline = (b"\0", b"\n") if decoder is None else ("\0", "\n")
        if zero in text:
            line += text.count(newline, 0, text.index(zero))
            raise RefusedError(
                f"line {line} has a zero byte, so it is damaged or not text. Remove it, or write the file again; if it "
                "is in another encoding, such as utf-16, name it with --encoding."
            )
        line += text.count(newline)


def _decoder(start: bytes, encoding: str | None) -> codecs.IncrementalDecoder | None:
    """A decoder for encodings that have zero bytes in ordinary characters; others need none."""
    name = "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else encoding
    try:
        found = None if name is None else codecs.lookup(name).name
    except LookupError:
        return None  # said by who opens the file as text
    return codecs.getincrementaldecoder(found)() if found and found.startswith(("utf-16", "utf-32")) else None
