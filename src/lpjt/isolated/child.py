"""The child's side: take on the limits, read one file, write what is in it, or what went wrong."""

import contextlib
import errno
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lpjt.isolated.formats import READERS
from lpjt.isolated.limits import Limits
from lpjt.isolated.parts import RefusedError, write_answer, write_manifest

_ROOM = 2**28  # bytes beside the data: what libraries take while they load and work


def main(request: Mapping[str, Any]) -> None:
    """Read a file under the limits of a request."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    reader = READERS[request["kind"]]
    for library in reader.libraries:
        with contextlib.suppress(ImportError):
            __import__(library)  # before the limit, which is for the data
    limit(request["memory"], request["seconds"])
    work(request)


def limit(memory: int, seconds: float) -> None:
    """Limit the memory and the time of this process from here on, where the system can."""
    try:
        import resource
    except ImportError:
        return  # Windows: what files announce and contain is still checked, and the parent still watches the time
    in_use = 2**30
    with contextlib.suppress(OSError, ValueError, IndexError):
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    wanted = {
        "RLIMIT_AS": in_use + _ROOM + memory,
        "RLIMIT_CPU": int(seconds) + 5,  # should the parent be gone
        "RLIMIT_FSIZE": _ROOM + memory,
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError, OverflowError):
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, hard))


def work(request: Mapping[str, Any]) -> None:
    """Read, and leave an answer or an error in the folder."""
    folder = Path(request["folder"])
    limits = Limits(request["memory"], request["seconds"])
    try:
        answer = READERS[request["kind"]].read(Path(request["path"]), limits, **request["options"])
        write_answer(folder, answer)
    except MemoryError:
        _report(folder, "memory", "")
    except RefusedError as error:
        _report(folder, "refused", str(error))
    except ImportError as error:
        _report(folder, "missing", str(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            where = f"there is no room for its content in the temporary directory {folder.parent}"
            _report(folder, "refused", f"{where}. Make room, or name another one with TMPDIR in the environment.")
        else:
            _report(folder, "memory" if error.errno == errno.EFBIG else "error", _words(error))
    # Parsers raise errors of many types on broken files.
    except Exception as error:
        _report(folder, "memory" if _is_memory(error) else "error", _words(error))


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _is_memory(error: BaseException | None) -> bool:
    """Whether an error says, in a library's own words, that memory ran out."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError) or "malloc of size" in said or "cannot allocate memory" in said:
            return True
        error = error.__cause__ or error.__context__
    return False


def _report(folder: Path, status: str, message: str) -> None:
    write_manifest(folder, {"status": status, "message": message[:2000]})
