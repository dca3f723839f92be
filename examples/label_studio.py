"""A backend for Label Studio: it orders the tasks as a labeling session does, and predicts their classes.

python examples/label_studio.py tasks.json answers.jsonl --port 9090

tasks.json is the file that was imported into the project, a list of tasks, which has one <Text> and one <Choices>.
Answers come by a webhook to /webhook, and are kept in answers.jsonl.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sklearn.pipeline import make_pipeline

from fewlabel import TransductiveSVC
from fewlabel.labeling import Session
from fewlabel.preprocessing import text_vectorizer

BATCH = 10  # answers between two fits
AHEAD = 100  # tasks that are in order


class Backend:
    """A session over the texts of a project; tasks are found by their texts."""

    def __init__(self, tasks: list[dict[str, Any]], field: str, answers: Path) -> None:
        self.field = field
        texts = [task.get("data", task)[field] for task in tasks]
        self.rows = {text: row for row, text in enumerate(texts)}
        self.session = Session(texts, make_pipeline(text_vectorizer(), TransductiveSVC()), path=answers)
        self.names = ("label", "text")  # of the tags <Choices> and <Text>
        self.fit()

    def fit(self) -> None:
        """Order the rows, and predict, by the answers so far."""
        self.order = {row: place for place, row in enumerate(self.session.next(AHEAD))}
        self.predicted = self.session.to_frame()["predicted"]
        self.fitted = sum(self.session.status().classes.values())
        self.version = f"{self.fitted} labels"

    def health(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"status": "UP", "model_class": "fewlabel"}

    def setup(self, request: dict[str, Any]) -> dict[str, Any]:
        """The project is connected: `schema` is its labeling interface."""
        choices = next(ElementTree.fromstring(request["schema"]).iter("Choices"), None)
        if choices is None:
            raise ValueError("the labeling interface has no <Choices>")
        self.names = choices.attrib["name"], choices.attrib["toName"]
        return {"model_version": self.version}

    def predict(self, request: dict[str, Any]) -> dict[str, Any]:
        """A prediction for each task. The lower its score, the sooner it is worth a label."""
        results = [self.prediction(self.rows.get(task["data"].get(self.field))) for task in request["tasks"]]
        return {"results": results, "model_version": self.version}

    def prediction(self, row: int | None) -> dict[str, Any]:
        label = None if row is None else self.predicted[row]
        from_name, to_name = self.names
        result = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": {"choices": [label]}}
        score = self.order.get(row, AHEAD) / AHEAD
        return {"result": [] if label is None else [result], "score": score, "model_version": self.version}

    def webhook(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep an answer; refit after each BATCH of them, and when the user presses "Start Training"."""
        if request["action"] in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"):
            self.answer(request["task"], request["annotation"])
        new = sum(self.session.status().classes.values()) - self.fitted
        if new >= BATCH or request["action"] == "START_TRAINING":
            self.fit()
        return {"model_version": self.version, "status": str(self.session.status())}

    def answer(self, task: dict[str, Any], annotation: dict[str, Any]) -> None:
        row = self.rows.get(task["data"].get(self.field))
        chosen = [one["value"]["choices"] for one in annotation["result"] if one["type"] == "choices"]
        if row is not None and chosen:
            self.session.label(row, chosen[0][0])
        elif row is not None and annotation.get("was_cancelled"):
            self.session.skip(row)


def server(backend: Backend, host: str, port: int) -> HTTPServer:
    """What Label Studio calls, one request at a time."""
    calls = {"/": backend.health, "/health": backend.health, "/setup": backend.setup, "/predict": backend.predict,
             "/webhook": backend.webhook}  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            call = calls.get(self.path.rstrip("/") or "/")
            try:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, answer = (200, call(json.loads(body or "{}"))) if call else (404, {"error": self.path})
            except (ValueError, KeyError, TypeError, OSError) as reason:
                status, answer = 400, {"error": f"{type(reason).__name__}: {reason}"}
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

    return HTTPServer((host, port), Handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--field", default="text", help="of the data of a task, that has its text")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9090)
    given = parser.parse_args()
    backend = Backend(json.loads(given.tasks.read_text(encoding="utf-8")), given.field, given.answers)
    print(f"for Label Studio: http://{given.host}:{given.port}, {backend.version}", flush=True)
    server(backend, given.host, given.port).serve_forever()
