"""Pages in headless Chromium, by its DevTools protocol: for the tests of pages, and for pictures of them."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0  # seconds for one answer

#: No network: Chromium would look for updates at every start.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)


def find_chromium() -> str | None:
    """Path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. Collects what the page logs, throws and asks the network for."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._count = socket, 0
        self.problems: list[str] = []  # errors and warnings of the console, exceptions, failed requests
        self.requests: list[str] = []  # addresses that were asked for
        self._loaded = False
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, values = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(values["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and values["type"] in {"error", "warning", "assert"}:
            self.problems.append(json.dumps(values["args"])[:500])
        elif method == "Log.entryAdded" and values["entry"]["level"] in {"error", "warning"}:
            self.problems.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of a size, in light or dark colours."""
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist.")
        self.call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while not self._loaded:
            if time.monotonic() > end:
                raise TimeoutError(f"{path} was not loaded in {PATIENCE:.0f} seconds.")
            self.call("Runtime.evaluate", expression="0")
            time.sleep(0.02)

    def resize(self, width: int, height: int) -> None:
        """Size of the window, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def run(self, expression: str) -> Any:
        """Value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key in the element that has the focus."""
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def point(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A new browser with an empty profile, closed at the end."""
    from websocket import create_connection

    program = find_chromium()
    if program is None:
        raise FileNotFoundError(f"None of {', '.join(NAMES)} was found. Install Chromium.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Browser(create_connection(_address(Path(profile)), timeout=PATIENCE))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _address(profile: Path) -> str:
    """Address of the first tab, once the browser has written its port into its profile."""
    file, end = profile / "DevToolsActivePort", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if file.exists() and file.read_text().strip():
            port = file.read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise TimeoutError(f"Chromium did not start in {PATIENCE:.0f} seconds.")
