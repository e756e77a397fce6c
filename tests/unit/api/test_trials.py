"""Trials of the revised prompt of a report, over HTTP."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cupel_core.analysis.experiments import compare_finished
from cupel_core.analysis.reports.requested_trials import start_if_wanted
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.contract.reports import ReportSummaryResponse, ReportTextsResponse
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.requested_trials import with_trial
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import ProbeError, Transcript, TranscriptResult
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.runs.history import ComparableRuns
from cupel_core.store import outbox, outcomes, reports, run_items, runs, snapshots
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.api.test_reports import carry_out

ORIGINAL, REVISED = "Be brief.", "Be brief. Name the limit of 30 days."
SCENARIOS = 24
SHOWN = range(0, 4 * 8, 4)
"""Of eight scenarios, which have four probes each."""
PRICES = [{"model": None, "inputUsdPerMillion": 100, "outputUsdPerMillion": 100}]


def scored(passes: Callable[[int], bool]) -> Callable[[int], Scoring]:
    def score(index: int) -> Scoring:
        passed = passes(index)
        result = AssertionResult("contains", passed, float(passed), "because", tag=None if passed else "LIMIT")
        return build_scoring(None, None, (result,))

    return score


def answered(scoring: Callable[[int], Scoring], scenarios: int = SCENARIOS, **changes: Any) -> AnsweredRun:
    cases = tuple(Scenario("", f"case {n}", (Message(MessageRole.USER, f"? {n}"),)) for n in range(scenarios))
    fields = {"models": ("sim/steady",), "repeats": 4, "content": Content(system=ORIGINAL), **changes}
    return AnsweredRun(cases, scoring=scoring, workspace="acme", **fields)


def summary(run: Run, **changes: Any) -> ReportSummaryResponse:
    fields = {
        "model": "sim/bold",
        "calls": 1,
        "cost_usd": 0.0,
        "error": None,
        "text": "It forgets the limit.",
        **{kind: [] for kind in ("failure_modes", "hallucinations", "goal_failures", "inconsistencies")},
        "dropped_quotes": 0,
        "revised_prompt": REVISED,
        "revised_prompt_issue": None,
        "rationale": "r",
        "diff": "d",
        "shown_conversation_ids": [f"{run.id}-{index}" for index in SHOWN],
    }
    return ReportSummaryResponse.model_validate({**fields, **changes})


def reported(client: Client, run: Run, **changes: Any) -> str:
    """The path of a report with a revised prompt."""
    run_items.to_item(replace(run, definition_name="Refunds")).save()
    made = client.post(f"/v1/runs/{run.id}/reports", {"summarizerModel": None}).json()
    carry_out()
    record = reports.get(RunRef("acme", run.id), made["id"])
    texts = ReportTextsResponse(summary=summary(run, **changes), excerpts=[], failed_answers=[])
    reports.save_texts(record, texts.model_dump_json().encode())
    return f"/v1/runs/{run.id}/reports/{made['id']}"


@pytest.fixture
def report(client: Client) -> str:
    return reported(client, answered(scored(lambda index: index % 4 > 1)).completed())


def started(client: Client, report: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{report}/trial", body)
    assert answer.status == 201, answer.text
    trial: dict[str, Any] = answer.json()
    return trial


def complete(trial: dict[str, Any], original: Callable[[int], bool], revised: Callable[[int], bool]) -> None:
    """What workers, the finishing workflow and the worker of jobs do."""
    for name, passes in (("originalRunId", original), ("revisedRunId", revised)):
        ref, arm = RunRef("acme", trial[name]), answered(scored(passes))
        arm._record(runs.transition(ref, Action.START, NOW))
        arm._summarize(runs.get(ref))
        runs.transition(ref, Action.COMPLETE, NOW, completed_at=NOW)
        compare_finished(ref, NOW)
    carry_out()


def test_both_prompts_are_run_anew_on_the_same_scenarios(client: Client, report: str) -> None:
    trial = started(client, report)
    original, revised = (runs.get(RunRef("acme", trial[name])) for name in ("originalRunId", "revisedRunId"))
    first, second = snapshots.get(original.snapshot_key), snapshots.get(revised.snapshot_key)
    assert (first.definition["system"], second.definition["system"]) == (ORIGINAL, REVISED)
    assert first.scenario_positions == second.scenario_positions
    assert len(first.scenario_positions) == trial["scenarios"]
    assert (original.plan, original.priority) == (revised.plan, revised.priority)
    experiment = client.get(f"/v1/experiments/{trial['experimentId']}").json()
    assert experiment["baselineRunId"] == original.id
    assert {original.experiment_id, revised.experiment_id} == {trial["experimentId"]}
    dispatched = {request.run.run_id for request in outbox.list_untouched_since(utc_now() + timedelta(days=1))}
    assert {original.id, revised.id} <= dispatched


def test_estimates_of_the_run_rest_on_the_original_prompt_only(client: Client, report: str) -> None:
    trial = started(client, report)
    original, revised = (runs.get(RunRef("acme", trial[name])) for name in ("originalRunId", "revisedRunId"))
    wanted = ComparableRuns.of(original, (), utc_now() + timedelta(days=1))
    assert (wanted.includes(original), wanted.includes(revised)) == (True, False)
    repeated = runs.get(RunRef("acme", client.post(f"/v1/runs/{revised.id}/rerun").json()["run"]["id"]))
    assert not wanted.includes(repeated)
    assert ComparableRuns.of(repeated, (), wanted.before).select([original, revised]) == [revised, original]


def test_scenarios_that_the_summarizer_has_not_read_are_taken_first(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=16)
    chosen = snapshots.get(runs.get(RunRef("acme", trial["revisedRunId"])).snapshot_key).scenario_positions
    assert chosen == tuple(range(8, SCENARIOS))
    assert trial["unseenScenarios"] == 16


def test_scenarios_outside_of_the_runs_sample_come_before_its_own(client: Client) -> None:
    run = answered(scored(lambda index: index % 4 > 1), scenarios=48, sample_percentage=50).completed()
    trial = started(client, reported(client, run), scenarios=24, repeats=1)
    chosen = snapshots.get(runs.get(RunRef("acme", trial["revisedRunId"])).snapshot_key).scenario_positions
    assert not set(chosen) & set(snapshots.get(run.snapshot_key).scenario_positions)


def test_a_trial_that_lacked_a_summary_starts_once_the_report_was_made_again(client: Client) -> None:
    client.put("/v1/providers/sim", {"prices": PRICES})
    run = answered(scored(lambda index: index % 4 > 1), budget=run_budget(0.001)).completed()
    run_items.to_item(replace(run, definition_name="Refunds", trial=True)).save()
    reports_path, summarizer = f"/v1/runs/{run.id}/reports", {"summarizerModel": "sim/steady"}
    path = f"{reports_path}/{client.post(reports_path, summarizer).json()['id']}"
    carry_out()
    assert "is used up" in client.get(path).json()["trialRefusal"]
    client.patch(f"/v1/runs/{run.id}/budget", {"maxBudgetUsd": 1_000})
    assert client.post(reports_path, summarizer).status == 202
    carry_out()
    assert client.get(path).json()["trialRefusal"] is None
    assert client.get(f"{path}/trial").json()["status"] == "RUNNING"


def test_a_report_has_one_trial(client: Client, report: str) -> None:
    first = started(client, report)
    again = client.post(f"{report}/trial")
    assert (again.status, again.json()) == (200, first)
    assert len(client.get("/v1/runs").json()["items"]) == 3


def test_an_estimate_says_what_is_started_and_writes_nothing(client: Client, report: str) -> None:
    planned = client.post(f"{report}/trial/estimate").json()
    assert len(client.get("/v1/runs").json()["items"]) == 1
    trial = started(client, report)
    assert {name: trial[name] for name in planned if name != "estimate"} == {
        name: value for name, value in planned.items() if name != "estimate"
    }
    assert planned["estimate"]["jobCount"] == 2 * planned["scenarios"] * planned["repeats"]
    assert planned["estimate"]["jobCount"] <= SCENARIOS * 4


def test_a_better_prompt_is_shown_to_help(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=20, repeats=4)
    assert trial["status"] == "RUNNING"
    complete(trial, lambda index: index % 4 > 1, lambda index: index % 4 > 0)
    result = client.get(f"{report}/trial").json()["result"]
    assert (result["verdict"], result["originalRate"], result["revisedRate"]) == ("helps", 0.5, 0.75)
    assert result["tags"] == [{"tag": "LIMIT", "original": 40, "revised": 20}]
    assert any("is also the judge" in note for note in result["notes"]) is False
    for form in ("md", "html"):
        text = client.get(f"{report.partition('/reports')[0]}/report", query={"format": form}).text
        assert "The revised prompt helps" in text.replace("\\", "")


def test_an_equal_prompt_is_not_shown_to_help(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=20, repeats=4)
    complete(trial, lambda index: index % 4 > 1, lambda index: (index + index // 4) % 4 > 1)
    answer = client.get(f"{report}/trial").json()
    assert (answer["status"], answer["result"]["verdict"]) == ("COMPLETED", "not_shown")


def test_a_worse_prompt_is_shown_to_hurt(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=20, repeats=4)
    complete(trial, lambda index: index % 4 > 0, lambda index: index % 4 > 1 + (index // 4) % 2)
    assert client.get(f"{report}/trial").json()["result"]["verdict"] == "hurts"


def test_a_corrected_arm_keeps_the_verdict_with_a_note(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=20, repeats=4)
    complete(trial, lambda index: index % 4 > 1, lambda index: index % 4 > 0)
    before = client.get(f"{report}/trial").json()
    outcomes.set_correction(RunRef("acme", trial["revisedRunId"]), 0, TranscriptResult(success=True))
    after = client.get(f"{report}/trial").json()
    assert (after["status"], after["result"]["verdict"]) == ("COMPLETED", before["result"]["verdict"])
    assert after["result"]["notes"][0].startswith("Results have changed since")
    assert client.post(f"{report}/trial").status == 200
    carry_out()
    assert client.get(f"{report}/trial").json()["result"]["notes"] == before["result"]["notes"]


def test_a_trial_whose_comparison_was_deleted_says_so(client: Client, report: str) -> None:
    trial = started(client, report, scenarios=20, repeats=4)
    complete(trial, lambda index: index % 4 > 1, lambda index: index % 4 > 0)
    comparison = client.get(f"{report}/trial").json()["comparisonId"]
    assert client.delete(f"/v1/comparisons/{comparison}").status == 204
    found = client.get(f"{report}/trial").json()
    assert (found["status"], found["failure"]) == (
        "FAILED",
        "the comparison of its runs was deleted; starting the trial again compares them anew",
    )
    client.post(f"{report}/trial")
    carry_out()
    assert client.get(f"{report}/trial").json()["status"] == "COMPLETED"


def test_a_prompt_with_a_system_prompt_of_its_own_is_named(client: Client) -> None:
    content = Content(system="Be kind.", prompts=(Prompt("short"), Prompt("own", system="Be brief.")))
    run = answered(scored(lambda index: index % 2 > 0), content=content).completed()
    answer = client.post(f"{reported(client, run)}/trial")
    assert answer.status == 409
    assert answer.json()["detail"].endswith("by prompts that have one of their own: own")


def test_a_cancelled_arm_ends_the_trial(client: Client, report: str) -> None:
    trial = started(client, report)
    client.post(f"/v1/runs/{trial['revisedRunId']}/cancel")
    answer = client.get(f"{report}/trial").json()
    assert (answer["status"], answer["failure"]) == ("FAILED", f"the run {trial['revisedRunId']} is CANCELLED")


def test_the_budget_is_that_of_both_arms(client: Client, report: str) -> None:
    client.put("/v1/providers/sim", {"prices": PRICES})
    refused = client.post(f"{report}/trial", {"maxBudgetUsd": 0.45, "scenarios": 20})
    assert (refused.status, refused.json()["type"]) == (409, "urn:cupel:problem:confirmation-required")
    assert len(client.get("/v1/runs").json()["items"]) == 1
    assert client.get(f"{report}/trial").status == 404
    agreed = refused.json()["estimate"]["usd"]["expected"]
    trial = started(client, report, maxBudgetUsd=0.45, scenarios=20, confirmedUsd=agreed)
    budgets = [runs.get(RunRef("acme", trial[name])).budget for name in ("originalRunId", "revisedRunId")]
    assert sum(budget.max_usd for budget in budgets if budget) == pytest.approx(0.45)


def test_both_arms_need_enough_in_hand_for_their_last_call(client: Client, report: str) -> None:
    """$0.20 are set aside for an answer without a limit, in each arm."""
    client.put("/v1/providers/sim", {"prices": PRICES})
    size = {"scenarios": 20, "repeats": 1}
    expected = client.post(f"{report}/trial/estimate", size).json()["estimate"]["usd"]["expected"]
    too_small = client.post(f"{report}/trial", {**size, "maxBudgetUsd": 0.01})
    [error] = too_small.json()["errors"]
    assert (too_small.status, "for each of 2 runs" in error["message"]) == (422, True)
    needed = float(error["message"].partition("$")[2].partition(":")[0])
    refused = client.post(f"{report}/trial", {**size, "maxBudgetUsd": needed + 0.0001})
    assert (refused.status, refused.json()["type"]) == (409, "urn:cupel:problem:confirmation-required")
    assert "a call of each of its 2 runs, together, needs up to $0.4" in refused.json()["detail"]
    started(client, report, **size, maxBudgetUsd=expected + 0.5)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"revised_prompt_issue": "it is the same as before"}, "it is the same"), ({"error": "no answer"}, "no answer")],
)
def test_without_a_revised_prompt_there_is_nothing_to_try(client: Client, changes: dict[str, str], why: str) -> None:
    run = answered(scored(lambda _: True)).completed()
    refused = client.post(f"{reported(client, run, **changes)}/trial")
    assert (refused.status, why in refused.json()["detail"]) == (409, True)


def test_a_run_that_was_not_judged_cannot_be_compared(client: Client) -> None:
    run = answered(lambda _: build_scoring(None, None, ())).completed()
    refused = client.post(f"{reported(client, run)}/trial")
    assert (refused.status, "judged" in refused.json()["detail"]) == (409, True)


def test_too_few_scenarios_are_refused(client: Client) -> None:
    report = reported(client, answered(scored(lambda index: index % 2 > 0), scenarios=3, repeats=12).completed())
    refused = client.post(f"{report}/trial")
    assert (refused.status, "at least 5" in refused.json()["detail"]) == (409, True)


def test_a_single_scenario_is_repeated(client: Client) -> None:
    report = reported(client, answered(scored(lambda index: index % 2 > 0), scenarios=1, repeats=40).completed())
    trial = started(client, report)
    assert (trial["scenarios"], trial["repeats"]) == (1, 20)


@pytest.mark.parametrize("field", ["scenarios", "repeats"])
def test_an_impossible_size_is_named(client: Client, report: str, field: str) -> None:
    refused = client.post(f"{report}/trial", {field: 1_000})
    assert (refused.status, refused.fields()) == (422, [field])


def test_a_trial_of_another_workspace_is_not_found(client: Client, report: str, stranger: str) -> None:
    started(client, report)
    for call in (client.get, client.post):
        assert call(f"{report}/trial", token=stranger).status == 404


def asks_for_trial(run: Run) -> RunRef:
    run_items.to_item(replace(runs.get(RunRef("acme", run.id)), trial=True)).save()
    return RunRef("acme", run.id)


def test_a_run_may_ask_for_the_trial_at_its_start(client: Client) -> None:
    run = answered(scored(lambda index: index % 4 > 1)).completed()
    report = reported(client, run)
    ref, report_id = asks_for_trial(run), report.rpartition("/")[2]
    for _ in range(2):  # A job may be repeated.
        start_if_wanted(ref, report_id, utc_now())
    assert client.get(report).json()["trial"]["status"] == "RUNNING"
    assert len(client.get("/v1/runs").json()["items"]) == 3
    assert {each["trial"] for each in client.get("/v1/runs").json()["items"]} == {True, False}


class PricedRun(AnsweredRun):
    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        transcript = super().outcome(run, index)
        assert isinstance(transcript, Transcript)
        return replace(transcript, conversation=replace(transcript.conversation, cost_usd=0.0007))


def reported_scale_run(client: Client, conversations: int) -> tuple[Run, str]:
    """With the path of its report; each conversation has cost $0.0007. An answer without a limit sets $0.20 aside."""
    client.put("/v1/providers/sim", {"prices": PRICES})
    described = answered(scored(lambda index: index % 2 > 0), scenarios=1, repeats=conversations)
    run = PricedRun(**vars(described)).completed()
    return run, reported(client, run, shown_conversation_ids=[f"{run.id}-0"])


def test_a_requested_trial_of_a_small_scale_run_may_cost_what_the_scale_run_has_and_its_last_calls_set_aside(
    client: Client,
) -> None:
    run, report = reported_scale_run(client, 20)
    cost = client.get(report).json()["content"]["cost"]["pricedUsd"]
    assert cost > 0
    start_if_wanted(asks_for_trial(run), report.rpartition("/")[2], utc_now())
    made = client.get(report).json()
    assert made["trialRefusal"] is None
    trial = made["trial"]
    arms = [runs.get(RunRef("acme", trial[name])) for name in ("originalRunId", "revisedRunId")]
    limits = [arm.budget.max_usd for arm in arms if arm.budget]
    assert trial["maxBudgetUsd"] == pytest.approx(sum(limits))
    assert min(limits) > 0.2
    assert 0.4 < sum(limits) - cost < 0.45
    usd = EstimateInterval(cost, cost, cost)
    expected = with_trial(RunEstimate(20, usd, EstimateInterval(), ()), 1, 1.0).trial
    assert expected is not None
    assert expected.probes == sum(arm.plan.total for arm in arms)


def test_a_requested_trial_that_costs_more_than_its_scale_run_says_what_would_be_enough(client: Client) -> None:
    """A trial has five conversations of each prompt at least, more than the scale run."""
    run, report = reported_scale_run(client, 6)
    start_if_wanted(asks_for_trial(run), report.rpartition("/")[2], utc_now())
    refusal = client.get(report).json()["trialRefusal"]
    assert refusal.startswith("the trial is expected to cost $")
    assert "scenarios 1, repeats 5 and" in refusal
    enough = float(refusal.rpartition("maxBudgetUsd ")[2].partition(" ")[0])
    size = {"scenarios": 1, "repeats": 5}
    assert client.post(f"{report}/trial", {**size, "maxBudgetUsd": enough - 0.00001}).status == 409
    started(client, report, **size, maxBudgetUsd=enough)


def test_a_report_says_why_a_requested_trial_did_not_start(client: Client) -> None:
    run = answered(scored(lambda index: index % 4 > 1)).completed()
    asks_for_trial(run)
    made = client.post(f"/v1/runs/{run.id}/reports", {"summarizerModel": None}).json()
    carry_out()
    report = client.get(f"/v1/runs/{run.id}/reports/{made['id']}").json()
    assert (report["trial"], report["trialRefusal"]) == (None, "the report offers no revised prompt: it has no summary")
    for text_format in ("md", "html"):
        text = client.get(f"/v1/runs/{run.id}/report", query={"format": text_format}).text
        assert "It did not start" in text
        assert "the report offers no revised prompt" in text


def test_without_asking_no_trial_starts(client: Client, report: str) -> None:
    _, _, _, run_id, _, report_id = report.split("/")
    start_if_wanted(RunRef("acme", run_id), report_id, utc_now())
    assert (client.get(report).json()["trial"], client.get(report).json()["trialRefusal"]) == (None, None)
