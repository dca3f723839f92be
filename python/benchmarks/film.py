"""The moving picture of the labeling widget, docs/figures/labeling.webp: thirty answers in Chromium, by keyboard.

It needs selenium, and Chromium with its driver. The page has the widget's own program and nothing else; messages go to
the widget of a session, and its answers back.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import FOLDER

MOST = 1_000_000  # bytes
WIDTH, HEIGHT = 640, 760
FRAMES = {0: 1600, 1: 900, 2: 700, 10: 500, 30: 350}  # milliseconds from this answer on
LAST = 4000
PAGE = """<style>{style} body {{ margin: 8px }} .fewlabel .shown {{ height: 240px }}</style><div id="host"></div>
<script type="module">
{widget}
let state = {state};
const handlers = {{}};
window.sent = [];
window.show = (next) => {{ state = next; handlers["change:state"](); }};
widget.render({{ el: document.getElementById("host"), model: {{ get: () => state, off: () => {{}},
  on: (name, act) => (handlers[name] = act), send: (message) => sent.push(message) }} }});
</script>"""


def session(n: int = 10) -> tuple[Any, list[str]]:
    """The widget of a session on docstrings of SciPy, and the keys that answer."""
    from sklearn.pipeline import make_pipeline

    from fewlabel import TransductiveSVC
    from fewlabel.datasets import load_scipy_docs
    from fewlabel.labeling import Session
    from fewlabel.preprocessing import text_vectorizer

    classes = ["linalg", "signal", "special", "stats"]
    texts, truth = load_scipy_docs(tuple(classes))
    model = make_pipeline(text_vectorizer(), TransductiveSVC())
    widget = Session(texts.tolist(), model, classes=classes).widget(n)
    return widget, [str(classes.index(topic) + 1) for topic in truth]


def frames(driver: Any, widget: Any, keys: list[str], answers: int) -> list[bytes]:
    """Pictures before the first answer and after each."""
    source = widget._esm.replace("export default", "const widget =")
    page = PAGE.format(style=widget._css, widget=source, state=json.dumps(widget.state))
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(page)
        file.flush()
        driver.get(Path(file.name).as_uri())
        found = [driver.get_screenshot_as_png()]
        driver.find_element("css selector", ".fewlabel .shown").click()
        for _ in range(answers):
            seen = driver.execute_script("return sent.length")
            driver.switch_to.active_element.send_keys(keys[int(widget.state["row"])])
            for message in driver.execute_script("return sent")[seen:]:
                widget._receive(widget, message, [])
            driver.execute_script("show(arguments[0])", widget.state)
            found.append(driver.get_screenshot_as_png())
    return found


def main(arguments: list[str]) -> int:
    """The program."""
    from PIL import Image
    from selenium import webdriver

    parser = argparse.ArgumentParser(prog="benchmarks film", description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=30)
    chosen = parser.parse_args(arguments)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        pictures = frames(driver, *session(), chosen.answers)
    finally:
        driver.quit()
    images = [Image.open(io.BytesIO(one)).convert("RGB") for one in pictures]
    times = [max((answer, ms) for answer, ms in FRAMES.items() if answer <= k)[1] for k in range(len(images))]
    path = FOLDER / "labeling.webp"
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=[*times[:-1], LAST], loop=0, quality=40, method=6
    )
    print(path, path.stat().st_size, "bytes")
    return int(path.stat().st_size > MOST)
