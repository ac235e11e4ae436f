# SPDX-License-Identifier: Apache-2.0
"""A headless browser that opens the written pages, and checks that apply to every page."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
# Seconds for the browser to answer while other work goes on.
LIMIT = 120

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")


class Browser:
    """A headless browser, controlled through pipes by its DevTools protocol."""

    def __init__(self, folder: Path):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():
            # The browser reads from 3 and writes to 4.
            for source, high in ((to_browser, 103), (from_browser, 104)):
                os.dup2(source, high)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                f"--user-data-dir={folder}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=place_pipes,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.received = b""
        self.count = 0
        self.events: list[dict] = []

    def close(self):
        self.process.terminate()
        self.process.wait(LIMIT)
        os.close(self.write_end)
        os.close(self.read_end)

    def call(self, method: str, session: str | None = None, **parameters) -> dict:
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.write_end, text) :]
        end = time.monotonic() + LIMIT
        while True:
            while b"\0" not in self.received:
                if not select.select([self.read_end], [], [], max(0, end - time.monotonic()))[0]:
                    raise TimeoutError(f"the browser does not answer {method}")
                part = os.read(self.read_end, 1 << 20)
                assert part, "the browser has ended"
                self.received += part
            first, self.received = self.received.split(b"\0", 1)
            answer = json.loads(first)
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def run(self, path: Path, script: str, width: int) -> dict:
        """Opens a file without a network, runs a script in it that fills `seen`, and asserts that nothing went wrong."""
        self.events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        self.call(
            "Network.emulateNetworkConditions", session, offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", session, url=path.as_uri())
        # Navigation takes a while: until then the old page answers, which is never ready.
        ready = "document.documentElement.dataset.ready || !document.getElementById('failure')?.hidden && document.getElementById('failure')?.textContent"
        end = time.monotonic() + LIMIT
        while not self.call("Runtime.evaluate", session, expression=ready)["result"].get("value"):
            assert time.monotonic() < end, "the page is never ready"
            time.sleep(0.05)
        result = self.call(
            "Runtime.evaluate", session, expression=TOOLS.replace("SCRIPT", script), awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in result, result
        problems = [
            e
            for e in self.events
            if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        ]
        requests = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        self.call("Target.closeTarget", targetId=target)
        assert problems == []
        assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
        return result["result"]["value"]


# Functions that scripts in the page use.
TOOLS = """(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const all = (query) => [...document.querySelectorAll(query)];
  const set = async (element, value) => { element.value = value; element.dispatchEvent(new Event("input")); await frame(); };
  const press = async (element, key, more) => { element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more })); await frame(); };
  // Returns a plane's middle, from -1 to 1 over the canvas, and the extent of its bright pixels in a colour: red, green or blue.
  const bright = (canvas, colour = 0) => {
    const { width, height } = canvas;
    const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, width, height).data;
    const found = { n: 0, x: 0, y: 0, x0: width, x1: 0, y0: height, y1: 0 };
    for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) if (pixels[4 * (y * width + x) + colour] > 128) {
      ++found.n; found.x += x; found.y += y;
      found.x0 = Math.min(found.x0, x); found.x1 = Math.max(found.x1, x); found.y0 = Math.min(found.y0, y); found.y1 = Math.max(found.y1, y);
    }
    return { n: found.n, x: 2 * found.x / found.n / width - 1, y: 2 * found.y / found.n / height - 1,
      wide: found.x1 - found.x0 + 1, high: found.y1 - found.y0 + 1 };
  };
  // Returns the least contrast of a text to its background, as WCAG 2.1 defines it, and where that is. A text over images has a
  // shadow of its own.
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isClear = (colour) => colour === "transparent" || /, 0\\)$/.test(colour);
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return isClear(colour) && element.parentElement ? behind(element.parentElement) : colour;
  };
  const leastContrast = () => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const least = { contrast: 21, count: 0 };
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || element.closest(".box, script, style") || !element.getClientRects().length) continue;
      const style = getComputedStyle(element);
      const [dark, bright] = [light(element.closest("svg") ? style.fill : style.color), light(behind(element))].sort((a, b) => a - b);
      const contrast = (bright + 0.05) / (dark + 0.05);
      ++least.count;
      if (contrast < least.contrast) Object.assign(least, { contrast, text: texts.currentNode.data.trim(), of: element.outerHTML.slice(0, 120) });
    }
    return least;
  };
  // Both themes have it.
  const leastContrasts = async () => {
    const found = {};
    for (const choice of ["light", "dark"]) {
      const theme = document.getElementById("theme");
      theme.value = choice;
      theme.dispatchEvent(new Event("change"));
      await frame();
      found[choice] = { page: getComputedStyle(document.body).backgroundColor, ...leastContrast() };
    }
    return found;
  };
  const seen = {};
  SCRIPT
  return seen;
})()"""


def check_contrasts(found: dict) -> None:
    """Asserts of leastContrasts() that everything is readable in both themes: WCAG 2.1 demands 4.5 at level AA."""
    assert found["light"]["page"] != found["dark"]["page"]
    for theme, least in found.items():
        assert least["count"] > 20 and least["contrast"] >= 4.5, f"{theme}: {least}"
