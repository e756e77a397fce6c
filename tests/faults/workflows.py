"""What is played with every fault: a run and its end, one that a crash has spoiled in every way, talks, an eval.

A story is told by the outside alone: requests, messages that are lost, time that passes. `play` answers the run.
"""

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.messages import RunRef
from cupel_core.store import runs
from tests.faults.harness import WORKSPACE, Stage

MODEL = "custom/bench"
_PATIENCE_SECONDS = 60
_BREATH_SECONDS = 0.2


@dataclass(frozen=True)
class Given:
    """What the stories are played with."""

    stage: Stage
    token: str
    large: str
    """A definition of 200 scenarios."""
    talks: str
    """A definition of six scenarios with two turns each, and a judge."""
    eval_id: str
    """Of six conversations of two turns, each judged, with the user played by a model in between."""

    def start(self, definition_id: str) -> Run:
        body = {"definitionId": definition_id, "models": [MODEL]}
        answer = self.stage.request(self.token, "POST", "/v1/runs", body, key=str(uuid.uuid4()))
        return self.read(str(answer["run"]["id"]))

    def start_eval(self) -> Run:
        answer = self.stage.request(self.token, "POST", f"/v1/evals/{self.eval_id}/runs", {}, key=str(uuid.uuid4()))
        return self.read(str(answer["run"]["id"]))

    def read(self, run_id: str) -> Run:
        return runs.get(RunRef(WORKSPACE, run_id))

    def end(self, run: Run) -> Run:
        """The run at its end: all is delivered, and where that is not enough time passes and the sweeper comes."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.stage.deliver_all()
            self.stage.await_machine()
            run = self.read(run.id)
            if run.status in TERMINAL:
                break
            self.stage.let_time_pass(run)
            self.stage.sweep()
            time.sleep(_BREATH_SECONDS)
        self.stage.let_time_pass(run)
        self.stage.deliver_all()  # Whatever comes late changes nothing.
        return self.read(run.id)


def _run(given: Given) -> Run:
    return given.end(given.start(given.large))


def _talk(given: Given) -> Run:
    return given.end(given.start(given.talks))


def _judged(given: Given) -> Run:
    return given.end(given.start_eval())


def _spoiled(given: Given) -> Run:
    """The order to dispatch is lost, a message is lost, another dead; the errored probes are retried."""
    stage, run = given.stage, given.start(given.large)
    stage.empty("dispatch")
    stage.let_time_pass(run)
    stage.sweep()
    while stage.deliver("dispatch"):
        pass
    _lose(stage)
    _kill(stage)
    stage.deliver_all()
    for _ in range(2):
        stage.sweep()
        stage.let_time_pass(run)
    run = given.end(run)
    if run.settled and run.settled.failed:
        stage.request(given.token, "POST", f"/v1/runs/{run.id}/retry", {})
        run = given.end(given.read(run.id))
    return run


def _lose(stage: Stage) -> None:
    message = stage.receive("probe-custom")
    if message:
        stage.delete("probe-custom", message)


def _kill(stage: Stage) -> None:
    """As SQS does with a message that was received too often."""
    message = stage.receive("probe-custom")
    if message:
        body = json.loads(message["Body"])
        stage.bury(json.dumps(body | {"indexes": body["indexes"][:10]}))
        stage.delete("probe-custom", message)


class Story(NamedTuple):
    play: Callable[[Given], Run]
    functions: frozenset[str]
    """Whose calls are failed in it."""
    calls: int
    """To models, when nothing fails."""


STORIES = {
    "run": Story(_run, frozenset({"authorize", "api", "dispatch", "probe", "finish"}), 200),
    "spoiled": Story(_spoiled, frozenset({"api", "dispatch", "sweep"}), 200),
    "talk": Story(_talk, frozenset({"probe", "finish"}), 6 * 2 + 6),
    "judged": Story(_judged, frozenset({"api", "probe"}), 6 * (2 + 2 + 1)),
}
