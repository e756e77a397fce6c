"""A run that people label, and the requests that label it."""

from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client


def judged(index: int) -> Scoring:
    """Every fourth answer fails, and one is undecided."""
    if index == 7:
        cause = UnscoredCause(UnscoredCode.DELETED)
        return build_scoring(None, None, (AssertionResult.uncomputed("llm-rubric", "no reply", cause),))
    passed = index % 4 != 0
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), f"reason {index}"),))


def started(scenarios: int = 20, repeats: int = 2, **given: Any) -> Run:
    asked = tuple(
        Scenario("", f"Case {number}", (Message(MessageRole.USER, "?"),), metadata={"vars": {"number": number}})
        for number in range(scenarios)
    )
    fields = {"workspace": "acme", "scenarios": asked, "repeats": repeats, "scoring": judged, "models": ("sim/steady",)}
    return AnsweredRun(**{**fields, **given}).completed()


def label(client: Client, run: Run, index: int, **fields: Any) -> Any:
    answer = client.put(f"/v1/probes/{run.id}-{index}/label", {"value": "pass", **fields})
    assert answer.status == 200, answer.text
    return answer.json()


def drawn(client: Client, run: Run, **fields: Any) -> Any:
    answer = client.post(f"/v1/runs/{run.id}/label-sets", {"seed": 1, **fields})
    assert answer.status == 201, answer.text
    return answer.json()


def labels_of(client: Client, run: Run, **query: Any) -> list[Any]:
    found: list[Any] = client.get(f"/v1/runs/{run.id}/labels", query={"limit": "100", **query}).json()["items"]
    return found
