"""The fault matrix: every AWS call of every function fails once before and once after its effect, one at a time.

`python -m tests.faults --endpoint http://127.0.0.1:4566` in an embedded cloud with a deployed stack. First each story
is played without faults, which tells the calls there are; then once with each fault. `--only` plays one again.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import httpx

from tests.conftest import ROOT
from tests.eval_api import RATING

# tests.conftest forbids every way out; this is the one that is wanted.
from tests.faults.cloud import Cloud
from tests.faults.hooks import Call, Fault, Faults, When

MOST_OF_A_KIND = 40
"""Of calls that a function makes again and again, such as looks at empty queues, so many are failed, evenly spread."""
IN_FLIGHT = 50
"""Calls to models that a worker may have to repeat when it is stopped."""


_VERDICT = {"failureMet": False, "confidence": 1, "reasoning": "by its words"}
_SCRIPT = [
    {"model": "strict", "contains": "go on", "reply": {"successMet": True, **_VERDICT}},
    {"model": "strict", "reply": {"successMet": False, **_VERDICT}},
    {"model": "user", "reply": {"content": "go on"}},
]


class Played(NamedTuple):
    story: str
    fault: Fault | None
    wrong: list[str]
    extra_calls: int
    seconds: float
    struck: bool

    def __str__(self) -> str:
        stands = "BROKEN" if self.wrong else "ok" if self.struck or not self.fault else "missed"
        told = f"{stands:<7}{self.seconds:5.1f} s {self.extra_calls:+4d} calls  {self.story} {self.fault or 'as it is'}"
        return f"{told}: {'; '.join(self.wrong)}" if self.wrong else told


class Theatre:
    """Everything set up to play a story with a fault."""

    def __init__(self, endpoint: str, name: str, models: str) -> None:
        cloud = Cloud(endpoint, name)
        cloud.create()
        cloud.install()
        # Only now: what they import reads the environment.
        from tests.faults.harness import WORKSPACE, Stage
        from tests.faults.workflows import Given

        self._models = models
        self.faults = Faults()
        stage = Stage(cloud, self.faults)
        token = _token(WORKSPACE)
        stage.request(token, "PUT", "/v1/providers/custom", {"baseUrl": f"{models}/v1", "maxParallelRequests": 50})
        judged = {"followUps": ["Why?"], "decision": {"rubric": "1 is no, 5 is yes.", "judgeModel": "custom/judge"}}
        httpx.post(f"{models}/configure", json={"script": _SCRIPT}).raise_for_status()
        self.given = Given(
            stage=stage,
            token=token,
            large=_definition(stage, token, RATING, 200),
            talks=_definition(stage, token, judged, 6),
            eval_id=_eval(stage, token),
        )
        self.faults.attach()

    def play(self, name: str, fault: Fault | None) -> Played:
        from tests.faults.checks import violations
        from tests.faults.harness import DEAD, QUEUES
        from tests.faults.workflows import STORIES

        story, stage, began = STORIES[name], self.given.stage, time.monotonic()
        stage.empty(*QUEUES, DEAD)
        httpx.post(f"{self._models}/reset").raise_for_status()
        self.faults.arm(fault)
        try:
            wrong = violations(story.play(self.given))
        except AssertionError as failure:
            wrong = [str(failure)]
        calls = int(httpx.get(f"{self._models}/counts").json()["requests"])
        extra = calls - story.calls
        allowed = 0 if fault is None else IN_FLIGHT if fault.call.function in ("probe", "finish") else 0
        if not 0 <= extra <= allowed:
            wrong.append(f"models were called {calls} times for {story.calls} answers")
        return Played(name, fault, wrong, extra, time.monotonic() - began, self.faults.struck)

    def close(self) -> None:
        from cupel_core import event_loop
        from cupel_core.providers import http

        event_loop.run(http.close())

    def faults_of(self, name: str) -> list[Fault]:
        """After a story was played without faults: those it can be played with."""
        from tests.faults.workflows import STORIES

        calls = [call for call in self.faults.calls() if call.function in STORIES[name].functions]
        return [Fault(call, when) for call, when in product(_thinned(calls), When)]


def _thinned(calls: list[Call]) -> Iterator[Call]:
    most = Counter((call.function, call.operation) for call in calls)
    for call in calls:
        step = max(1, most[call.function, call.operation] / MOST_OF_A_KIND)
        if int((call.number - 1) % step) == 0:
            yield call


def _one_of_each(faults: list[Fault]) -> list[Fault]:
    """The first call of every kind, failed before and after in turn."""
    kinds: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        if fault.when == list(When)[len(kinds) % 2]:
            kinds.setdefault((fault.call.function, fault.call.operation), fault)
    return list(kinds.values())


def _token(workspace: str) -> str:
    from cupel_core.access import tokens
    from cupel_core.clock import utc_now
    from cupel_core.domain.access import Role

    return tokens.issue(workspace, Role.ADMIN, "faults", utc_now()).secret


def _definition(stage: Any, token: str, content: dict[str, Any], scenarios: int) -> str:
    created = stage.request(token, "POST", "/v1/definitions", {"name": f"{scenarios} scenarios", "content": content})
    items = [{"prompt": f"Question {n}: rate it."} for n in range(scenarios)]
    stage.request(token, "POST", f"/v1/definitions/{created['id']}/scenarios", {"items": items})
    return str(created["id"])


def _eval(stage: Any, token: str) -> str:
    """Three scenarios, each played by two personas, and a judge who is content after the second answer."""
    personas = [stage.request(token, "POST", "/v1/personas", {"name": name})["id"] for name in ("Ada", "Bob")]
    content = {"name": "judged", "content": {"system": "Be kind."}}
    definition = stage.request(token, "POST", "/v1/definitions", content)
    items = [{"prompt": f"Ask {n}", "successCriteria": "it is told", "personaIds": personas} for n in range(3)]
    added = stage.request(token, "POST", f"/v1/definitions/{definition['id']}/scenarios", {"items": items})
    body = {"name": "judged", "model": "custom/bench", "scenarioIds": added["ids"]}
    judges = {"judgeModel": "custom/strict", "personaModel": "custom/user"}
    return str(stage.request(token, "POST", "/v1/evals", body | judges)["id"])


@contextmanager
def _model_server() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.model_server", "--latency", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield json.loads(process.stdout.readline() if process.stdout else "")["url"]
        finally:
            process.terminate()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--name", default="faults", help="of the resources that are made")
    parser.add_argument("--stories", nargs="*", default=["run", "spoiled", "talk", "judged"])
    parser.add_argument("--only", help="one fault, as it is printed: 'before probe:DynamoDB.UpdateItem:1'")
    parser.add_argument("--sample", action="store_true", help="one fault of every kind of call")
    parser.add_argument("--part", default="1/1", help="2/3: the second third")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    part, parts = map(int, arguments.part.split("/"))
    played: list[Played] = []
    with _model_server() as models:
        theatre = Theatre(arguments.endpoint, arguments.name, models)
        theatre.play(arguments.stories[0], None)  # Wakes what is made only once, such as connections.
        for story in arguments.stories:
            for result in _played(theatre, story, arguments, part - 1, parts):
                print(result, flush=True)
                played.append(result)
        theatre.close()
    print(json.dumps(_summary(played)))
    sys.exit(any(each.wrong for each in played))


def _played(theatre: Theatre, story: str, arguments: argparse.Namespace, part: int, parts: int) -> Iterator[Played]:
    yield theatre.play(story, None)
    faults = theatre.faults_of(story)
    if arguments.only:
        faults = [fault for fault in faults if str(fault) == arguments.only]
    if arguments.sample:
        faults = _one_of_each(faults)
    for fault in faults[part::parts]:
        yield theatre.play(story, fault)


def _summary(played: list[Played]) -> dict[str, Any]:
    faults = [each for each in played if each.fault]
    return {
        "faults": len(faults),
        "struck": sum(each.struck for each in faults),
        "broken": sum(bool(each.wrong) for each in played),
        "kinds": len({(each.fault.call.function, each.fault.call.operation) for each in faults if each.fault}),
        "mostExtraCalls": max((each.extra_calls for each in faults), default=0),
        "seconds": round(sum(each.seconds for each in played)),
    }


if __name__ == "__main__":
    main()
