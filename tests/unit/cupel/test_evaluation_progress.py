"""The progress of an evaluation in this process: the rules, and what is shown on a terminal and without one."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from random import Random
from typing import Any

import pytest

import cupel
from cupel.in_process.api import run_plan
from cupel.in_process.plan import EvaluationPlan, plan_evaluation
from cupel.in_process.progress import EvaluationProgress
from cupel.progress_display import progress_display
from cupel.session import PlainTextConsole
from cupel_core.base.clock import utc_now
from cupel_core.conversations.turn import CalledTarget, run_turn
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.providers.account import Account
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.errors import ProviderError
from tests.unit.cupel.fake_api import a_progress, a_target

type Json = dict[str, Any]

STARTED = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
DEFINITION = {
    "content": {"assertions": [{"type": "contains", "value": "gold"}]},
    "scenarios": [{"name": word, "prompt": word} for word in ("gold", "golden", "old gold", "silver")],
}


def seconds(count: float) -> datetime:
    return STARTED + timedelta(seconds=count)


def a_plan(targets: Sequence[str] = ("sim/echo", "sim/steady")) -> EvaluationPlan:
    return plan_evaluation(DEFINITION, targets, {})


@pytest.fixture
def progress() -> EvaluationProgress:
    """Of two targets with four probes each."""
    return EvaluationProgress(a_plan(), STARTED)


def completed(index: int, *, passed: bool = True, code: str = "other", cost: float | None = 0.25) -> Transcript:
    conversation = ConversationState((), turns=1, usage=Usage(80, 20), cost_usd=cost)
    scoring = Scoring(passed, None, "")
    return Transcript(index, "s", "m", STARTED, conversation, summary=Summary(code, "", STARTED), scoring=scoring)


def errored(index: int, message: str = "down", after: float = 0) -> ProbeError:
    spending = Spending(judge=Spend(1, Usage(), 0.5))
    code = ProbeErrorCode.PROVIDER_ERROR
    return ProbeError(index, "s", "m", code, message, 1, seconds(after), spending=spending)


def finish(progress: EvaluationProgress, *outcomes: Outcome) -> None:
    for outcome in outcomes:
        progress.start(outcome.probe_index)
        progress.finish(outcome)


def test_each_target_has_its_own_counts(progress: EvaluationProgress) -> None:
    finish(progress, completed(0), errored(1), completed(4))
    progress.start(2)
    read = progress.read(STARTED)
    counts = [[target[name] for name in ("total", "completed", "errored", "running")] for target in read["targets"]]
    assert counts == [[4, 1, 1, 1], [4, 1, 0, 0]]
    assert [read[name] for name in ("total", "completed", "errored", "running")] == [8, 2, 1, 1]


def test_results_are_of_every_completed_probe(progress: EvaluationProgress) -> None:
    finish(progress, completed(0, code="5"), completed(1, passed=False, code="2"), errored(2))
    results = progress.read(STARTED)["targets"][0]["results"]
    assert (results["passRate"], results["meanDecision"], results["estimatedTokens"]) == (0.5, 3.5, 200)
    assert results["isComplete"]


def test_the_cause_of_errors_is_the_latest_message(progress: EvaluationProgress) -> None:
    finish(progress, errored(0, "first", after=1), errored(2, "last", after=3), errored(1, "second", after=2))
    errors = progress.read(STARTED)["targets"][0]["errors"]
    assert errors["causes"] == [{"code": "provider_error", "count": 3, "message": "last", "retryHelps": True}]


def test_the_cost_is_that_of_all_calls_by_target(progress: EvaluationProgress) -> None:
    finish(progress, completed(0), errored(1), completed(4, cost=None))
    read = progress.read(STARTED)
    assert [target["costUsd"] for target in read["targets"]] == [0.75, None]
    assert (read["spend"]["costUsd"], read["spend"]["pricedUsd"]) == (None, 0.75)


def test_the_rate_is_of_the_last_seconds(progress: EvaluationProgress) -> None:
    progress.read(STARTED)
    finish(progress, completed(0), completed(1))
    first, second = progress.read(seconds(4))["targets"]
    assert (first["ratePerSecond"], first["etaSeconds"]) == (0.5, 4.0)
    assert (second["ratePerSecond"], second["etaSeconds"]) == (0.0, None)


def test_a_target_is_throttled_while_all_of_its_running_probes_wait(progress: EvaluationProgress) -> None:
    progress.start(0)
    progress.start(1)
    progress.note_wait(0, "openai/judge", seconds(60), "too many requests")
    assert progress.read(STARTED)["targets"][0]["delays"] == []
    progress.note_wait(1, "openai/judge", seconds(30), "too many requests")
    first, second = progress.read(STARTED)["targets"]
    [delay] = first["delays"]
    assert [delay[name] for name in ("reason", "model", "message", "until")] == [
        "model_suspended",
        "openai/judge",
        "too many requests",
        "2026-01-31T09:30:30.000Z",
    ]
    assert second["delays"] == []
    progress.note_wait(1, "openai/judge", None, "")
    assert progress.read(STARTED)["targets"][0]["delays"] == []


async def test_repeats_and_slow_calls_are_shown_while_they_are_in_flight(progress: EvaluationProgress) -> None:
    log, request = AttemptLog(), ModelRequest((Message(MessageRole.USER, "Hello"),))
    progress.start(0)
    progress.note_attempts(0, log)

    def shown(after: float) -> Json | None:
        calls: Json | None = progress.read(utc_now() + timedelta(seconds=after))["targets"][0]["slowCalls"]
        return calls and {**calls, "seconds": pytest.approx(calls["seconds"], abs=2)}

    with log.in_flight("m", request, 4):
        assert (shown(29), shown(32)) == (None, {"calls": 1, "attempt": 1, "maxAttempts": 4, "seconds": 32})
    await log.of_call("m", request).note_failure(ProviderError(ProbeErrorCode.TIMEOUT, "slow"), is_final=False)
    assert shown(60) is None
    with log.in_flight("m", request, 4):
        assert shown(5) == {"calls": 1, "attempt": 2, "maxAttempts": 4, "seconds": 5}
        progress.finish(errored(0))
        assert shown(60) is None


async def test_a_call_that_is_repeated_is_in_the_progress() -> None:
    """The first attempt of the function is lost, and the second one is in flight when the progress is read."""
    read: list[Json | None] = []
    plan = a_plan(["sim/echo"])
    evaluation = EvaluationProgress(plan, STARTED)

    async def attempt(*_: object) -> Reply:
        read.append(evaluation.read(utc_now())["targets"][0]["slowCalls"])
        if len(read) == 1:
            raise ProviderError(ProbeErrorCode.NETWORK, "lost", retry_after_seconds=0.01)
        return Reply("gold")

    log = AttemptLog()
    evaluation.start(0)
    evaluation.note_attempts(0, log)
    target = CalledTarget(Account("custom", "http://m.test"), "custom/m", 1.0, Random(1), attempt=attempt, log=log)
    await run_turn(ModelRequest((Message(MessageRole.USER, "Hello"),)), target)
    assert [calls and (calls["attempt"], calls["maxAttempts"]) for calls in read] == [None, (2, 4)]


def test_the_end_has_the_final_results(progress: EvaluationProgress) -> None:
    """`select-best` replaces transcripts after they were counted."""
    finish(progress, *(completed(index) for index in range(8)))
    progress.end([completed(index, passed=False, cost=1.0) for index in range(8)])
    read = progress.read(STARTED)
    assert (read["status"], read["completed"], read["spend"]["costUsd"]) == ("COMPLETED", 8, 8.0)
    assert [target["results"]["passRate"] for target in read["targets"]] == [0, 0]


def test_an_evaluation_without_any_completed_probe_has_failed(progress: EvaluationProgress) -> None:
    progress.end([errored(index) for index in range(8)])
    assert progress.read(STARTED)["status"] == "FAILED"


def a_console(*, is_terminal: bool) -> PlainTextConsole:
    return PlainTextConsole(file=StringIO(), force_terminal=is_terminal, width=100, highlight=False, _environ={})


def printed(console: PlainTextConsole) -> list[str]:
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


async def test_a_terminal_shows_a_row_per_target() -> None:
    console = a_console(is_terminal=True)
    await run_plan(a_plan(), None, console)
    rows = [line for line in printed(console) if "━" in line]
    assert [row.split()[0] for row in rows[-2:]] == ["sim/echo", "sim/steady"]
    assert "4/4" in rows[-1]
    assert "75%" in rows[-2]


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_at_the_end() -> None:
    console, run = a_console(is_terminal=False), {"id": "run_1", "createdAt": "2026-01-31T09:30:00.000Z"}
    with progress_display(console, run) as show:
        for second in range(0, 25, 4):
            show(a_progress(a_target("sim/echo", 30, second), readAt=seconds(second).isoformat()))
        show(a_progress(a_target("sim/echo", 30, 30), readAt=seconds(26).isoformat(), status="COMPLETED"))
    assert [line.split(", ")[1] for line in printed(console)] == [
        "12 completed",
        "24 completed",
        "30 completed",
    ]


def test_of_two_evaluations_on_a_terminal_the_second_prints_lines() -> None:
    console = a_console(is_terminal=True)
    run = {"id": "run_1", "createdAt": "2026-01-31T09:30:00.000Z"}
    with progress_display(console, run), progress_display(console, run) as show:
        show(a_progress(a_target("sim/echo", 30, 30), status="COMPLETED"))
    assert any("run_1 COMPLETED, 30 completed" in line for line in printed(console))


def test_python_shows_progress_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    cupel.evaluate(DEFINITION, "sim/echo")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "COMPLETED, 4 completed, 0 errored of 4 (100%)" in shown.err


def test_progress_can_be_turned_off(capsys: pytest.CaptureFixture[str]) -> None:
    cupel.evaluate(DEFINITION, "sim/echo", progress=False)
    assert capsys.readouterr().err == ""


def test_an_evaluation_needs_no_standard_error() -> None:
    program = (
        f"import sys; sys.stderr = None; import cupel; print(cupel.evaluate({DEFINITION!r}, 'sim/echo').pass_rate)"
    )
    found = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert found.stdout == "0.75\n"


def test_an_evaluation_continues_when_nobody_reads_its_progress() -> None:
    """Its answers may have been paid for."""
    program = f"import cupel; print(cupel.evaluate({DEFINITION!r}, 'sim/echo').pass_rate)"
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=writer, text=True, check=True
    )
    os.close(writer)
    assert found.stdout == "0.75\n"
