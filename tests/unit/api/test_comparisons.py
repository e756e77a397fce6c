"""Comparisons over HTTP, and the jobs that compute them."""

from typing import Any

import pytest

from cupel_core.analysis.sides import side_scenarios
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counts import ScenarioCases
from cupel_core.domain.analysis.matching import MatchedBy, SideScenario, match_scenarios
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.store import definition_scenarios, runs
from cupel_core.store.snapshots import Snapshot
from tests.answered_runs import AnsweredRun
from tests.compared_runs import SCENARIOS, carry_out_jobs, run_of
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.unit.conflicting_transactions import conflicting_transactions

SIDES = {"baseline": "sim/steady", "comparison": "sim/bold"}


@pytest.fixture
def baseline(client: Client) -> Run:
    return run_of("def_shared", "++++++++")


@pytest.fixture
def run(client: Client) -> Run:
    return run_of("def_shared", "--------")


def body_of(baseline: Run, run: Run, **given: Any) -> dict[str, Any]:
    return {"baseline": {"runId": baseline.id}, "comparison": {"runId": run.id}, **given}


def compared(client: Client, baseline: Run, run: Run, **given: Any) -> dict[str, Any]:
    created = client.post("/v1/comparisons", body_of(baseline, run, **given)).json()
    carry_out_jobs()
    comparison: dict[str, Any] = client.get(f"/v1/comparisons/{created['id']}").json()
    return comparison


def test_a_comparison_is_queued_and_computed(client: Client, baseline: Run, run: Run) -> None:
    answer = client.post("/v1/comparisons", body_of(baseline, run))
    assert answer.status == 202
    created = answer.json()
    assert (created["status"], created["figures"]) == ("QUEUED", None)
    assert answer.headers["Location"] == f"/v1/comparisons/{created['id']}"
    carry_out_jobs()
    comparison = client.get(f"/v1/comparisons/{created['id']}").json()
    assert (comparison["status"], comparison["verdict"]) == ("COMPLETED", "LOWER")
    figures = comparison["figures"]
    assert (figures["metric"], figures["commonScenarios"], figures["overall"]) == ("PASS_RATE", SCENARIOS, None)
    row = figures["rows"][0]
    assert (row["baselineMean"], row["comparisonMean"], row["test"]) == (1, 0, "MCNEMAR_MID_P")
    assert row["comparison"][0]["targetId"] == "sim/steady"


def test_the_same_comparison_is_answered_with_200(client: Client, baseline: Run, run: Run) -> None:
    first = client.post("/v1/comparisons", body_of(baseline, run)).json()
    again = client.post("/v1/comparisons", body_of(baseline, run))
    assert (again.status, again.json()["id"]) == (200, first["id"])
    assert carry_out_jobs() == ["completed"]


def test_a_request_that_conflicts_with_others_may_be_repeated(client: Client, baseline: Run, run: Run) -> None:
    with conflicting_transactions():
        refused = client.post("/v1/comparisons", body_of(baseline, run))
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert client.post("/v1/comparisons", body_of(baseline, run)).status == 202


def test_another_margin_is_another_comparison(client: Client, baseline: Run, run: Run) -> None:
    first = client.post("/v1/comparisons", body_of(baseline, run)).json()
    second = client.post("/v1/comparisons", body_of(baseline, run, margin=0.2)).json()
    assert first["id"] != second["id"]


def test_a_run_that_goes_on_cannot_be_compared(client: Client, baseline: Run) -> None:
    running = AnsweredRun(workspace="acme", definition_id="def_shared").start()
    answer = client.post("/v1/comparisons", body_of(baseline, running))
    assert (answer.status, answer.json()["detail"]) == (
        409,
        f"the run {running.id} is RUNNING: wait until it has ended",
    )


@pytest.mark.parametrize(
    ("side", "field", "message"),
    [
        ({"runId": "run_none"}, "comparison.runId", "there is no run run_none"),
        ({"targets": ["sim/bold"]}, "comparison.targets.0", "the run has no such target; it has sim/steady"),
        ({"prompts": ["polite"]}, "comparison.prompts.0", "the run has no such prompt; it has none"),
        ({"rescoreId": "rsc_none"}, "comparison.rescoreId", "there is no rescore rsc_none of the run"),
        (
            {"model": "sim/steady"},
            "comparison.model",
            "is not a known field; known fields: runId, targets, prompts, rescoreId",
        ),
    ],
)
def test_what_a_side_does_not_have_is_named(
    client: Client, baseline: Run, run: Run, side: dict[str, Any], field: str, message: str
) -> None:
    body = body_of(baseline, run)
    body["comparison"] = {"runId": run.id, **side}
    answer = client.post("/v1/comparisons", body)
    assert answer.status == 422
    error = answer.json()["errors"][0]
    assert error["field"] == field
    assert error["message"].startswith(message)


@pytest.mark.parametrize("given", [{"alpha": 0}, {"margin": -1}, {"metric": "SCORE"}, {"experiment": "x"}])
def test_invalid_options_are_refused(client: Client, baseline: Run, run: Run, given: dict[str, Any]) -> None:
    assert client.post("/v1/comparisons", body_of(baseline, run, **given)).status == 422


def test_a_run_is_not_compared_with_itself(client: Client, run: Run) -> None:
    answer = client.post("/v1/comparisons", body_of(run, run))
    assert answer.json()["errors"][0]["field"] == "comparison"


def test_targets_of_one_run_are_compared(client: Client) -> None:
    run = run_of("def_shared", "++++++++--------", models=("sim/steady", "sim/bold"))
    body = body_of(run, run)
    body["baseline"]["targets"], body["comparison"]["targets"] = ["sim/steady"], ["sim/bold"]
    created = client.post("/v1/comparisons", body).json()
    carry_out_jobs()
    row = client.get(f"/v1/comparisons/{created['id']}").json()["figures"]["rows"][0]
    assert (row["verdict"], row["isSubstituted"]) == ("LOWER", True)


def test_runs_without_common_scenarios_are_refused(client: Client, baseline: Run) -> None:
    other = AnsweredRun(workspace="acme").completed()
    answer = client.post("/v1/comparisons", body_of(baseline, other))
    assert answer.json()["errors"][0]["message"].startswith("NOT_MATCHABLE: the scenarios of answered (def_shared)")


def test_scenarios_of_another_definition_are_matched_by_dimensions(client: Client, baseline: Run) -> None:
    renamed = tuple(Scenario("", "", (Message(MessageRole.USER, "!"),), {"stakes": float(each)}) for each in range(8))
    comparison = compared(client, baseline, run_of("def_another", "+", scenarios=renamed))
    assert comparison["figures"]["matchedBy"] == "DIMENSIONS"
    row = comparison["figures"]["rows"][0]
    assert (row["verdict"], row["difference"], row["scenarios"]) == ("INCONCLUSIVE", 0, 8)
    own = row["theseScenarios"]
    assert (own["difference"], own["interval"], own["p"]) == (0, pytest.approx([-0.462, 0.462], abs=1e-3), 1)


def test_scenarios_of_an_edited_file_are_matched_by_content_or_name(client: Client) -> None:
    asked = [{"name": f"case {each}", "messages": [{"role": "user", "content": f"{each}?"}]} for each in range(3)]
    unnamed = {"messages": [{"role": "user", "content": "unnamed?"}]}
    body = {
        "name": "Edited",
        "content": {"prompts": [{"id": "plain", "system": "Answer."}]},
        "scenarios": [*asked, unnamed],
    }
    definition_id = client.post("/v1/definitions", body).json()["id"]
    asked[1]["name"], asked[2]["messages"] = "renamed", [{"role": "user", "content": "edited?"}]
    edited = {"content": {"prompts": [{"id": "plain", "system": "Answer briefly."}]}, "scenarios": [unnamed, *asked]}
    assert client.patch(f"/v1/definitions/{definition_id}", edited).status == 200

    matched = match_scenarios(*(side_of_version(definition_id, number) for number in (1, 2)))
    assert (matched.matched_by, matched.only_baseline) == (MatchedBy.CONTENT_OR_NAME, 0)
    assert [each.cases[0].comparison for each in matched.common] == [(1,), (2,), (3,), (0,)]


def side_of_version(definition_id: str, number: int) -> list[SideScenario]:
    manifest = definition_scenarios.get_manifest("acme", definition_id, number)
    snapshot = Snapshot({}, manifest, tuple(range(manifest.total)), prices={}, price_list="test")
    return list(side_scenarios(snapshot, [ScenarioCases(each, (each,)) for each in range(manifest.total)]))


def test_what_changed_is_listed(client: Client, baseline: Run) -> None:
    comparison = compared(client, baseline, run_of("def_shared", "+", repeats=2))
    changed = comparison["figures"]["whatChanged"]
    assert changed["summary"] == ["Repeats: 1 → 2."]
    assert (changed["causes"], changed["isConfounded"], changed["definitionPath"]) == ([], False, ["def_shared"])


def test_scenarios_are_listed_most_changed_first(client: Client, baseline: Run) -> None:
    comparison = compared(client, baseline, run_of("def_shared", "+-++++++"))
    path = f"/v1/comparisons/{comparison['id']}/scenarios"
    first = client.get(path, query={"limit": 1}).json()
    assert [(each["scenarioName"], each["change"]) for each in first["items"]] == [("case 1", "decreased")]
    rest = client.get(path, query={"limit": 100, "cursor": first["nextCursor"]}).json()
    assert len(rest["items"]) == SCENARIOS - 1
    assert client.get(path, query={"change": "increased"}).json()["items"] == []
    assert len(client.get(path, query={"change": "unchanged", "limit": 3}).json()["items"]) == 3


def test_rows_that_there_are_not_are_refused(client: Client, baseline: Run, run: Run) -> None:
    comparison = compared(client, baseline, run)
    answer = client.get(f"/v1/comparisons/{comparison['id']}/scenarios", query={"row": 1})
    assert answer.json()["errors"] == [{"field": "row", "message": "must be at most 0: the comparison has 1 row"}]


def test_scenarios_of_a_queued_comparison_are_a_conflict(client: Client, baseline: Run, run: Run) -> None:
    created = client.post("/v1/comparisons", body_of(baseline, run)).json()
    assert client.get(f"/v1/comparisons/{created['id']}/scenarios").status == 409


def test_comparisons_are_listed_by_run(client: Client, baseline: Run, run: Run) -> None:
    comparison = compared(client, baseline, run)
    listed = client.get("/v1/comparisons", query={"runId": run.id}).json()["items"]
    assert [each["id"] for each in listed] == [comparison["id"]]


def test_comparisons_of_a_deleted_run_are_hidden(client: Client, baseline: Run, run: Run) -> None:
    comparison = compared(client, baseline, run)
    runs.delete(RunRef("acme", baseline.id), NOW, erase_from=NOW)
    assert client.get(f"/v1/comparisons/{comparison['id']}").status == 404
    assert client.get("/v1/comparisons").json()["items"] == []


def test_a_deleted_comparison_is_gone_and_can_be_asked_for_again(client: Client, baseline: Run, run: Run) -> None:
    comparison = compared(client, baseline, run)
    assert client.delete(f"/v1/comparisons/{comparison['id']}").status == 204
    assert client.get(f"/v1/comparisons/{comparison['id']}").status == 404
    assert client.delete(f"/v1/comparisons/{comparison['id']}").status == 404
    assert client.post("/v1/comparisons", body_of(baseline, run)).status == 202


def test_other_workspaces_see_nothing(client: Client, baseline: Run, run: Run, stranger: str) -> None:
    comparison = compared(client, baseline, run)
    assert client.get(f"/v1/comparisons/{comparison['id']}", token=stranger).status == 404
    assert client.get(f"/v1/jobs/{comparison['jobId']}", token=stranger).status == 404
    assert client.post("/v1/comparisons", body_of(baseline, run), token=stranger).status == 422


def test_viewers_read_and_members_compare(client: Client, baseline: Run, run: Run, viewer: str, member: str) -> None:
    assert client.post("/v1/comparisons", body_of(baseline, run), token=viewer).status == 403
    created = client.post("/v1/comparisons", body_of(baseline, run), token=member)
    assert client.get(f"/v1/comparisons/{created.json()['id']}", token=viewer).status == 200


def test_jobs_are_listed_and_show_their_progress(client: Client, baseline: Run, run: Run) -> None:
    created = client.post("/v1/comparisons", body_of(baseline, run)).json()
    job = client.get(f"/v1/jobs/{created['jobId']}").json()
    assert (job["kind"], job["status"], job["resultId"]) == ("comparison", "QUEUED", created["id"])
    carry_out_jobs()
    listed = client.get("/v1/jobs", query={"runId": run.id, "status": "COMPLETED"}).json()["items"]
    assert [(each["id"], each["stage"]) for each in listed] == [(created["jobId"], "storing")]
    assert client.get("/v1/jobs", query={"status": "FAILED"}).json()["items"] == []


def test_costs_and_times_are_compared_scenario_by_scenario(client: Client) -> None:
    def amounts(factor: float) -> dict[str, Any]:
        return {
            "cost_usd": lambda index: 0.001 * (1 + index) * factor * (1 + index % 3 / 100),
            "duration_ms": lambda index: round(1_000 * (1 + index) * factor) + index % 3,
        }

    before, after = (run_of("def_shared", "+", **amounts(factor)) for factor in (1.0, 1.5))
    row = compared(client, before, after)["figures"]["rows"][0]
    time, cost = row["timeRatio"], row["costRatio"]
    assert (cost["verdict"], cost["scenarios"], cost["ratio"]) == ("HIGHER", SCENARIOS, pytest.approx(1.5))
    assert (cost["test"], cost["interval"], cost["leftOut"]) == ("SIGN_MID_P", None, {})
    assert (time["verdict"], time["ratio"], time["test"]) == (None, pytest.approx(1.5, rel=1e-3), "PAIRED_T")
    low, high = time["interval"]
    assert 1 < low < time["ratio"] < high < 2
    assert "Both are different runs" in time["sentence"]


def test_unknown_costs_are_not_compared_as_zero(client: Client) -> None:
    costs = {"cost_usd": lambda index: None if index < 4 else 0.01}
    before, after = run_of("def_shared", "+", cost_usd=lambda _: 0.01), run_of("def_shared", "+", **costs)
    cost = compared(client, before, after)["figures"]["rows"][0]["costRatio"]
    assert (cost["verdict"], cost["scenarios"], cost["leftOut"]) == ("NOT_COMPARABLE", 4, {"unknown": 4})
    assert (cost["interval"], cost["p"], cost["adjustedP"]) == (None, None, None)


def test_targets_of_one_run_have_a_verdict_on_their_times(client: Client) -> None:
    durations = {"duration_ms": lambda index: (1_000 if index < SCENARIOS else 1_500) + 10 * (index % 5)}
    both = run_of("def_shared", "+", models=("sim/steady", "sim/bold"), **durations)
    sides = {side: {"runId": both.id, "targets": [target]} for side, target in SIDES.items()}
    created = client.post("/v1/comparisons", sides).json()
    carry_out_jobs()
    figures = client.get(f"/v1/comparisons/{created['id']}").json()["figures"]
    time = figures["rows"][0]["timeRatio"]
    assert (time["verdict"], time["ratio"]) == ("HIGHER", pytest.approx(1.5, rel=0.02))
    assert time["sentence"].startswith("In the typical conversation, sim/bold takes 4")
