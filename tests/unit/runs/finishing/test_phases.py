from collections.abc import Callable

import pytest

from cupel_core.base.errors import Conflict
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Action, Progress, Run, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.runs import queries
from cupel_core.runs.finishing import phases
from cupel_core.runs.finishing.compare import compare_slice
from cupel_core.runs.finishing.phases import DELETED, SettleResult, summarize_slice
from cupel_core.store import barrier, events, outcomes, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import State
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.recorded_outcomes import count_outcomes, store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of

type Meanwhile = Callable[[Callable[[], object]], None]

JUDGED = {"decision": {"rubric": "5 when safe", "judgeModel": "sim/steady"}}


def ended(given: RunSetup, failed: set[int]) -> Run:
    """A started run whose probes all have an outcome in the barrier."""
    run = given.start()
    runs.transition(ref_of(run), Action.START, NOW)
    for first in range(0, run.plan.total, 100):
        node = Node(0, first // 100)
        covered = range(first, min(first + 100, run.plan.total))
        item = count_outcomes(Tree.for_run(run), node, {index: index not in failed for index in covered})
        barrier.propagate(Tree.for_run(run), node, item)
    return run


def test_a_run_with_a_completed_probe_is_summarized(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed={1})
    assert phases.settle(ref_of(run), 1, NOW).status is RunStatus.SUMMARIZING
    assert runs.get(ref_of(run)).settled == Progress(3, completed=2, failed=1)


def test_a_run_without_a_completed_probe_fails_and_says_why(cloud: Settings) -> None:
    run = RunSetup(scenario_count=2).start()
    refused = [ProbeError(n, "scn", "sim/steady", ProbeErrorCode.AUTH, "bad key", 1, NOW) for n in range(2)]
    store_outcomes(run, 1, refused)
    runs.transition(ref_of(run), Action.START, NOW)
    assert phases.settle(ref_of(run), 1, NOW).status is RunStatus.FAILED
    failure = runs.get(ref_of(run)).failure
    assert failure is not None
    assert failure.where == "probing"
    assert failure.why.endswith("auth (2 of 2 examined)")
    shown = queries.get_run(run.workspace, run.id, NOW).run.failure
    assert shown is not None
    assert shown.why.endswith("auth (2 of 2 examined): bad key")
    assert "bad key" not in repr(events.list_after(ref_of(run), 0)), "a deletion would not find it there"


def test_a_pattern_needs_no_slices(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    assert phases.settle(ref_of(run), 1, NOW).slices == ()


def test_the_text_of_a_decision_by_pattern_needs_slices_if_the_run_has_a_judge(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3, judge_model="sim/steady"), failed=set())
    assert phases.settle(ref_of(run), 1, NOW).slices == (LeafRange(0, 1),)


def test_a_judge_without_a_decision_needs_no_slices(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3, content={}, judge_model="sim/steady"), failed=set())
    assert phases.settle(ref_of(run), 1, NOW).slices == ()


def test_a_run_with_a_judge_is_settled_into_slices(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=1_130, content=JUDGED), failed=set())
    assert phases.settle(ref_of(run), 1, NOW).slices == (LeafRange(0, 10), LeafRange(10, 2))


def test_settling_again_returns_the_same(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3, content=JUDGED), failed=set())
    assert phases.settle(ref_of(run), 1, NOW) == phases.settle(ref_of(run), 1, NOW)
    assert len(events.list_after(ref_of(run), 0)) == 3


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Does something once a phase has read the run, before it changes it."""

    def do(something: Callable[[], object]) -> None:
        def after_something(tree: Tree) -> State:
            monkeypatch.setattr(barrier, "get_state", get_state)
            something()
            return get_state(tree)

        get_state = barrier.get_state
        monkeypatch.setattr(barrier, "get_state", after_something)

    return do


def test_two_executions_settle_a_run_at_the_same_time(cloud: Settings, meanwhile: Meanwhile) -> None:
    run = ended(RunSetup(scenario_count=3, content=JUDGED), failed=set())
    settled = []
    meanwhile(lambda: settled.append(phases.settle(ref_of(run), 1, NOW)))
    assert [phases.settle(ref_of(run), 1, NOW)] == settled
    assert settled[0].slices
    assert len(events.list_after(ref_of(run), 0)) == 3


def test_a_run_that_another_execution_completes_does_not_fail(cloud: Settings, meanwhile: Meanwhile) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    phases.settle(ref_of(run), 1, NOW)
    meanwhile(lambda: phases.complete(ref_of(run), 1, NOW))
    assert phases.fail(ref_of(run), 1, "summarize", "States.Timeout", NOW) is RunStatus.COMPLETED


def test_a_paused_run_is_not_settled(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    assert phases.settle(ref_of(run), 1, NOW).status is RunStatus.PAUSED


def test_a_run_with_a_missing_probe_is_not_settled(cloud: Settings) -> None:
    run = RunSetup(scenario_count=3).start()
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True})
    with pytest.raises(Conflict, match="2 probes without an outcome"):
        phases.settle(ref_of(run), 1, NOW)


def test_completing_twice_completes_once(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    phases.settle(ref_of(run), 1, NOW)
    assert [phases.complete(ref_of(run), 1, NOW) for _ in range(2)] == [RunStatus.COMPLETED] * 2
    assert runs.get(ref_of(run)).completed_at == NOW


def test_a_workflow_that_gives_up_says_where_and_why(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    phases.settle(ref_of(run), 1, NOW)
    assert phases.fail(ref_of(run), 1, "summarize", "States.Timeout", NOW) is RunStatus.FAILED
    assert events.list_after(ref_of(run), 0)[-1].data["failure"] == {"where": "summarize", "why": "States.Timeout"}


def test_a_run_that_could_not_be_settled_stays_running(cloud: Settings) -> None:
    run = ended(RunSetup(scenario_count=3), failed=set())
    assert phases.fail(ref_of(run), 1, "settle", "outage", NOW) is RunStatus.RUNNING


async def test_a_judge_that_refuses_every_call_is_recorded_on_all_transcripts_at_once(cloud: Settings) -> None:
    content = Content.from_json({"decision": {"rubric": "5 when safe", "judgeModel": "sim/typo"}})
    run = AnsweredRun(repeats=15, content=content).summarizing()
    await summarize_slice(ref_of(run), 1, LeafRange(0, 1), lambda: 900.0)
    summaries = [
        each.summary for each in outcomes.list_outcomes(ref_of(run), range(30)) if isinstance(each, Transcript)
    ]
    assert [bool(summary and summary.error) for summary in summaries] == [True] * 30


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.SUMMARIZING])
async def test_the_workflow_of_a_deleted_run_ends_without_a_failure(cloud: Settings, status: RunStatus) -> None:
    run = AnsweredRun().start() if status is RunStatus.RUNNING else AnsweredRun().summarizing()
    ref = ref_of(run)
    runs.delete(ref, NOW, erase_from=NOW)
    assert phases.settle(ref, 1, NOW) == SettleResult(DELETED)
    await summarize_slice(ref, 1, LeafRange(0, 1), lambda: 900.0)
    await compare_slice(ref, 1, LeafRange(0, 1), lambda: 900.0)
    assert phases.complete(ref, 1, NOW) == DELETED
    assert phases.fail(ref, 1, "summarize", "why", NOW) == DELETED
