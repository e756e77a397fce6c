"""The spend of a run: the sum of what its stored outcomes have cost, counted once whatever happens."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.run_spend import Cost, RunSpend
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.runs import continuation, control, dispatch, queries
from cupel_core.runs.finishing import phases
from cupel_core.runs.finishing.phases import record_costs
from cupel_core.runs.record_outcomes import record, record_dropped, record_unreported
from cupel_core.store import attempts, barrier, checkpoints, clients, outcomes, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings, settings
from tests.started_runs import NOW, RunSetup, dispatch_request, ref_of, slice_message

CENT = 10_000_000
"""In billionths of a USD."""


@pytest.fixture(autouse=True)
def machine(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The state machine that finishes runs."""
    role = "arn:aws:iam::123456789012:role/test"
    created = clients.stepfunctions().create_state_machine(name="cupel-test-finish", definition="{}", roleArn=role)
    monkeypatch.setenv("FINISH_MACHINE_ARN", created["stateMachineArn"])
    settings.cache_clear()
    yield
    settings.cache_clear()


def transcript(index: int, usd: float | None = 0.01, answer: str = "Rating: 3") -> Transcript:
    messages = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, answer))
    state = ConversationState(messages, 1, Usage(3, 4), 12, usd, "v1", judge_spend=Spend(1, Usage(), 0.02))
    return Transcript(index, f"scn_{index}", "sim/steady", NOW, state)


def error(index: int, usd: float = 0.05) -> ProbeError:
    spending = Spending(Spend(1, Usage(), usd))
    return ProbeError(index, f"scn_{index}", "sim/steady", ProbeErrorCode.TIMEOUT, "none", 4, NOW, spending=spending)


def spend_of(run: Run) -> RunSpend:
    return queries.get_run(run.workspace, run.id, NOW).spend


def spent(nano_usd: int) -> RunSpend:
    """By the run's only target."""
    return RunSpend(Cost(nano_usd), by_column={0: Cost(nano_usd)})


def recorded_nano_usd(run: Run) -> int:
    recorded = spend_of(run).recorded
    assert recorded.is_complete
    return recorded.nano_usd


def running(probes: int = 6) -> Run:
    run = RunSetup(scenario_count=probes).start()
    runs.transition(ref_of(run), Action.START, NOW)
    return runs.get(ref_of(run))


def finished(run: Run) -> Run:
    phases.settle(ref_of(run), run.fencing_token, NOW)
    phases.complete(ref_of(run), run.fencing_token, NOW)
    return runs.get(ref_of(run))


def test_a_running_run_has_spent_what_its_outcomes_have_cost(cloud: Settings) -> None:
    run = running()
    record(run, 1, [transcript(0), transcript(1), error(2)])
    assert recorded_nano_usd(run) == (3 + 3 + 5) * CENT


def test_leaves_that_are_full_and_leaves_that_are_not_add_up(cloud: Settings) -> None:
    run = running(230)
    record(run, 1, [transcript(index) for index in range(210)])
    assert recorded_nano_usd(run) == 210 * 3 * CENT


def test_the_spend_is_divided_by_model_in_open_and_full_leaves_and_at_the_end(cloud: Settings) -> None:
    run = RunSetup(scenario_count=75, models=("sim/steady", "sim/bold")).start()
    runs.transition(ref_of(run), Action.START, NOW)
    outcomes_of_all = [transcript(index, usd=0.01 if index < 75 else 0.03) for index in range(150)]
    record(run, 1, outcomes_of_all[:140])
    assert spend_of(run).by_column == {0: Cost(75 * 3 * CENT), 1: Cost(65 * 5 * CENT)}
    record(run, 1, outcomes_of_all[140:])
    over = finished(run).spend
    assert over is not None
    assert over.by_column == {0: Cost(75 * 3 * CENT), 1: Cost(75 * 5 * CENT)}


def test_a_repeated_commit_counts_once(cloud: Settings) -> None:
    run = running()
    for _ in range(2):
        record(run, 1, [transcript(0)])
    assert spend_of(run) == spent(3 * CENT)


def test_an_outcome_whose_worker_died_before_the_barrier_is_counted_by_the_next(cloud: Settings) -> None:
    run = running()
    outcomes.write(ref_of(run), 1, [transcript(0)])
    for _ in range(2):
        record_unreported(run, 1, barrier.Node(0, 0))
    assert recorded_nano_usd(run) == 3 * CENT


def test_a_retry_adds_to_what_the_error_has_cost(cloud: Settings) -> None:
    run = running(2)
    record(run, 1, [transcript(0), error(1)])
    retried = continuation.retry(run.workspace, finished(run).id, NOW)
    dispatch.execute(dispatch_request(retried), NOW, lambda: 60.0)
    assert recorded_nano_usd(retried) == (3 + 5) * CENT
    record(retried, retried.fencing_token, [replace(transcript(1), retry_round=retried.retry_round)])
    assert recorded_nano_usd(retried) == (3 + 5 + 3) * CENT
    assert attempts.list_attempts(ref_of(run), [1])[1][0].spending.priced_usd == 0.05


def test_an_error_that_a_worker_of_an_earlier_round_records_is_lost_spend(cloud: Settings) -> None:
    run = running(3)
    record(run, 1, [error(0)])
    retried = continuation.retry(run.workspace, run.id, NOW)
    dispatch.execute(dispatch_request(retried), NOW, lambda: 60.0)
    record(run, 1, [error(1)])
    assert barrier.get_progress(Tree.for_run(retried)).failed == 0
    assert spend_of(retried) == replace(spent(5 * CENT), lost=Cost(5 * CENT))


def test_summaries_add_to_the_spend_of_a_run_of_three_levels_once(cloud: Settings) -> None:
    run = running(230)
    record(run, 1, [transcript(index) for index in range(230)])
    phases.settle(ref_of(run), run.fencing_token, NOW)
    outcomes.set_summary(ref_of(run), 7, Summary("3", "three", NOW, spend=Spend(1, Usage(), 0.5)))
    for _ in range(2):
        record_costs(ref_of(run), run.fencing_token, LeafRange(0, 3))
    assert recorded_nano_usd(run) == 230 * 3 * CENT + 50 * CENT


def test_a_retry_counts_the_summaries_that_were_not_counted_when_finishing_failed(cloud: Settings) -> None:
    run = running(2)
    record(run, 1, [transcript(0), transcript(1)])
    phases.settle(ref_of(run), 1, NOW)
    outcomes.set_summary(ref_of(run), 0, Summary("3", "three", NOW, spend=Spend(1, Usage(), 0.5)))
    phases.fail(ref_of(run), 1, "summarize", "its tasks died", NOW)
    assert recorded_nano_usd(run) == 2 * 3 * CENT
    retried = continuation.retry(run.workspace, run.id, NOW)
    phases.settle(ref_of(run), retried.fencing_token, NOW)
    record_costs(ref_of(run), retried.fencing_token, LeafRange(0, 1))
    assert finished(retried).spend == spent(2 * 3 * CENT + 50 * CENT)


def test_a_run_that_is_over_has_its_spend_stored(cloud: Settings) -> None:
    run = running(2)
    record(run, 1, [transcript(0), error(1)])
    over = finished(run)
    assert over.spend == spend_of(run) == spent(8 * CENT)


def test_a_run_without_transcripts_has_its_spend_stored(cloud: Settings) -> None:
    run = running(1)
    record(run, 1, [error(0)])
    assert finished(run).spend == spent(5 * CENT)


def test_a_call_without_a_price_leaves_the_total_unknown(cloud: Settings) -> None:
    run = running()
    record(run, 1, [transcript(0), transcript(1, usd=None)])
    assert spend_of(run).recorded == Cost(5 * CENT, is_complete=False)


def save_checkpoint(run: Run, index: int, usd: float = 0.04, conversation_round: int = 1) -> None:
    state = ConversationState((), 1, Usage(3, 4), 12, usd, judge_spend=Spend(1, Usage(), 0.02))
    checkpoints.save(ref_of(run), index, conversation_round, state, NOW)


def drop(run: Run, *indexes: int) -> None:
    """What whoever drops a slice of a closed run does; twice, because the message may be delivered again."""
    for _ in range(2):
        record_dropped(runs.get(ref_of(run)), slice_message(run, list(indexes)))


def test_a_cancelled_run_has_spent_what_its_unfinished_conversations_have_cost(cloud: Settings) -> None:
    run = running()
    record(run, 1, [transcript(0)])
    save_checkpoint(run, 1)
    save_checkpoint(run, 4)
    control.cancel(run.workspace, run.id, NOW)
    drop(run, *range(6))
    assert recorded_nano_usd(run) == (3 + 6 + 6) * CENT


def test_an_interrupted_conversation_counts_until_it_has_an_outcome(cloud: Settings) -> None:
    run = running()
    save_checkpoint(run, 1)
    control.pause(run.workspace, run.id, NOW)
    drop(run, 1)
    assert recorded_nano_usd(run) == 6 * CENT
    resumed = control.resume(run.workspace, run.id, NOW)
    record(resumed, resumed.fencing_token, [transcript(1, usd=0.07)])
    drop(run, 1)
    assert recorded_nano_usd(run) == 9 * CENT


def test_the_latest_checkpoint_of_a_conversation_counts(cloud: Settings) -> None:
    run = running()
    for usd in (0.04, 0.05):
        save_checkpoint(run, 1, usd)
        drop(run, 1)
    assert recorded_nano_usd(run) == 7 * CENT


def test_an_interrupted_conversation_counts_although_a_worker_of_an_earlier_round_recorded_an_error(
    cloud: Settings,
) -> None:
    """Its probe continues after its last checkpoint."""
    run = running(3)
    record(run, 1, [error(0)])
    retried = continuation.retry(run.workspace, run.id, NOW)
    dispatch.execute(dispatch_request(retried), NOW, lambda: 60.0)
    record(run, 1, [error(1)])
    save_checkpoint(retried, 1)
    control.cancel(run.workspace, run.id, NOW)
    drop(retried, 1)
    assert spend_of(retried) == replace(spent((5 + 6) * CENT), lost=Cost(5 * CENT))


def test_an_interrupted_retry_adds_to_what_the_error_has_cost(cloud: Settings) -> None:
    run = running(2)
    save_checkpoint(run, 1)
    record(run, 1, [transcript(0), error(1)])
    retried = continuation.retry(run.workspace, finished(run).id, NOW)
    dispatch.execute(dispatch_request(retried), NOW, lambda: 60.0)
    save_checkpoint(run, 1, conversation_round=retried.retry_round)
    control.cancel(run.workspace, run.id, NOW)
    drop(retried, 0, 1)
    assert recorded_nano_usd(run) == (3 + 5 + 6) * CENT


def test_an_erased_conversation_has_cost_what_it_had(cloud: Settings) -> None:
    run = running()
    save_checkpoint(run, 1)
    checkpoints.erase(ref_of(run), 1, 1, NOW)
    drop(run, 1)
    assert recorded_nano_usd(run) == 6 * CENT


def test_an_outcome_whose_worker_died_before_a_cancellation_counts(cloud: Settings) -> None:
    run = running()
    outcomes.write(ref_of(run), 1, [transcript(0)])
    control.cancel(run.workspace, run.id, NOW)
    drop(run, 0, 1)
    assert recorded_nano_usd(run) == 3 * CENT
    assert queries.get_run(run.workspace, run.id, NOW).progress.completed == 1


def test_a_dropped_message_that_names_probes_of_another_leaf_counts_nothing(cloud: Settings) -> None:
    run = running(150)
    save_checkpoint(run, 120)
    drop(run, 120)
    assert recorded_nano_usd(run) == 0


def lost(*others: Outcome, times: int = 1) -> int:
    """What was spent on outcomes that came after another one of their probe."""
    run = running()
    record(run, 1, [transcript(0)])
    for _ in range(times):
        record(run, 1, others)
    assert spend_of(run).recorded == Cost(3 * CENT)
    return spend_of(run).lost.nano_usd


def test_an_outcome_that_another_worker_recorded_first_is_lost_spend(cloud: Settings) -> None:
    later = replace(transcript(0, usd=0.09), created_at=NOW.replace(minute=1))
    assert lost(later, times=2) == 11 * CENT


def test_a_large_outcome_that_is_lost_counts_too(cloud: Settings) -> None:
    later = replace(transcript(0, 0.09, "".join(map(chr, range(1_000, 9_000)))), created_at=NOW.replace(minute=1))
    assert lost(later, times=2) == 11 * CENT


def test_a_dropped_slice_does_not_report_a_leaf_whose_errors_are_about_to_be_retried(cloud: Settings) -> None:
    """The worker of probe 0 died before the barrier, and the run was retried before its message was delivered again."""
    run = running(150)
    outcomes.write(ref_of(run), 1, [transcript(0)])
    record(run, 1, [transcript(index) for index in range(1, 99)] + [error(99)])
    retried = continuation.retry(run.workspace, run.id, NOW)
    record_dropped(retried, slice_message(run, [0]))
    assert not barrier.get_inner(Tree.for_run(retried), barrier.Node(1, 0)).full_children
    dispatch.execute(dispatch_request(retried), NOW, lambda: 60.0)
    record(retried, retried.fencing_token, [transcript(99)])
    assert barrier.get_inner(Tree.for_run(retried), barrier.Node(1, 0)).full_children == {0}
    assert barrier.get_progress(Tree.for_run(retried)).failed == 0
