"""Two finished runs of the same scenarios, for tests of what compares them."""

from typing import Any

from cupel_core.analysis import jobs
from cupel_core.base.messages import JobRequest
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.store import queues
from cupel_core.store.settings import settings
from tests.answered_runs import AnsweredRun

SCENARIOS = 8


def run_of(definition_id: str, passes: str, count: int = SCENARIOS, **given: Any) -> Run:
    """A run of `count` scenarios; `passes` has `+` or `-` for each probe, repeated as often as needed."""

    def scoring(index: int) -> Scoring:
        passed = passes[index % len(passes)] == "+"
        return build_scoring(None, None, (AssertionResult("contains", passed, float(passed), ""),))

    scenarios = tuple(
        Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), {"stakes": float(number)})
        for number in range(count)
    )
    defaults = {"workspace": "acme", "models": ("sim/steady",), "scenarios": scenarios, "scoring": scoring}
    return AnsweredRun(**{**defaults, "definition_id": definition_id, **given}).completed()


def carry_out_jobs() -> list[jobs.JobOutcome]:
    """Deliver all messages of the analyze queue."""
    outcomes: list[jobs.JobOutcome] = []
    while deliveries := queues.receive(settings().analyze_queue_url, 10):
        outcomes += [jobs.run_job(JobRequest.model_validate_json(each.body), 900.0) for each in deliveries]
        queues.delete(deliveries)
    return outcomes
