"""Headless Chromium over its debugging pipe, by the standard library alone."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60


def executable():
    """The path of Chromium; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A tab: what is asked of it in JavaScript, and what it complained of."""

    def __init__(self, process, reading, writing):
        self.process, self.reading, self.writing = process, reading, writing
        self.numbers, self.waiting, self.complaints, self.session = itertools.count(1), b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """The browser's answer to a command of its protocol."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        return self._until(lambda said: said.get("id") == number)["result"]

    def open(self, address):
        """Load an address, and wait until it is there."""
        self.ask("Page.navigate", url=address)
        self._until(lambda said: said.get("method") == "Page.loadEventFired")

    def __call__(self, expression):
        """The value of a JavaScript expression."""
        said = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def key(self, key, code):
        """Press and let go of a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def show(self, width, height=900, scheme="light", media=""):
        """The size of the window and how colours are wanted."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, file, whole=False):
        """A screenshot."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(file, "wb") as stream:
            stream.write(base64.b64decode(shot["data"]))

    def _until(self, wanted):
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self.waiting:
                line, _, self.waiting = self.waiting.partition(b"\0")
                said = json.loads(line)
                self._note(said)
                if wanted(said):
                    assert "error" not in said, said
                    return said
            assert select.select([self.reading], [], [], max(end - time.monotonic(), 0))[0], "Chromium says nothing"
            self.waiting += os.read(self.reading, 1 << 16)

    def _note(self, said):
        """Keep what the console shows as an error, and every request that is not of a file."""
        method, parameters = said.get("method"), said.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(parameters["args"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"])
        elif method == "Network.requestWillBeSent":
            address = parameters["request"]["url"]
            if not address.startswith(("file:", "data:", "about:")):
                self.complaints.append(address)


@contextmanager
def chromium():
    """A tab of a Chromium of its own, without a profile that stays."""
    to_browser, from_browser = os.pipe(), os.pipe()

    def wire():
        # It reads commands from 3 and writes to 4, wherever these are now.
        ends = os.dup(to_browser[0]), os.dup(from_browser[1])
        for end, number in zip(ends, (3, 4), strict=True):
            os.dup2(end, number)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [executable(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        process = subprocess.Popen(
            [*words, f"--user-data-dir={profile}", "--hide-scrollbars"],
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Page(process, from_browser[0], to_browser[1])
        finally:
            process.kill()
            process.wait()
            for end in (*to_browser, *from_browser):
                os.close(end)
