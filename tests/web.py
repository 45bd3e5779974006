"""A web server on loopback that behaves as each test asks: well, or not."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """Answers by path; every request is kept as (path, its Range header or None)."""

    def __init__(self, address: str):
        self.address = address
        self.answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.closing = threading.Event()

    def at(self, path: str, answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
        self.answers[path] = answer
        return self.address + path


@contextmanager
def serve() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            site.requests.append((self.path, self.headers.get("Range")))
            answer = site.answers.get(self.path)
            if answer is None:
                self.send_error(404)
            else:
                answer(self)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def send(request, content, *, status=200, length=None, **headers):
    request.send_response(status)
    request.send_header("Content-Length", str(len(content) if length is None else length))
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(content)


def asked_from(request) -> int:
    """The first byte that a Range header asks for."""
    header = request.headers.get("Range")
    return int(header.removeprefix("bytes=").rstrip("-")) if header else 0


def well(content):
    """All of it, or from where the Range header says."""

    def answer(request):
        start = asked_from(request)
        if not start:
            send(request, content)
        elif start >= len(content):
            send(request, b"", status=416)
        else:
            last = len(content) - 1
            send(request, content[start:], status=206, Content_Range=f"bytes {start}-{last}/{len(content)}")

    return answer


def breaks_off_once(content, after):
    """The first answer ends after so many bytes, the next goes on."""
    answered = []

    def answer(request):
        if answered:
            well(content)(request)
        else:
            answered.append(True)
            send(request, content[:after], length=len(content))

    return answer


def breaks_off_always(content, after):
    def answer(request):
        start = asked_from(request)
        send(request, content[start : start + after], length=len(content) - start, status=206 if start else 200,
             Content_Range=f"bytes {start}-{len(content) - 1}/{len(content)}")  # fmt: skip

    return answer


def ignores_range(content):
    return lambda request: send(request, content)


def stalls(content, after, closing):
    """Sends some bytes, then none for as long as the test lasts."""

    def answer(request):
        send(request, content[:after], length=len(content))
        request.wfile.flush()
        closing.wait(30)

    return answer


def refuses(status):
    return lambda request: request.send_error(status)
