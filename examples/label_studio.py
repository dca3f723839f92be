"""A backend for Label Studio: it orders the tasks as a labeling session does, and predicts their classes.

python examples/label_studio.py tasks.json answers.jsonl --port 9090

tasks.json is the file that was imported into the project, a list of tasks, which has one <Text>, and one <Choices> or
--choices.
Answers come by a webhook to /webhook, and are kept in answers.jsonl.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from numbers import Real
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sklearn.pipeline import make_pipeline

from fewlabel import TransductiveSVC
from fewlabel.labeling import Session
from fewlabel.preprocessing import text_vectorizer

BATCH = 10  # answers between two fits
AHEAD = 100  # tasks that are in order
KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", Real: "a number", type(None): "null"}
ANSWERS = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")  # the second one has lists


def part(message: Any, name: str, *kinds: type) -> Any:
    """A part of a message, None if it is not there and may be null; a ValueError if it is of none of these kinds."""
    if not isinstance(message, dict):
        raise ValueError(f"{message!r:.60} must be an object that has {name!r}")
    if not isinstance(value := message.get(name), kinds):
        found = f"got {value!r:.60}" if name in message else "which the message lacks"
        raise ValueError(f"{name!r} must be {' or '.join(map(KINDS.__getitem__, kinds))}, {found}")
    return value


class Backend:
    """A session over the texts of a project; tasks are found by their texts, those of the same text together."""

    def __init__(self, tasks: list[dict[str, Any]], field: str, answers: Path, choices: str | None = None) -> None:
        self.choices, self.authors = choices, dict[str, Any]()  # who has given the answer of a text, since the start
        self.field, self.texts = field, [str(part(task.get("data", task), field, str, Real)) for task in tasks]
        self.session = Session(self.texts, make_pipeline(text_vectorizer(), TransductiveSVC()), path=answers)
        self.names: tuple[str, str] | None = None  # of the tags <Choices> and <Text>
        self.project: str | None = None
        self.fit()

    def fit(self) -> None:
        """Order the texts, and predict, by the answers so far."""
        self.order: dict[str, int] = {}
        for place, row in enumerate(self.session.next(AHEAD)):
            self.order.setdefault(self.texts[row], place)
        self.predicted = dict(zip(self.texts, self.session.to_frame()["predicted"], strict=True))
        self.fitted = sum(self.session.status().classes.values())
        self.version = f"{self.fitted} labels"

    def health(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"status": "UP", "model_class": "fewlabel"}

    def setup(self, request: dict[str, Any]) -> dict[str, Any]:
        """The project is connected: `schema` is its labeling interface."""
        try:
            found = [*ElementTree.fromstring(part(request, "schema", str)).iter("Choices")]
            every = {each.attrib["name"]: each for each in found if each.attrib["toName"]}
        except (ElementTree.ParseError, KeyError) as reason:
            raise ValueError(f"'schema' must be XML, with <Choices name=... toName=...>: {reason}") from reason
        name = self.choices or next(iter(every), None)
        if name not in every or (not self.choices and len(every) > 1):
            wanted = f"<Choices> named {self.choices}" if self.choices else "one <Choices>, or --choices with its name"
            raise ValueError(f"the labeling interface needs {wanted}; it has {', '.join(every) or 'none'}")
        self.names = name, every[name].attrib["toName"]
        self.project = (part(request, "project", str, type(None)) or "").partition(".")[0] or None
        return {"model_version": self.version}

    def predict(self, request: dict[str, Any]) -> dict[str, Any]:
        """A prediction for each task. The lower its score, the sooner it is worth a label."""
        texts = [str(part(task, "data", dict).get(self.field, "")) for task in part(request, "tasks", list)]
        results = [*map(self.prediction, texts)]
        return {"results": results, "model_version": self.version}

    def prediction(self, text: str) -> dict[str, Any]:
        label = self.predicted.get(text)
        from_name, to_name = self.names or ("label", "text")
        result = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": {"choices": [label]}}
        score = self.order.get(text, AHEAD) / AHEAD
        return {"result": [] if label is None else [result], "score": score, "model_version": self.version}

    def webhook(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep answers; refit after each BATCH of them, and when the user presses "Start Training"."""
        action, sender = part(request, "action", str), part(request, "project", dict, type(None)) or {}
        project, refused = str(sender.get("id", self.project)), []
        if action in ANSWERS and project == str(self.project or project):
            annotations = part(request, "annotation", dict, list)
            tasks = part(request, "task", type(annotations))
            if isinstance(annotations, dict):
                tasks, annotations = [tasks], [annotations]
            if len(tasks) != len(annotations):
                raise ValueError(f"'task' has {len(tasks)} entries, but 'annotation' {len(annotations)}")
            named = {str(task["id"]): task for task in tasks if isinstance(task, dict) and "id" in task}
            for task, annotation in zip(tasks, annotations, strict=True):
                try:
                    own = part(annotation, "task", Real, str, type(None))
                    own = part(task, "id", Real, str, type(None)) if own is None else own
                    if named and str(own) not in named:
                        raise ValueError(f"an annotation is of task {own}, but the message has {', '.join(named)}")
                    self.answer(named.get(str(own), task), annotation)
                except ValueError as reason:
                    refused.append(str(reason))
        new = sum(self.session.status().classes.values()) - self.fitted
        if new >= BATCH or action == "START_TRAINING":
            self.fit()
        if refused:
            raise ValueError("; ".join(refused))
        return {"model_version": self.version, "status": str(self.session.status())}

    def answer(self, task: dict[str, Any], annotation: dict[str, Any]) -> None:
        """Keep the one choice of an annotation for every row with this text; without one the rows are skipped.

        The class that another annotator has given stands.
        """
        cancelled = part(annotation, "was_cancelled", bool, type(None))
        given = None if cancelled else part(annotation, "result", list, type(None))
        found = [one for one in given or () if part(one, "type", str) == "choices"]
        names = [(part(one, "from_name", str), part(one, "to_name", str)) for one in found]
        found = [one for one, its in zip(found, names, strict=True) if self.names in (None, its)]
        found = [one for one in found if self.choices in (None, one["from_name"])]
        chosen = [name for one in found for name in part(part(one, "value", dict), "choices", list)]
        if wrong := [name for name in chosen if not isinstance(name, str)]:
            raise ValueError(f"'choices' must hold texts, got {wrong[0]!r:.60}")
        if len(chosen) > 1:
            raise ValueError(f"a task has one class, got the choices {chosen}")
        text = str(part(task, "data", dict).get(self.field, ""))
        rows, y = [row for row, known in enumerate(self.texts) if known == text], self.session.y
        if not rows:
            raise ValueError(f"no task of the session has the text {text!r:.60}, as {self.field!r} of 'data'")
        who, first = annotation.get("completed_by"), self.authors.get(text)
        if None not in (who, first) and who != first and y[rows[0]] not in (None, *chosen):
            raise ValueError(f"annotator {who} differs from annotator {first}, whose {y[rows[0]]!r} stands")
        self.authors[text] = who if chosen else None
        for row in rows:
            self.session.label(row, chosen[0]) if chosen else self.session.skip(row)


def server(backend: Backend, host: str, port: int) -> HTTPServer:
    """What Label Studio calls, one request at a time."""
    calls = {"/": backend.health, "/health": backend.health, "/setup": backend.setup, "/predict": backend.predict,
             "/webhook": backend.webhook}  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            call = calls.get(self.path.rstrip("/") or "/")
            try:
                body = self.rfile.read(max(0, int(self.headers.get("Content-Length") or 0)))
                status, answer = (200, call(json.loads(body or "{}"))) if call else (404, {"error": self.path})
            except (ValueError, LookupError, AttributeError, TypeError, OSError, RecursionError) as reason:
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
    parser.add_argument("--choices", help="name of the <Choices> that has the classes, where there are several")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9090)
    given = parser.parse_args()
    backend = Backend(json.loads(given.tasks.read_text(encoding="utf-8")), given.field, given.answers, given.choices)
    print(f"for Label Studio: http://{given.host}:{given.port}, {backend.version}", flush=True)
    server(backend, given.host, given.port).serve_forever()
