"""The backend for Label Studio, by the requests that Label Studio sends."""

from __future__ import annotations

import importlib.util
import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fewlabel.datasets import load_scipy_docs

FILE = Path(__file__).parents[2] / "examples" / "label_studio.py"
CHOICES = '<Choices name="area" toName="doc"><Choice value="linalg"/></Choices>'
SCHEMA = f'<View><Text name="doc" value="$text"/>{CHOICES}</View>'
TEXTS, TOPICS = load_scipy_docs(("linalg", "signal", "stats"))
TASKS = [{"id": 100 + k, "data": {"text": text}, "project": 7} for k, text in enumerate(TEXTS)]
Client = Callable[..., tuple[int, dict[str, Any]]]


spec = importlib.util.spec_from_file_location("label_studio_backend", FILE)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    backend = module.Backend([{"data": task["data"]} for task in TASKS], "text", tmp_path / "answers.jsonl")
    server = module.server(backend, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def call(path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/{path}", data, headers)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    yield call
    server.shutdown()
    server.server_close()
    thread.join()


def predicted(client: Client, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """What Label Studio does with a prediction, and refuses."""
    params = {"login": "", "password": "", "context": None}
    _, found = client("predict", {"tasks": tasks, "project": "7.1700000000", "label_config": SCHEMA, "params": params})
    assert len(found["results"]) == len(tasks)
    for one in found["results"]:
        assert 0 <= one["score"] <= 1
        assert one["model_version"] == found["model_version"]
        for part in one["result"]:
            assert set(part) == {"from_name", "to_name", "type", "value"}
            assert (part["from_name"], part["to_name"], part["type"]) == ("area", "doc", "choices")
            assert isinstance(part["value"]["choices"][0], str)
    return found


def test_tasks_are_ordered_and_predicted_after_answers(client: Client) -> None:
    assert client("health") == (200, {"status": "UP", "model_class": "fewlabel"})
    setup = {"project": "7.1700000000", "schema": SCHEMA, "hostname": "", "access_token": "", "extra_params": None}
    assert client("setup", setup) == (200, {"model_version": "0 labels"})
    assert all(one["result"] == [] for one in predicted(client, TASKS[:5])["results"])
    for _ in range(3):
        results = predicted(client, TASKS)["results"]
        for k in sorted(range(len(TASKS)), key=lambda k: results[k]["score"])[:10]:
            choices = {"from_name": "area", "to_name": "doc", "type": "choices", "value": {"choices": [str(TOPICS[k])]}}
            answer = {"id": k, "result": [choices], "was_cancelled": False}
            body = {"action": "ANNOTATION_CREATED", "task": TASKS[k], "annotation": answer, "project": {"id": 7}}
            assert client("webhook", body)[0] == 200
    found = predicted(client, TASKS)
    assert found["model_version"] == "30 labels"
    right = [
        one["result"][0]["value"]["choices"][0] == topic for one, topic in zip(found["results"], TOPICS, strict=True)
    ]
    assert sum(right) > 0.8 * len(TASKS)
    assert "30 labels of" in client("webhook", {"action": "START_TRAINING", "project": {"id": 7}})[1]["status"]


def test_other_requests_are_refused_and_change_nothing(client: Client) -> None:
    assert client("versions")[0] == 404
    assert client("setup", {"schema": "<View/>"}) == (
        400,
        {"error": "ValueError: the labeling interface needs one <Choices>, or --choices with its name; it has none"},
    )
    assert client("predict", {})[0] == 400
    stranger = [{"id": 1, "data": {"text": "of another project"}, "project": 7}]
    assert predicted(client, stranger)["results"][0]["result"] == []
    skipped = {"result": [], "was_cancelled": True}
    assert client("webhook", {"action": "ANNOTATION_CREATED", "task": TASKS[0], "annotation": skipped})[0] == 200
    assert client("webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})[0] == 200
    assert "1 skipped" in client("webhook", {"action": "START_TRAINING"})[1]["status"]


def choice(*names: str, control: str = "area") -> dict[str, Any]:
    return {"from_name": control, "to_name": "doc", "type": "choices", "value": {"choices": [*names]}}


GRAIN, OTHER = [choice("grain")], choice("bad", control="quality")


@pytest.mark.parametrize(
    ("action", "message", "expected"),
    [
        ("CREATED", {"result": GRAIN}, ({"grain": 1}, 0)),
        ("CREATED", {"result": [OTHER, *GRAIN]}, ({"grain": 1}, 0)),
        ("CREATED", {"result": GRAIN, "was_cancelled": True}, ({}, 1)),
        ("UPDATED", {"result": GRAIN, "was_cancelled": True}, ({}, 1)),
        ("CREATED", {"result": [choice("grain", "money")], "was_cancelled": True}, ({}, 1)),
        ("CREATED", {"result": [OTHER]}, ({}, 1)),
        ("CREATED", {"result": [choice()]}, ({}, 1)),
        ("CREATED", {"result": None, "was_cancelled": True}, ({}, 1)),
        ("CREATED", {"result": [choice("grain", "money")]}, "one class, got the choices .'grain', 'money'"),
        ("CREATED", {"result": [*GRAIN, choice("money")]}, "one class, got the choices .'grain', 'money'"),
        ("DELETED", {"result": GRAIN}, ({}, 0)),
    ],
)
def test_a_message_is_read_by_all_its_fields(tmp_path: Path, action: str, message: Any, expected: Any) -> None:
    backend = module.Backend(TASKS[::40], "text", tmp_path / "answers.jsonl")
    backend.setup({"schema": SCHEMA, "project": "7.1700000000"})
    request = {"action": f"ANNOTATION_{action}", "task": TASKS[0], "annotation": message}
    backend.webhook(request | {"project": {"id": 8}})
    assert backend.session._read().rows == {}
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            backend.webhook(request)
        expected = {}, 0
    else:
        backend.webhook(request | {"project": {"id": 7}})
    status = backend.session.status()
    assert (status.classes, status.n_skipped) == expected


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"annotation": ...}, "'annotation' must be an object or a list, which the message lacks"),
        ({"annotation": None}, "'annotation' must be an object or a list, got None"),
        ({"annotation": [{}]}, "'task' must be a list, got {"),
        ({"annotation": [{}, {}], "task": TASKS[:1]}, "'task' has 1 entries, but 'annotation' 2"),
        ({"annotation": [7], "task": TASKS[:1]}, "7 must be an object that has 'task'"),
        ({"annotation": {"result": "grain"}}, "'result' must be a list or null, got 'grain'"),
        ({"annotation": {"result": ["grain"]}}, "'grain' must be an object that has 'type'"),
        ({"annotation": {"result": [{"type": "choices"}]}}, "'from_name' must be a text, which the message lacks"),
        ({"annotation": {"result": [choice() | {"value": ["grain"]}]}}, "'value' must be an object, got"),
        ({"annotation": {"result": [choice() | {"value": {"choices": "grain"}}]}}, "'choices' must be a list, got"),
        ({"annotation": {"result": [choice(None)]}}, "'choices' must hold texts, got None"),
        ({"annotation": {"result": [choice(True)]}}, "'choices' must hold texts, got True"),
        ({"annotation": {"result": GRAIN, "was_cancelled": "false"}}, "'was_cancelled' must be true or false or null"),
        ({"annotation": {"result": GRAIN, "task": [1]}}, "'task' must be a number or a text or null"),
        ({"action": ...}, "'action' must be a text, which the message lacks"),
        ({"action": 3}, "'action' must be a text, got 3"),
        ({"project": 7}, "'project' must be an object or null, got 7"),
        ({"task": ...}, "'task' must be an object, which the message lacks"),
        ({"task": {"id": 1}}, "'data' must be an object, which the message lacks"),
        ({"task": {"data": {"title": "a"}}}, "no task of the session has the text '', as 'text' of 'data'"),
        ({"task": {"data": {"text": "another"}}}, "no task of the session has the text 'another'"),
    ],
)
def test_parts_of_a_message_that_are_missing_or_of_another_kind_are_named(
    tmp_path: Path, message: dict[str, Any], found: str
) -> None:
    backend = module.Backend(TASKS[::40], "text", tmp_path / "answers.jsonl")
    right = {"action": "ANNOTATION_CREATED", "task": TASKS[0], "annotation": {"result": GRAIN}, "project": {"id": 7}}
    with pytest.raises(ValueError, match=re.escape(found)):
        backend.webhook({name: one for name, one in (right | message).items() if one is not ...})
    assert backend.session.status().classes == {}
    backend.webhook(right)
    assert backend.session.status().classes == {"grain": 1}


@pytest.mark.parametrize(
    ("call", "message", "found"),
    [
        ("setup", {}, "'schema' must be a text, which the message lacks"),
        ("setup", {"schema": "<View>"}, "'schema' must be XML"),
        ("setup", {"schema": "<Choices name='a'/>"}, "'schema' must be XML, with <Choices"),
        ("setup", {"schema": SCHEMA, "project": 7}, "'project' must be a text or null, got 7"),
        ("predict", {"tasks": TASKS[0]}, "'tasks' must be a list, got"),
        ("predict", {"tasks": [{"id": 1}]}, "'data' must be an object, which the message lacks"),
        ("predict", [], "[] must be an object that has 'tasks'"),
        ("webhook", [], "[] must be an object that has 'action'"),
    ],
)
def test_other_messages_are_told_what_they_lack(client: Client, call: str, message: Any, found: str) -> None:
    status, answer = client(call, message)
    assert status == 400
    assert answer["error"].startswith(f"ValueError: {found}")


def test_tasks_of_one_text_have_one_answer_and_answers_may_come_together(tmp_path: Path) -> None:
    texts = [3, *TEXTS[:20], 3, TEXTS[4]]
    tasks = [{"id": k, "data": {"text": text}} for k, text in enumerate(texts)]
    backend = module.Backend(tasks, "text", tmp_path / "answers.jsonl")
    found = [{"result": GRAIN, "task": 5}, {"result": [choice("a", "b")]}, {"was_cancelled": True, "task": 0}]
    request = {"action": "ANNOTATIONS_CREATED", "task": [tasks[0], tasks[2], tasks[5]], "annotation": found}
    with pytest.raises(ValueError, match="got the choices"):
        backend.webhook(request)
    answers = backend.session._read().rows
    assert {row: answer.get("class") for row, answer in answers.items()} == {0: None, 5: "grain", 21: None, 22: "grain"}
    assert {0, 5, 21, 22}.isdisjoint(backend.session.next(30))
    assert {0, 5, 21, 22} == {*range(23)} - {*backend.session.next(30)}


def test_an_annotation_of_another_task_is_refused_and_no_other_is_lost(tmp_path: Path) -> None:
    tasks = [{"id": 100 + k, "data": {"text": text}} for k, text in enumerate(TEXTS[:20])]
    backend = module.Backend(tasks, "text", tmp_path / "answers.jsonl")
    found = [{"result": GRAIN, "task": 7}, {"result": [{"value": {}}], "task": 101}, {"result": GRAIN, "task": "102"}]
    refused = "an annotation is of task 7, but the message has 100, 101, 102; 'type' must be a text, which"
    with pytest.raises(ValueError, match=refused):
        backend.webhook({"action": "ANNOTATIONS_CREATED", "task": tasks[:3], "annotation": found})
    assert {row: answer.get("class") for row, answer in backend.session._read().rows.items()} == {2: "grain"}


def test_of_several_choices_one_is_named(tmp_path: Path) -> None:
    schema = SCHEMA.replace("</View>", CHOICES.replace("area", "quality") + "</View>")
    backend = module.Backend(TASKS[::40], "text", tmp_path / "answers.jsonl")
    with pytest.raises(ValueError, match="needs one <Choices>, or --choices with its name; it has area, quality"):
        backend.setup({"schema": schema})
    backend = module.Backend(TASKS[::40], "text", tmp_path / "answers.jsonl", "area")
    backend.webhook({"action": "ANNOTATION_CREATED", "task": TASKS[0], "annotation": {"result": [OTHER, *GRAIN]}})
    backend.setup({"schema": schema})
    assert backend.names == ("area", "doc")
    assert backend.session.status().classes == {"grain": 1}


def test_the_answer_of_a_second_annotator_changes_none(tmp_path: Path) -> None:
    backend = module.Backend(TASKS[::40], "text", tmp_path / "answers.jsonl")
    request = {"action": "ANNOTATION_CREATED", "task": TASKS[0]}
    for who in (1, 2, 1):  # who agree
        backend.webhook(request | {"annotation": {"result": GRAIN, "completed_by": who}})
    for second in {"result": [choice("money")], "completed_by": 2}, {"was_cancelled": True, "completed_by": 2}:
        with pytest.raises(ValueError, match="annotator 2 differs from annotator 1, whose 'grain' stands"):
            backend.webhook(request | {"annotation": second})
    assert backend.session.status().classes == {"grain": 1}
    backend.webhook(request | {"annotation": {"result": [choice("money")], "completed_by": 1}})
    assert backend.session.status().classes == {"money": 1}
