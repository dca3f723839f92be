"""Check the built pages in a browser: nothing is cut off in a desktop's window and on a phone. `make docs-test`.

    python python/check_widths.py [--pictures FOLDER] [FOLDER OF THE PAGES]

Each page is loaded into a frame of each width by headless Chromium, which is on PATH as chromium or google-chrome.
Tables and code may scroll inside the page. An element that sticks out of it is named. --pictures keeps a
screenshot of every page and width.
"""

from __future__ import annotations

import argparse
import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from check_library import ROOT

WIDTHS = (1300, 390)
HEIGHT = 3000  # of a screenshot
SECONDS = 300
MEASURE = """<!doctype html><body style="margin:0"><script>
const jobs = JOBS, found = [];
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));
async function measure([page, width]) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = page;
  document.body.append(frame);
  await loaded;
  await wait(100);
  const pane = frame.contentDocument, wide = pane.documentElement.scrollWidth;
  const scrolls = e => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  const over = [...pane.querySelectorAll("article *")].filter(
    e => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement));
  const name = e => `${e.tagName.toLowerCase()}.${e.className}: ${e.textContent.slice(0, 60)}`;
  if (wide > width || over.length) found.push([page, width, wide, over.length ? name(over[0]) : ""]);
  frame.remove();
}
(async () => {
  for (const job of jobs) await measure(job);
  document.body.innerHTML = "<pre id=found></pre>";
  document.getElementById("found").textContent = JSON.stringify({measured: jobs.length, found});
})();
</script>"""
FRAME = '<!doctype html><body style="margin:0"><iframe src="{}" style="width:{}px;height:{}px;border:0"></iframe>'


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the pages, and those that load them into frames."""

    made: dict[str, str] = {}  # noqa: RUF012 - path -> page

    def do_GET(self) -> None:
        """A page that was made for the browser, or a file."""
        page = self.made.get(self.path)
        if page is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


def browse(address: str, *options: str) -> str:
    """What headless Chromium prints of an address."""
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
    if browser is None:
        raise SystemExit("missing: chromium (Debian, Ubuntu: apt-get install chromium)")
    usual = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--timeout={SECONDS * 1000}"]
    done = subprocess.run([browser, *usual, *options, address], capture_output=True, text=True, timeout=2 * SECONDS)
    return done.stdout


def too_wide(address: str, pages: list[str]) -> list[list]:
    """Page, width of the frame, width of its content and an element that sticks out."""
    jobs = [[page, width] for page in pages for width in WIDTHS]
    Handler.made["/measure"] = MEASURE.replace("JOBS", json.dumps(jobs))
    shown = re.search(
        r'<pre id="found">(.*?)</pre>', browse(f"{address}/measure", f"--virtual-time-budget={10**7}", "--dump-dom")
    )
    if not shown:
        raise SystemExit("the browser did not come to an end")
    found = json.loads(html.unescape(shown[1]))
    if found["measured"] != len(jobs):
        raise SystemExit(f"{found['measured']} of {len(jobs)} were measured")
    return found["found"]


def keep_pictures(address: str, pages: list[str], folder: Path) -> None:
    """A screenshot of each page in each width."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for width in WIDTHS:
            Handler.made["/frame"] = FRAME.format(f"/{page}", width, HEIGHT)
            path = folder / f"{page.replace('/', '-').removesuffix('.html')}-{width}.png"
            size = f"--window-size={max(width, 500)},{HEIGHT}"  # Chromium's window is no narrower than 500
            browse(f"{address}/frame", size, f"--screenshot={path}", "--virtual-time-budget=5000")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "build" / "docs" / "html")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots")
    parser.add_argument("--only", help="pages whose path has this in it")
    chosen = parser.parse_args()
    paths = sorted(chosen.folder.rglob("*.html"))
    pages = [p.relative_to(chosen.folder).as_posix() for p in paths if "_static" not in p.parts]
    pages = [page for page in pages if not chosen.only or chosen.only in page]
    if not pages:
        raise SystemExit(f"no pages in {chosen.folder}: make docs")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(chosen.folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    if chosen.pictures:
        keep_pictures(address, pages, chosen.pictures)
    found = too_wide(address, pages)
    for page, width, wide, element in found:
        print(f"{page}: {wide} pixels wide in a window of {width}; sticks out: {element!r}", file=sys.stderr)
    print(f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} pixels, {len(found)} faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
