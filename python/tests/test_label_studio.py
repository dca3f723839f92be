"""The backend for Label Studio, by the requests that Label Studio sends."""

from __future__ import annotations

import importlib.util
import json
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


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    spec = importlib.util.spec_from_file_location("label_studio_backend", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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
        {"error": "ValueError: the labeling interface has no <Choices>"},
    )
    assert client("predict", {})[0] == 400
    stranger = [{"id": 1, "data": {"text": "of another project"}, "project": 7}]
    assert predicted(client, stranger)["results"][0]["result"] == []
    skipped = {"result": [], "was_cancelled": True}
    assert client("webhook", {"action": "ANNOTATION_CREATED", "task": TASKS[0], "annotation": skipped})[0] == 200
    assert client("webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})[0] == 200
    assert "1 skipped" in client("webhook", {"action": "START_TRAINING"})[1]["status"]
