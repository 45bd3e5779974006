"""A downloader for pooch that resumes broken downloads."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Bytes read at a time, which is also the most that is downloaded again after a broken connection.
_CHUNK = 1 << 13


class ResumingDownloader:
    """Downloader for `pooch.retrieve`: collects the bytes in `part` and renames it when the download is complete.

    Parameters
    ----------
    part : path
        File that collects the bytes. If it exists and the server supports it, the download resumes at its end.
    timeout : float
        Seconds without data before the download is given up.
    on_bytes : callable
        Called during the download with the number of bytes so far and in total (None: unknown).
    """

    def __init__(self, part: Path, *, timeout: float, on_bytes: Callable[[int, int | None], None]) -> None:
        self.part, self.timeout, self.on_bytes = part, timeout, on_bytes
        self.resumed = False  # whether the last download continued a partial file

    def __call__(self, url: str, output_file: Any, pooch: Any = None, check_only: bool = False) -> None:
        """Download `url` into `output_file`; after an OSError or an error of requests, `part` keeps the bytes."""
        import requests

        # With compressed transfer, the bytes on disk would not match the requested offsets.
        headers = {"Accept-Encoding": "identity"}
        here = self.part.stat().st_size if self.part.exists() else 0
        if here:
            headers["Range"] = f"bytes={here}-"
        with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                # The partial file is as long as the file or longer: start again.
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
        with open(self.part, "ab" if have else "wb", opener=_open_no_link) as file:
            self.on_bytes(have, total)
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                self.on_bytes(have, total)
        if total is not None and have != total:
            raise OSError(f"broke off after {have} of {total} bytes")


def _open_no_link(path: str, flags: int) -> int:
    """Open a file under a name that everybody knows, but not a link that somebody has put there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _continues(answer: Any, here: int) -> bool:
    """Whether the answer starts at the requested byte: some servers send the whole file again."""
    return answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {here}-")
