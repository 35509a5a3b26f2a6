# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium, driven over its own protocol through a pair of pipes: no port, no library.

https://chromedevtools.github.io/devtools-protocol/ names the commands and events."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 60
PROGRAM = shutil.which("chromium")


class Browser:
    """One browser with one tab. It has a directory of its own, and ends with the `with` block."""

    def __init__(self, width=1280, height=900, theme="light"):
        self._directory = tempfile.TemporaryDirectory(prefix="views-")
        to_browser, self._write_end = os.pipe()
        self._read_end, from_browser = os.pipe()
        self._process = self._start(to_browser, from_browser)
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.look(width, height, theme)

    def _start(self, to_browser, from_browser):
        # The browser reads from descriptor 3 and writes to 4; a shell moves them there from higher numbers, so
        # that neither overwrites the other. (sh cannot name descriptors of two digits.)
        to_browser, from_browser = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser))
        arguments = [PROGRAM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking",
                     "--hide-scrollbars", f"--user-data-dir={self._directory.name}", "about:blank"]
        shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *arguments]
        environment = os.environ | dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "TMPDIR"),
                                                 self._directory.name)
        with open(os.path.join(self._directory.name, "log"), "wb") as log, \
                open(to_browser, "rb"), open(from_browser, "wb"):
            return subprocess.Popen(shell, pass_fds=(to_browser, from_browser), env=environment,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._write_end)
        os.close(self._read_end)
        # Its helper processes may still write for a moment.
        shutil.rmtree(self._directory.name, ignore_errors=True)
        self._directory._finalizer.detach()

    def call(self, method, **parameters):
        """Gives the result of a command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _write(self, data):
        while data:
            data = data[os.write(self._write_end, data):]

    def _message(self):
        until = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            if not select.select([self._read_end], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._read_end, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def look(self, width, height, theme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def open(self, path):
        """Opens a file and waits until the page has drawn its data."""
        self.go("file://" + os.path.abspath(path), "typeof pcpTrace !== 'undefined'")
        self.evaluate("pcpTrace.ready")
        self.settle()

    def go(self, url, is_there):
        """Opens an address and waits until the page has loaded and this expression is true."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        until = time.monotonic() + PATIENCE_S
        while self.evaluate(f"document.readyState === 'complete' && ({is_there})") is not True:
            if time.monotonic() > until:
                raise TimeoutError(f"the page does not load: {self.complaints()}")

    def evaluate(self, expression):
        """Gives the value of an expression of JavaScript, or that of its promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def settle(self):
        """Waits until all pending drawing is done."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def press(self, key, text=None):
        codes = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "Tab": 9}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": key}
        if text:
            code["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def mouse(self, kind, x, y, clicks=1, modifiers=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=modifiers,
                  button="none" if kind == "mouseMoved" else "left", clickCount=clicks, buttons=1)

    def click(self, x, y, clicks=1, modifiers=0):
        self.mouse("mousePressed", x, y, clicks, modifiers)
        self.mouse("mouseReleased", x, y, clicks, modifiers)
        self.settle()

    def place(self, selector):
        """Scrolls an element into the window. Gives its middle and its size."""
        return self.evaluate(f"""(() => {{ const it = document.querySelector({json.dumps(selector)});
            it.scrollIntoView({{block: "center", behavior: "instant"}}); const box = it.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2, box.width, box.height]; }})()""")

    def complaints(self):
        """Gives the page's errors and its output on the console."""
        return [event for event in self.events if event.get("method") in
                ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def requests(self):
        """Gives the addresses that the page requested."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def screenshot(self, path, whole=True):
        height = self.evaluate("document.documentElement.scrollHeight") if whole else None
        clip = {"clip": {"x": 0, "y": 0, "scale": 1, "height": height,
                         "width": self.evaluate("innerWidth")}} if whole else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
