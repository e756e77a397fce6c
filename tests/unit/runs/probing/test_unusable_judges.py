"""A run whose judge answers and gives no usable verdict is paused after its first replies."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ModelRequest, Reply, Usage
from cupel_core.domain.runs.run import PauseReason, Progress, Run, RunEventType, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.providers import completion
from cupel_core.providers.account import Account
from cupel_core.runs import control
from cupel_core.runs.probing import run_judges
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, counters, events, outcomes, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.started_runs import RATING, RunSetup, ref_of, send_and_receive, slice_message

JUDGE = "sim/sphinx"
PARALLEL = 4
RUBRIC = {**RATING, "assertions": [{"type": "llm-rubric", "value": "is kind"}]}
CRITERIA = {**RATING, "assertions": [{"type": "g-eval", "value": "is kind"}, {"type": "contains", "value": ""}]}
SECRET = "The riddle is the valve."
VERDICT = '{"reason": "it is", "pass": true, "score": 1}'
LEAF = list(range(40))


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, cloud: Settings) -> Callable[[Callable[[int], str]], list[str]]:
    """Scripts the judge by the number of its call, from 0; returns the models that are called."""
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": PARALLEL})
    call_provider = completion._call_provider

    def script(reply: Callable[[int], str]) -> list[str]:
        called: list[str] = []

        async def call(account: Account, model: str, request: ModelRequest, *rest: Any) -> Reply:
            called.append(model)
            if model != JUDGE:
                return await call_provider(account, model, request, *rest)
            return Reply(reply(called.count(JUDGE) - 1), "1", Usage(1, 1), "stop")

        monkeypatch.setattr(completion, "_call_provider", call)
        return called

    return script


def start(scenarios: int = 40, content: dict[str, Any] = RUBRIC) -> Run:
    return RunSetup(scenario_count=scenarios, content=content, judge_model=JUDGE).start()


async def work(run: Run, indexes: list[int]) -> None:
    worker = Worker("sim", time.time() + 600, receive_wait_seconds=0)
    assert await worker.run(send_and_receive(slice_message(run, indexes))) == []


type Says = Callable[[Callable[[int], str]], list[str]]


@pytest.mark.parametrize("content", [RUBRIC, CRITERIA])
async def test_the_run_is_paused_after_the_first_replies(
    says: Says, finish_starts: list[tuple[str, int]], content: dict[str, Any]
) -> None:
    called = says(lambda _: SECRET)
    run = start(content=content)
    await work(run, LEAF)
    paused, progress = runs.get(ref_of(run)), barrier.get_progress(Tree.for_run(run))
    assert (paused.status, paused.pause_reason) == (RunStatus.PAUSED, PauseReason.JUDGE)
    assert paused.pause_cause is not None
    assert paused.pause_cause.model == JUDGE
    said = re.match(rf"the judge {JUDGE} gave no usable verdict on the first (\d+) answers", paused.pause_cause.message)
    assert said
    assert 8 <= int(said[1]) <= progress.completed, "several answers may be judged at the same moment"
    assert SECRET not in paused.pause_cause.message
    assert 8 <= progress.completed < 40, "a fifth of 40, and what was in flight"
    in_flight = called.count("sim/steady") - progress.completed
    assert 0 <= in_flight <= PARALLEL, "answers that were given when the run was paused are judged when it is resumed"
    assert progress.failed == 0


async def test_the_pause_is_an_event_with_its_cause(says: Says, finish_starts: list[tuple[str, int]]) -> None:
    says(lambda _: "?")
    run = start()
    await work(run, LEAF)
    event = events.list_after(ref_of(run), 0)[-1]
    assert (event.type, event.data["pauseReason"], event.data["model"]) == (RunEventType.PAUSED, "judge", JUDGE)


async def test_the_answers_are_kept_with_the_cause(says: Says, finish_starts: list[tuple[str, int]]) -> None:
    says(lambda _: "?")
    run = start()
    await work(run, LEAF)
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    assert transcript.scoring is not None
    assert transcript.scoring.cause is not None
    assert transcript.scoring.cause.code is UnscoredCode.JUDGE_REPLY


@pytest.mark.parametrize("usable_at", [0, 14])
async def test_one_usable_reply_lets_the_run_go_on(
    says: Says, finish_starts: list[tuple[str, int]], usable_at: int
) -> None:
    says(lambda number: VERDICT if number == usable_at else "?")
    run = start()
    await work(run, LEAF)
    assert barrier.get_progress(Tree.for_run(run)) == Progress(40, completed=40)


async def test_a_usable_reply_that_another_worker_has_recorded_counts(
    says: Says, finish_starts: list[tuple[str, int]]
) -> None:
    run = start()
    says(lambda _: VERDICT)
    await work(run, [0])
    says(lambda _: "?")
    await work(run, LEAF[1:])
    assert barrier.get_progress(Tree.for_run(run)) == Progress(40, completed=40)


async def test_a_run_is_not_paused_by_its_last_answer(says: Says, finish_starts: list[tuple[str, int]]) -> None:
    says(lambda _: "?")
    run = start(3)
    await work(run, LEAF[:3])
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING
    assert finish_starts == [(run.id, 1)]


async def test_unusable_replies_of_several_workers_add_up(says: Says, finish_starts: list[tuple[str, int]]) -> None:
    says(lambda _: "?")
    run = start()
    for index in range(7):
        await work(run, [index])
        assert runs.get(ref_of(run)).status is RunStatus.RUNNING
    await work(run, [7])
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED


async def test_a_resumed_run_asks_the_judge_again_as_often(says: Says, finish_starts: list[tuple[str, int]]) -> None:
    says(lambda _: "?")
    run, leaf = start(100), list(range(100))
    await work(run, leaf)
    before = barrier.get_progress(Tree.for_run(run)).completed
    resumed = control.resume("ws_a", run.id, utc_now())
    assert (resumed.pause_reason, resumed.pause_cause) == (None, None)
    await work(resumed, leaf)
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED
    assert 20 <= before < before + 20 <= barrier.get_progress(Tree.for_run(run)).completed < 100
    again = control.resume("ws_a", run.id, utc_now())
    says(lambda _: VERDICT)
    await work(again, leaf)
    assert barrier.get_progress(Tree.for_run(run)) == Progress(100, completed=100)


async def test_a_judge_that_works_costs_no_write(
    says: Says, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "add_unusable_reply", lambda *_: pytest.fail("nothing was unusable"))
    says(lambda _: VERDICT)
    run = start(10)
    await work(run, LEAF[:10])
    assert barrier.get_progress(Tree.for_run(run)) == Progress(10, completed=10)


async def test_no_answer_is_lost_when_counting_fails(
    says: Says, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> int:
        raise RuntimeError("the table is gone")

    monkeypatch.setattr(run_judges.counters, "add_unusable_reply", fail)
    says(lambda _: "?")
    run = start(10)
    await work(run, LEAF[:10])
    assert barrier.get_progress(Tree.for_run(run)) == Progress(10, completed=10)
