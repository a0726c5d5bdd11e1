"""One headless Chromium for all tests of this folder, spoken to over a pipe (DevTools protocol)."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--mute-audio",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
    "--process-per-site",  # all pages in one process: it compiles the drawing library once
)  # fmt: skip
# Chromium reads commands from descriptor 3 and writes answers to 4: both are put there first
START = "import os, sys; os.dup2({}, 3); os.dup2({}, 4); os.execv(sys.argv[1], sys.argv[1:])"
PATIENCE_S = 120.0
KEPT = Path(__file__).parents[2] / "build" / "screenshots"


def found() -> str | None:
    """Return where Chromium is, None where it is not installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A running browser; `page` opens pages in it, one after the other."""

    def __init__(self, program: str, profile: Path) -> None:
        mine_in, theirs_out = (_high(end) for end in os.pipe())
        theirs_in, mine_out = (_high(end) for end in os.pipe())
        self._in, self._out, self._rest, self._number = mine_in, mine_out, b"", 0
        self._events: list[dict] = []
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(theirs_in, theirs_out), program, *QUIET,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)

    def close(self) -> None:
        """End it, and wait until it has ended."""
        try:
            self.ask("Browser.close")
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._in)
            os.close(self._out)

    def ask(self, method: str, session: str | None = None, **params: object) -> dict:
        """Send a command and return its answer; what happens meanwhile is kept for `wait`."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": params}
        os.write(
            self._out,
            json.dumps(asked | ({"sessionId": session} if session else {})).encode() + b"\0",
        )
        while True:
            message = self._read()
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self._events.append(message)

    def events(self, session: str) -> list[dict]:
        """Return what has happened in a page, in order."""
        return [event for event in self._events if event.get("sessionId") == session]

    def wait(self, session: str, method: str) -> dict:
        """Return the first event of that name, as soon as it is there."""
        while True:
            for event in self.events(session):
                if event["method"] == method:
                    return event
            self._events.append(self._read())

    def page(self, path: Path, **looks: object) -> Page:
        """Open a file; see `Page`."""
        return Page(self, path, **looks)

    def _read(self) -> dict:
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


class Page:
    """A file shown in the browser, loaded, with what went wrong in it."""

    def __init__(self, browser: Chromium, path: Path, width: int = 1200, height: int = 900,
                 dark: bool = False, phone: bool = False) -> None:  # fmt: skip
        self._browser, self.path, self._width = browser, path, width
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        gone = self._ask("Page.navigate", url=path.resolve().as_uri())
        assert "errorText" not in gone, f"{path}: {gone['errorText']}"
        browser.wait(self.session, "Page.loadEventFired")

    def _ask(self, method: str, **params: object) -> dict:
        return self._browser.ask(method, self.session, **params)

    def run(self, script: str) -> object:
        """Evaluate JavaScript; a promise is waited for."""
        answer = self._ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def draw_all(self) -> int:
        """Scroll through the page until every figure is drawn; return how many there are."""
        return self.run(
            """(async () => {
              const plots = [...document.querySelectorAll(".figure")];
              for (const plot of plots) {
                plot.scrollIntoView();
                while (!plot.classList.contains("drawn"))
                  await new Promise(requestAnimationFrame);
              }
              scrollTo(0, 0);
              await new Promise(requestAnimationFrame);
              return plots.length;
            })()"""
        )

    @property
    def errors(self) -> list[str]:
        """What the console has to complain about: exceptions, errors, refused resources."""
        said = []
        for event in self._browser.events(self.session):
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                said.append(
                    what["exceptionDetails"].get("exception", {}).get("description", "exception")
                )
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in (
                "error",
                "assert",
            ):
                said.append(str(what["args"]))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] == "error":
                said.append(what["entry"]["text"])
        return said

    @property
    def requests(self) -> list[str]:
        """Addresses that were asked for, beside the page itself and data inside it."""
        asked = [
            event["params"]["request"]["url"]
            for event in self._browser.events(self.session)
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [
            url
            for url in asked
            if url != self.path.resolve().as_uri() and not url.startswith(("data:", "blob:"))
        ]

    def screenshot(self, path: Path, height: int | None = None) -> None:
        """Keep a picture of the whole page, or of its first `height` pixels."""
        full = int(self.run("document.documentElement.scrollHeight"))
        clip = {
            "x": 0,
            "y": 0,
            "width": self._width,
            "height": min(full, height or full),
            "scale": 1,
        }
        data = self._ask(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
        )["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """Print the page, as on paper."""
        data = self._ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """Close the page; what happened in it stays known."""
        self._browser.ask("Target.closeTarget", targetId=self._target)


def _high(end: int) -> int:
    """Move a descriptor out of the way of 3 and 4."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved
