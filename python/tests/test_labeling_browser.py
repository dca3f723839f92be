"""The widget of a labeling session in Chromium: in JupyterLab thirty rows by keyboard, a reload and on; in a bare page.

Skipped where selenium, chromium and its driver are not all installed, and the test in JupyterLab where that is not.
FEWLABEL_SCREENSHOT=file keeps a picture of the widget.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

pytest.importorskip("anywidget", reason="anywidget is not installed")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
Select = pytest.importorskip("selenium.webdriver.support.ui").Select
WebDriverException = pytest.importorskip("selenium.common.exceptions").WebDriverException
if not CHROMIUM or not DRIVER:
    pytest.skip("no browser: apt-get install chromium chromium-driver", allow_module_level=True)

from fewlabel import TransductiveSVC  # noqa: E402
from fewlabel.datasets import load_scipy_docs  # noqa: E402
from fewlabel.labeling import Session, _widget as labeling_widget  # noqa: E402
from fewlabel.labeling._journal import Journal  # noqa: E402
from fewlabel.preprocessing import text_vectorizer  # noqa: E402

TOPICS = ("linalg", "signal", "stats")
CELL = f"""
from sklearn.pipeline import make_pipeline
from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.labeling import Session
from fewlabel.preprocessing import text_vectorizer

texts, _ = load_scipy_docs({TOPICS})
model = make_pipeline(text_vectorizer(), TransductiveSVC())
session = Session(list(texts), model, classes={TOPICS}, path="answers.jsonl")
session.widget()
"""
WAIT = 120
TEXTS = [f"{a} {b}" for a in ("red", "old", "fast", "cold") for b in ("wine", "car", "beer", "bus")]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Address of a notebook in a running JupyterLab."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install jupyterlab")
    nbformat = pytest.importorskip("nbformat")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())], metadata=kernel)
    nbformat.write(notebook, tmp_path / "label.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--ServerApp.token=", "--ServerApp.password=", "--ServerApp.open_browser=False", "--allow-root"]
    paths = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "c"),
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", f"--ServerApp.port={port}", f"--ServerApp.root_dir={tmp_path}", *settings],
        env=paths,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait(lambda: answers(f"{address}/api/status"), "JupyterLab")
        yield f"{address}/lab/tree/label.ipynb"
    finally:
        server.terminate()
        server.wait(WAIT)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1100,1200"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path / 'chromium'}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.save_screenshot(str(tmp_path / "last.png"))  # pytest keeps the folder of a failed test
    driver.quit()


def answers(address: str) -> bool:
    try:
        return urllib.request.urlopen(address, timeout=5).status == 200
    except OSError:
        return False


def wait(until: Callable[[], Any], what: str) -> Any:
    """The first result that is not empty."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := until():
            return found
        time.sleep(0.1)
    pytest.fail(f"no {what} within {WAIT} s")


class Page:
    """The widget as a person sees it."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def find(self, css: str) -> Any:
        return (self.browser.find_elements("css selector", css) or [None])[0]

    def text(self, css: str) -> str:
        return self.browser.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", css)

    def click(self, css: str) -> bool:
        """Click on what can be clicked by now."""
        try:
            self.find(css).click()
        except (AttributeError, WebDriverException):
            return False
        return True

    def press(self, key: str, control: bool = False) -> None:
        actions, held = webdriver.ActionChains(self.browser), webdriver.Keys.CONTROL
        (actions.key_down(held).send_keys(key).key_up(held) if control else actions.send_keys(key)).perform()

    def run_cell(self) -> bool:
        """Press the keys for it, which have no effect before JupyterLab is ready."""
        self.press(webdriver.Keys.ENTER, control=True)
        time.sleep(1)
        return any(sign in self.text(".jp-InputPrompt") for sign in "*1")

    def progress(self) -> str:
        return self.text(".fewlabel .course")

    def row(self) -> int | None:
        last = self.progress().rpartition("row ")[2]
        return int(last) if last.isdigit() else None

    def answer(self, key: str) -> None:
        """Press a key and wait for another row."""
        before = self.row()
        self.press(key)
        wait(lambda: self.row() not in (before, None), "next row")


def test_thirty_rows_by_keyboard_then_a_reload_and_on(lab: str, browser: Any, tmp_path: Path) -> None:
    texts, topics = load_scipy_docs(TOPICS)
    keys = {topic: str(k) for k, topic in enumerate(TOPICS, 1)}
    page = Page(browser)
    browser.get(lab)
    wait(lambda: page.find(".jp-Notebook-ExecutionIndicator[data-status=idle]"), "kernel")
    wait(lambda: page.click(".jp-Notebook .jp-Cell .cm-content"), "notebook")
    wait(page.run_cell, "run of the cell")
    wait(lambda: page.row() is not None, "widget")

    def label(n: int) -> None:
        for _ in range(n):
            row = page.row()
            assert " ".join(page.text(".fewlabel .shown").split()) == " ".join(texts[row].split())
            page.answer(keys[topics[row]])

    page.find(".fewlabel .shown").click()
    label(10)
    page.press("n")
    page.answer("2")  # not this class
    page.answer("s")
    page.answer("u")
    page.answer("u")
    label(20)
    assert page.progress().startswith("30 of")
    assert {event["class"] == topics[event["row"]] for event in Journal(tmp_path / "answers.jsonl").standing} == {True}
    assert page.text(".fewlabel .thinks").startswith("predicted: ")
    assert page.find(".fewlabel svg polyline")
    page.press("s", control=True)
    wait(lambda: "widget-view" in (tmp_path / "label.ipynb").read_text(encoding="utf-8"), "saved notebook")
    if picture := os.environ.get("FEWLABEL_SCREENSHOT"):
        browser.execute_script("document.querySelector('.Toastify')?.remove()")  # it asks whether to fetch news
        page.find(".fewlabel").screenshot(picture)
    browser.refresh()
    wait(lambda: page.row() is not None, "widget after the reload")
    assert page.progress().startswith("30 of")
    page.find(".fewlabel .shown").click()
    label(3)
    assert len(Journal(tmp_path / "answers.jsonl").standing) == 33
    assert page.find(".jp-Notebook").get_attribute("class").count("jp-mod-editMode") == 0
    assert page.text(".jp-Notebook .cm-content").startswith("from sklearn")  # no key reached the notebook


HOST = """
<style>{style}</style>
<div id="host"></div>
<script type="module">
{widget}
let state = {first};
const handlers = {{}};
const on = (name, act) => (handlers[name] = act);
const calls = {{ get: () => state, on, off: () => {{}}, send: (message) => sent.push(message) }};
const only = {{ get: (all, name) => all[name] ?? (() => {{ throw Error(`a host may not have model.${{name}}`); }})() }};
window.sent = [];
window.show = (next) => {{ state = next; handlers["change:state"](); }};
widget.render({{ model: new Proxy(calls, only), el: document.getElementById("host") }});
</script>
"""


class Host(Page):
    """A page that has only what a front end needs, and a widget behind it."""

    def __init__(self, browser: Any, folder: Path, session: Session, n: int = 2, **shown: Any) -> None:
        super().__init__(browser)
        self.widget, self.answered = session.widget(n), 0
        source = self.widget._esm.replace("export default", "const widget =")
        page = HOST.format(widget=source, first=json.dumps(self.widget.state | shown), style=str(self.widget._css))
        (folder / "host.html").write_text(page, encoding="utf-8")
        browser.get((folder / "host.html").as_uri())

    def exchange(self) -> int:
        """Hand the messages over that are new, and the state that follows each; how many there were."""
        messages = self.browser.execute_script("return sent")[self.answered :]
        for message in messages:
            self.widget._receive(self.widget, message, [])
            self.browser.execute_script("show(arguments[0])", self.widget.state)
        self.answered += len(messages)
        return len(messages)

    def type(self, name: str) -> None:
        self.find("#host input").send_keys(name, webdriver.Keys.ENTER)


def test_a_front_end_needs_only_get_on_off_and_send(browser: Any, tmp_path: Path) -> None:
    session = Session(["red car", "old wine", "red wine"], make_pipeline(CountVectorizer(), TransductiveSVC()))
    host = Host(browser, tmp_path, session)
    for name in ("ride", "drink"):
        host.type(name)
        assert host.exchange() == 1
    assert session.status().classes == {"ride": 1, "drink": 1}
    host.find("#host .shown").click()
    host.press("2")
    for key in "2n":
        host.press(key)  # before there is an answer
    early = "2 keys came before the next row, without effect: press again"
    assert host.text(".fewlabel .message") == early
    sent = browser.execute_script("return sent.slice(2)")
    assert sent == [{"do": "label", "value": "drink", "row": str(host.row()), "step": host.widget.state["step"]}]
    assert host.exchange() == 1
    assert host.text(".fewlabel .message") == early
    assert not host.find(".fewlabel .on")
    host.press("u")
    host.press("u")
    for _ in range(6):
        host.exchange()
        host.press("u")  # the last ones change nothing, and are answered all the same
    assert session._read().rows == {}
    assert "there is no answer to undo" in host.text(".fewlabel .message")
    host.exchange()
    held = "new KeyboardEvent('keydown', {key: 's', bubbles: true, repeat: true})"
    browser.execute_script(f"document.querySelector('.fewlabel').dispatchEvent({held})")
    assert host.exchange() == 0
    browser.execute_script("show({...arguments[0], busy: true})", host.widget.state)
    host.press("s")
    assert host.text(".fewlabel .message").endswith("a key came before the next row, without effect: press again")


def test_nothing_sticks_out_where_a_list_of_files_leaves_little_room(browser: Any, tmp_path: Path) -> None:
    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()), classes=["ride", "x" * 40])
    for row in range(16):
        session.next(1)
        session.label(row, "ride" if row % 2 else "drink")
    Host(browser, tmp_path, session)
    wider = """
        for (const all of document.querySelectorAll("details")) all.open = true;
        document.getElementById("host").style.width = "180px";
        const root = document.querySelector(".fewlabel"), edge = root.getBoundingClientRect().right;
        const out = [...root.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > edge);
        return out.map((one) => one.outerHTML);
    """
    assert browser.execute_script(wider) == []


def test_keys_are_found_on_every_keyboard_and_an_enter_that_ends_the_input_of_a_word_is_none(
    browser: Any, tmp_path: Path
) -> None:
    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()), classes=["ride", "drink"])
    host = Host(browser, tmp_path, session)

    def sent(css: str, **event: Any) -> Any:
        press = "show(arguments[2]), sent.length = 0; const field = document.querySelector(arguments[0]);"
        press += "field.value = 'ニホ'; const event = new KeyboardEvent('keydown', {bubbles: true, ...arguments[1]});"
        press += "field.dispatchEvent(event); return sent.map((one) => one.value ?? one.do)"
        return browser.execute_script(press, css, event, host.widget.state)

    for event, expected in (
        ({"key": "&", "code": "Digit1"}, ["ride"]),
        ({"key": "é", "code": "Digit2"}, ["drink"]),
        ({"key": "2", "code": "Digit2", "shiftKey": True}, ["drink"]),
        ({"key": "Ы", "code": "KeyS"}, ["skip"]),
        ({"key": "े", "code": "KeyS"}, ["skip"]),
        ({"key": "ี", "code": "KeyU"}, ["undo"]),
        ({"key": "s", "code": "KeyO"}, ["skip"]),
        ({"key": "Dead", "code": "KeyS"}, []),
        ({"key": "o", "code": "KeyS"}, []),
        ({"key": "!", "code": "Digit1", "shiftKey": True}, []),
        ({"key": "~", "code": "Digit2", "modifierAltGraph": True}, []),
        ({"key": "Process", "code": "KeyS", "keyCode": 229}, []),
    ):
        assert sent(".fewlabel", **event) == expected, event
    for css, expected in (
        ("#host input", "ニホ"),
        ("#host select + input", ["ride", "ニホ"]),
        ("#host .described input", ["ride", "ニホ"]),
    ):
        assert sent(css, key="Enter", isComposing=True) == sent(css, key="Enter", keyCode=229) == []
        assert sent(css, key="Enter") == [expected]


def test_label_forty_change_the_fifth_merge_two_classes_reload_and_go_on(browser: Any, tmp_path: Path) -> None:
    texts, topics = load_scipy_docs(("linalg", "signal"))
    session = Session(list(texts), make_pipeline(text_vectorizer(), TransductiveSVC(n_jobs=1)))
    host = Host(browser, tmp_path, session, n=10)

    def click(css: str) -> None:
        host.find(f"#host {css}").click()
        assert host.exchange() == 1

    for k in range(40):
        name = str(topics[host.row()])
        host.find("#host input").send_keys(name.title() if k > 20 and "Signal" not in session.classes else name)
        click("input + button")
        if host.find("#host .ask"):
            assert host.text("#host .ask").startswith(f"{name.title()}: is it the same as{name}")
            click(f".ask button:{'last-child' if name == 'signal' else 'first-of-type'}")
    assert set(session.classes) == {"linalg", "signal", "Signal"}
    fifth = [*session._read().known][4]
    host.find("#host summary").click()
    listed = browser.find_elements("css selector", "#host .answers > div")
    assert len(listed) == 40
    listed[-5].find_element("css selector", "button").click()
    assert host.exchange() == 1
    assert (host.row(), host.text("#host .thinks")) == (fifth, f"answer: {topics[fifth]}")
    assert host.find("#host .answers").is_displayed()  # it stays unfolded
    host.type("new topic")
    assert host.exchange() == 1
    assert session._read().known[fifth] == "new topic"
    browser.execute_script("document.querySelector('#host details:last-of-type').open = true")
    wait(lambda: host.find("#host select").is_displayed(), "fields for a new name")
    for merged in ("Signal", "new topic"):
        browser.execute_script("arguments[0].value = arguments[1]", host.find("#host select"), merged)
        host.find("#host select + input").send_keys("signal")
        click("select + input + button")
    assert (set(session.classes), len(session._read().known)) == ({"linalg", "signal"}, 40)
    host = Host(browser, tmp_path, session, n=10)  # the page anew
    host.find("#host .shown").click()
    host.press("1")
    assert host.exchange() == 1
    assert len(session._read().known) == 41


def test_whatever_fails_an_answer_is_for_what_is_on_the_screen(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()), classes=["ride", "drink"])
    host = Host(browser, tmp_path, session)
    host.find("#host .shown").click()
    for k in range(20):
        step = (Journal, "append"), (Session, "_fit"), (labeling_widget, "_content"), (labeling_widget, "explain"), None
        row, before = host.row(), session._read().rows
        with monkeypatch.context() as patch:
            if k % 5 < 4:
                patch.setattr(*step[k % 5], fails)
            host.press("2" if k % 2 else "1")
            host.press("s" if k % 10 == 9 else "2")
            host.exchange()
        given = {name: event for name, event in session._read().rows.items() if before.get(name) != event}
        assert [*given] in ([], [row])
        assert all(event["class"] == ("drink" if k % 2 else "ride") for event in given.values() if "class" in event)
        assert not browser.execute_script("return document.querySelector('.fewlabel').classList.contains('busy')")
        if host.text(".fewlabel .shown").startswith("this row cannot be shown"):
            assert not host.find(".fewlabel .buttons button").is_enabled()
            host.press("1")
            assert host.exchange() == 0
            host.press("s")
            assert host.exchange() == 1
    assert len(session._read().known) > 5


def test_a_class_that_another_widget_has_moved_is_answered_by_its_name(browser: Any, tmp_path: Path) -> None:
    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()))
    host = Host(browser, tmp_path, session, n=5)
    for name in ("ride", "drink"):
        host.type(name)
        host.exchange()
    session.undo()
    session.undo()
    session.label(15, "drink")
    session.label(14, "ride")  # the page shows ride before drink, as before
    assert session.classes == ["ride", "drink"]
    session.label(13, "ship")
    session.label(14, "ship")
    assert session.classes == ["drink", "ship"]
    row = host.row()
    host.find("#host .shown").click()
    host.press("2")
    host.exchange()
    assert session._read().known[row] == "drink"
    row = host.row()
    host.press("1")
    host.exchange()
    assert session._read().known[row] == "drink"


def test_what_the_browser_cannot_draw_is_not_answered(browser: Any, tmp_path: Path) -> None:
    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()), classes=["ride"])
    for shown in ({"image": "no image"}, {"text": None, "reasons": ["red"]}):
        host = Host(browser, tmp_path, session, **shown)
        wait(lambda: "this row cannot be shown" in host.text(".fewlabel .shown"), "message")  # noqa: B023
        host.find("#host .shown").click()
        host.press("1")
        host.type("drink")
        assert host.exchange() == 0
        host.find("#host .shown").click()
        host.press("s")
        assert host.exchange() == 1
        assert host.text(".fewlabel .shown") == TEXTS[host.row()]
    assert session._read().known == {}


def test_texts_are_drawn_as_texts(browser: Any, tmp_path: Path) -> None:
    session = Session(["<b>wine</b> " * 10_000, *TEXTS], make_pipeline(CountVectorizer(), TransductiveSVC()))
    history = [[2, 0.5, 0.4, 0.6], ["<img src=x>", 0.5, 0.4, 0.6]]
    text = "<i>wine</i>" + " wine" * 100_000
    host = Host(
        browser, tmp_path, session, text=text, reasons=["wine", "", "<i>", "a+("], history=history, message="<b>no</b>"
    )
    assert host.text(".fewlabel .shown") == text
    assert browser.execute_script("return document.querySelectorAll('.fewlabel mark').length") > 100_000
    assert host.text(".fewlabel .message") == "<b>no</b>"
    assert not browser.find_elements("css selector", ".fewlabel img, .fewlabel b, .fewlabel i")
    host.type("drink")
    assert host.exchange() == 1


def test_words_of_the_user_have_the_direction_of_their_script(browser: Any, tmp_path: Path) -> None:
    text, name = "יין אדום, 12%.", "משקה"
    session = Session([text, *TEXTS], make_pipeline(CountVectorizer(), TransductiveSVC()), classes=[name, "ride"])
    shown = {"text": text, "predicted": name, "reasons": ["יין"], "ask": [name, "ride"], "message": name, "row": name}
    host = Host(browser, tmp_path, session, **shown, answers=[[name, name, text]], descriptions=[text, "car"])
    find = """
      const found = [], all = document.createTreeWalker(document.querySelector(".fewlabel"), NodeFilter.SHOW_TEXT);
      const script = /[\u05d0-\u05ea]/;
      while (all.nextNode()) if (script.test(all.currentNode.data)) found.push(all.currentNode.parentElement);
      const fields = [...document.querySelectorAll(".fewlabel input")].filter((one) => (one.value ||= arguments[0]));
      return [...found, ...fields].map((one) => [one.outerHTML, getComputedStyle(one).direction])"""
    found = browser.execute_script(find, text)
    assert len(found) > 12
    assert [one for one, direction in found if direction != "rtl"] == []
    left = "return getComputedStyle(document.querySelector(arguments[0])).direction"
    assert browser.execute_script(left, ".fewlabel .buttons button:nth-child(2)") == "ltr"
    assert host.text(".fewlabel .thinks") == f"predicted: {name}: יין"


def test_descriptions_are_tooltips_that_can_be_edited(browser: Any, tmp_path: Path) -> None:
    names = {"ride": "<b>car</b>", "drink": "wine"}
    session = Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC()), descriptions=names)
    host = Host(browser, tmp_path, session)

    def titles() -> list[str]:
        found = "return [...document.querySelectorAll('#host .buttons:nth-child(4) > button')].map((one) => one.title)"
        return browser.execute_script(found)

    assert titles() == ["<b>car</b>", "wine", ""]  # the last one adds a class
    assert host.text(".fewlabel .thinks").startswith("predicted: ")
    host.find("#host details:last-of-type summary").click()
    select, field = host.find("#host select"), host.find("#host .described input")
    assert field.get_attribute("value") == "<b>car</b>"
    for key in ("drink", "ride"):
        Select(select).select_by_visible_text(key)
        assert field.get_attribute("value") == names[key]
    field.clear()
    field.send_keys("bus 12 nsu")  # no keys of the classes or of actions
    assert host.exchange() == 0
    field.send_keys(webdriver.Keys.ENTER)
    assert host.exchange() == 1
    assert session._read().descriptions == {"ride": "bus 12 nsu", "drink": "wine"}
    assert titles() == ["bus 12 nsu", "wine", ""]
    assert host.find("#host .described input").is_displayed()  # it stays unfolded
    host.find("#host .shown").click()
    host.press("u")
    assert host.exchange() == 1
    assert titles() == ["<b>car</b>", "wine", ""]
    assert not browser.find_elements("css selector", ".fewlabel b")
    vectors = Session([[0.0, 1.0], [1.0, 0.0]], TransductiveSVC(), descriptions={"up": [0, 1], "right": [1, 0]})
    host = Host(browser, tmp_path, vectors)
    assert (titles(), host.find("#host .described")) == (["", "", ""], None)
    assert host.text("#host details:last-of-type summary") == "rename or merge classes"
