"""Commands without the time of their imports: a process of `server` that runs one after the other in forks."""

import json
import multiprocessing.util
import select
import subprocess
import sys
from pathlib import Path

from attack.kills import server
from attack.kills.commands import environment
from attack.kills.places import can_mount
from attack.processes import Fault

_servers: list[subprocess.Popen[bytes]] = []


def run_warm(arguments: list[str], errors: Path, seconds: float) -> int:
    """Exit code of a command that runs in a fork of the server, with its errors in a file."""
    process = _server()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"arguments": arguments, "errors": str(errors)}).encode() + b"\n")
    in_time = bool(select.select([process.stdout], [], [], seconds)[0])
    answer = process.stdout.readline() if in_time else b""
    if not answer:
        _end()
        raise Fault("the server of commands has ended" if in_time else f"a command took more than {seconds:.0f} s")
    return int(answer)


def _server() -> subprocess.Popen[bytes]:
    if not _servers:
        can_mount()  # before it starts: what this process mounts is seen by it
        _servers.append(
            subprocess.Popen(
                [sys.executable, server.__file__],
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            )
        )  # fmt: skip
        multiprocessing.util.Finalize(None, _end, exitpriority=2)
    return _servers[0]


def _end() -> None:
    while _servers:
        process = _servers.pop()
        process.kill()
        process.wait()
