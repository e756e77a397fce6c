"""Count files: written once per revision of a run's outcomes, from digests alone."""

import pytest

from cupel_core.analysis import tabulate
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript, TranscriptResult
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig, RescoreCounts, RescoreResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import blobs, counted_outcomes, outcome_pages, outcomes, rescore_results, rescores, runs
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of

SAID = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "Rating: 4"))


def answered(index: int, code: str = "4", success: bool | None = None) -> Transcript:
    state = ConversationState(SAID, 1, Usage(10, 5), 120, 0.25, "v1", judge_spend=Spend(1, Usage(3, 1), 0.5))
    return Transcript(
        index,
        "scn",
        "sim/steady",
        NOW,
        state,
        summary=Summary(code, "", NOW),
        scoring=None if success is None else Scoring(success, 0.75, "why", metrics={"f1": 0.5}),
    )


def errored(index: int) -> ProbeError:
    return ProbeError(index, "scn", "sim/steady", ProbeErrorCode.TIMEOUT, "too late", 1, NOW)


def ended(*recorded: Transcript | ProbeError, scenario_count: int = 4, repeats: int = 1) -> Run:
    """A cancelled run with these outcomes."""
    run = RunSetup(scenario_count=scenario_count, repeats=repeats).start()
    store_outcomes(run, 1, recorded)
    return runs.transition(ref_of(run), Action.CANCEL, NOW)


def test_counts_are_those_of_the_recorded_outcomes(cloud: Settings) -> None:
    run = ended(answered(0, "5", True), answered(1, "other"), errored(2))
    counts = read_counts(counted_inputs(run))
    assert [row[0] for row in counts.rows()] == [
        Cell(code_5=1, judged=1, passed=1),
        Cell(other=1),
        Cell(errored=1),
        Cell(),
    ]
    column = counts.totals.column(0)
    assert (column.cost_usd, column.tokens, column.calls) == (pytest.approx(1.5), 30, 4)
    assert (column.histograms["durations_ms"].mean, dict(column.model_versions)) == (120.0, {"v1": 2})
    assert (column.metrics["f1"].mean, column.score.mean, column.errors) == (0.5, 0.75, {"timeout": (1, 2)})


def test_no_text_is_read(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ended(answered(0))

    def refuse(*_: object) -> None:
        raise AssertionError("a text was read")

    monkeypatch.setattr(outcome_pages, "read_texts", refuse)
    monkeypatch.setattr(outcome_pages, "decode_texts", lambda items: refuse() if "text#" in repr(list(items)) else {})
    assert read_counts(counted_inputs(run)).case_cell(0, 0) == Cell(code_4=1)


def test_a_stored_file_is_not_computed_again(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = counted_inputs(ended(answered(0)))
    first = read_counts(inputs)
    monkeypatch.setattr(tabulate, "tabulate", None)
    assert read_counts(inputs) == first


def test_repeating_a_task_writes_the_same_bytes(cloud: Settings) -> None:
    run = ended(*(answered(index) for index in range(4)))
    inputs = counted_inputs(run)
    (leaves,) = tabulate.file_ranges(run.plan.total)
    tabulate.tabulate(inputs, leaves)
    before = [blobs.get_bytes(key, 10_000) for key in blobs.list_keys("analyses/")]
    tabulate.tabulate(inputs, leaves)
    assert [blobs.get_bytes(key, 10_000) for key in blobs.list_keys("analyses/")] == before
    assert len(before) == 1


def test_the_files_of_a_run_add_up(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A border divides the cell of three repeats."""
    monkeypatch.setattr(tabulate, "LEAVES_PER_FILE", 1)
    run = ended(*(answered(index) for index in range(99, 105)), scenario_count=50, repeats=3)
    counts = read_counts(counted_inputs(run))
    assert [counts.case_cell(0, case).completed for case in range(32, 36)] == [0, 3, 3, 0]
    assert len(list(blobs.list_keys("analyses/"))) == 2


def test_a_correction_makes_another_revision_and_counts(cloud: Settings) -> None:
    run = ended(answered(0, success=False))
    before = counted_inputs(run)
    assert read_counts(before).case_cell(0, 0).passed == 0
    outcomes.set_correction(ref_of(run), 0, TranscriptResult(True))
    after = counted_inputs(run)
    assert after.revision != before.revision
    assert read_counts(after).case_cell(0, 0) == Cell(code_4=1, judged=1, passed=1)


def test_a_late_outcome_of_a_cancelled_run_makes_another_revision(cloud: Settings) -> None:
    run = ended(answered(0))
    before = counted_inputs(run)
    store_outcomes(run, 1, [answered(1)])
    assert counted_inputs(run).revision != before.revision


def test_counts_of_a_run_that_is_summarized_are_not_stored(cloud: Settings) -> None:
    """Its judge may still change the decisions."""
    run = AnsweredRun(summary=Summary("other", "", NOW, is_provisional=True)).summarizing()
    read_counts(counted_inputs(run))
    assert list(blobs.list_keys("analyses/")) == []


def test_counts_of_a_run_that_goes_on_are_not_stored(cloud: Settings) -> None:
    run = RunSetup(scenario_count=2).start()
    store_outcomes(run, 1, [answered(0)])
    assert read_counts(counted_inputs(run)).case_cell(0, 0) == Cell(code_4=1)
    assert list(blobs.list_keys("analyses/")) == []


def test_a_rescore_replaces_the_results_and_leaves_out_what_it_has_not_graded(cloud: Settings) -> None:
    run = ended(answered(0, "2", False), answered(1, "3", True), errored(2))
    ref, wanted = ref_of(run), Rescore(run.workspace, run.id, "rsc_1", RescoreConfig(), 2, 4, 1, NOW)
    rescores.create(wanted)
    graded = Scoring(True, 1.0, "")
    rescore_results.record(ref, wanted.id, [RescoreResult.of(answered(0), graded, Spend())])
    rescores.end(wanted.finished(NOW, RescoreCounts(1, 0)))
    counts = read_counts(counted_inputs(run, wanted.id))
    assert [row[0] for row in counts.rows()] == [Cell(code_2=1, judged=1, passed=1), Cell(), Cell(errored=1), Cell()]
    assert counted_inputs(run, wanted.id).revision != counted_inputs(run).revision


def test_a_file_that_disappears_is_computed_again(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = counted_inputs(ended(answered(0)))
    first = read_counts(inputs)
    monkeypatch.setattr(counted_outcomes, "find_counts", lambda *_: None)
    assert read_counts(inputs) == first
