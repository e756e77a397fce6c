"""A judged run for the tests of labelling and of calibrations."""

from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client
from tests.web.samples import PAYLOADS

INSTRUCTIONS = f"Passes only if the limit is exact. {PAYLOADS[0]}"
SCENARIOS = 30


def is_judged_a_pass(index: int) -> bool:
    return index % 4 != 0


def scoring(index: int) -> Scoring:
    passed = is_judged_a_pass(index)
    reason = f"reason {index}: {PAYLOADS[index % len(PAYLOADS)]}"
    return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), reason),))


def judged_run(models: tuple[str, ...] = ("sim/steady",)) -> Run:
    question = Message(MessageRole.USER, "How long may I return it?")
    scenarios = tuple(
        Scenario("", f"Case {number}", (question,), metadata={"vars": {"number": number}})
        for number in range(SCENARIOS)
    )
    answer = "You can return it within 30 days. " * 12
    return AnsweredRun(
        workspace="acme", scenarios=scenarios, models=models, scoring=scoring, answer=lambda _: answer
    ).completed()


def drawn_set(client: Client, run: Run, **fields: Any) -> Any:
    answer = client.post(f"/v1/runs/{run.id}/label-sets", {"seed": 1, "instructions": INSTRUCTIONS, **fields})
    assert answer.status == 201, answer.text
    return answer.json()
