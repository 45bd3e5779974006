"""A downloader for pooch that goes on where a broken download stopped."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Bytes read at a time; so many at most are lost, and asked for again, when a connection breaks.
_CHUNK = 1 << 13


class ResumingDownloader:
    """What pooch calls with an address and a file to write; bytes gather in `part` and move when all are there.

    Parameters
    ----------
    part : path
        Where the bytes gather. What is there already is not asked for again, if the server can go on from it.
    timeout : float
        Seconds without a byte after which a download is given up.
    on_bytes : callable
        Told, as the bytes come, how many there are and how many there will be (None: unknown).
    """

    def __init__(self, part: Path, *, timeout: float, on_bytes: Callable[[int, int | None], None]):
        self.part, self.timeout, self.on_bytes = part, timeout, on_bytes
        self.resumed = False  # whether the last download began in the middle

    def __call__(self, url: str, output_file: Any, pooch: Any = None, check_only: bool = False) -> None:
        """Download `url` into `output_file`; an OSError or requests' own error leaves the bytes so far in `part`."""
        import requests

        # Packed transfer would make the bytes on disk differ from the offsets asked for.
        headers = {"Accept-Encoding": "identity"}
        here = self.part.stat().st_size if self.part.exists() else 0
        if here:
            headers["Range"] = f"bytes={here}-"
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                # More bytes than the file has, or exactly as many: begin again.
                self.part.unlink()
                return self(url, output_file, pooch)
            answer.raise_for_status()
            self.resumed = here > 0 and _continues(answer, here)
            self._save(answer, here if self.resumed else 0)
        os.replace(self.part, output_file)
        return None

    def _save(self, answer: Any, have: int) -> None:
        length = answer.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        self.part.parent.mkdir(parents=True, exist_ok=True)
        with open(self.part, "ab" if have else "wb") as file:
            self.on_bytes(have, total)
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                self.on_bytes(have, total)
        if total is not None and have != total:
            raise OSError(f"broke off after {have} of {total} bytes")


def _continues(answer: Any, here: int) -> bool:
    """Whether the answer goes on from the byte that was asked for: some servers send everything again."""
    return answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {here}-")
