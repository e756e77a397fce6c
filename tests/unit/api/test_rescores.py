"""Rescores of a run over HTTP, and pass rates of the run and of its rescores."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.runs.finishing.phases import settle
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.store import executions, rescores
from tests.answered_runs import AnsweredRun
from tests.compared_runs import carry_out_jobs
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Client

YES = {"type": "contains", "value": "yes"}


@pytest.fixture(autouse=True)
def started_rescores(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the rescores whose executions were started."""
    asked: list[str] = []
    monkeypatch.setattr(executions, "start_rescore", lambda _, rescore_id, *__: asked.append(rescore_id))
    return asked


def passing(index: int) -> Scoring:
    """Every second probe passes."""
    passed = index % 2 == 0
    tone = AssertionResult("contains", passed, float(passed), "", metric="tone", tag=None if passed else "GOAL_MISS")
    return build_scoring(None, None, (tone,))


def answered(**given: Any) -> AnsweredRun:
    return AnsweredRun(**{"workspace": "acme", "answer": lambda index: "yes" if index < 2 else "no", **given})


@pytest.fixture
def run(client: Client) -> Run:
    """Two models, two scenarios, two repeats: eight transcripts."""
    two = tuple(Scenario("", "", (Message(MessageRole.USER, "?"),)) for _ in range(2))
    return answered(scenarios=two, repeats=2, scoring=passing).completed()


def carry_out(run: Run, rescore_id: str) -> None:
    ref = RunRef(run.workspace, run.id)
    for part in phases.begin(ref, rescore_id).slices:
        asyncio.run(rescore_slice(ref, rescore_id, part, lambda: 900.0, ScriptedJudge()))
    phases.complete(ref, rescore_id, NOW)


def test_a_rescore_is_created_and_started(client: Client, run: Run, started_rescores: list[str]) -> None:
    answer = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES], "judgeModel": "sim/contrarian"})
    assert answer.status == 202
    rescore = answer.json()
    assert started_rescores == [rescore["id"]]
    assert (rescore["runId"], rescore["status"]) == (run.id, "PENDING")
    assert rescore["progress"] == {"total": 8, "completed": 0, "failed": 0}
    assert rescore["config"] == {
        "assertions": [YES],
        "judgeModel": "sim/contrarian",
        "embeddingModel": None,
        "evaluatorUrl": None,
        "criteria": None,
    }
    assert rescore["isPartial"] is False
    assert client.get(f"/v1/runs/{run.id}/rescores/{rescore['id']}").json() == rescore


def test_a_rescore_needs_no_body(client: Client, run: Run) -> None:
    assert client.post(f"/v1/runs/{run.id}/rescores").status == 202


def test_results_are_listed_by_probe(client: Client, run: Run) -> None:
    rescore_id = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}).json()["id"]
    carry_out(run, rescore_id)
    answer = client.get(f"/v1/runs/{run.id}/rescores/{rescore_id}").json()
    assert (answer["status"], answer["progress"]) == ("COMPLETED", {"total": 8, "completed": 8, "failed": 0})
    page = client.get(f"/v1/runs/{run.id}/rescores/{rescore_id}/results", query={"limit": 5}).json()
    assert [each["success"] for each in page["items"]] == [True, True, False, False, False]
    assert page["items"][0]["scoring"]["results"][0]["type"] == "contains"
    rest = {"cursor": page["nextCursor"], "model": "sim/bold"}
    items = client.get(f"/v1/runs/{run.id}/rescores/{rescore_id}/results", query=rest).json()["items"]
    assert [(each["probeIndex"], each["modelId"]) for each in items] == [(n, "sim/bold") for n in (5, 6, 7)]


def test_rescores_are_listed_newest_first(client: Client, run: Run) -> None:
    ids = [client.post(f"/v1/runs/{run.id}/rescores").json()["id"] for _ in range(3)]
    page = client.get(f"/v1/runs/{run.id}/rescores", query={"limit": 2}).json()
    rest = client.get(f"/v1/runs/{run.id}/rescores", query={"cursor": page["nextCursor"]}).json()
    assert sorted(each["id"] for each in (*page["items"], *rest["items"])) == sorted(ids)
    answer = [each["id"] for each in (*page["items"], *rest["items"])]
    assert answer == sorted(answer, reverse=True)


def test_the_same_key_creates_one_rescore(client: Client, run: Run, started_rescores: list[str]) -> None:
    key = {"Idempotency-Key": "once"}
    first, again = (client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert len(client.get(f"/v1/runs/{run.id}/rescores").json()["items"]) == 1
    assert set(started_rescores) == {first.json()["id"]}


def test_a_key_is_for_one_request(client: Client, run: Run) -> None:
    key = {"Idempotency-Key": "once"}
    client.post(f"/v1/runs/{run.id}/rescores", headers=key)
    assert client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}, headers=key).status == 422


def test_an_active_run_cannot_be_rescored(client: Client) -> None:
    going = answered().start()
    answer = client.post(f"/v1/runs/{going.id}/rescores")
    assert (answer.status, "RUNNING" in answer.json()["detail"]) == (409, True)


def test_a_run_without_transcripts_cannot_be_rescored(client: Client) -> None:
    silent = answered(answer=lambda _: None).start()
    settle(RunRef(silent.workspace, silent.id), silent.fencing_token, NOW)
    assert client.post(f"/v1/runs/{silent.id}/rescores").status == 409


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"assertions": [{"type": "containz"}]}, ["assertions.0.type"]),
        ({"judgeModel": "nobody/x"}, ["judgeModel"]),
        ({"embeddingModel": "openai/x"}, ["embeddingModel"]),
        ({"criteria": {}}, ["criteria"]),
        ({"evaluatorUrl": "ftp://a.example"}, ["evaluatorUrl"]),
        ({"judges": []}, ["judges"]),
    ],
)
def test_an_invalid_rescore_names_the_fields(client: Client, run: Run, body: dict[str, Any], fields: list[str]) -> None:
    answer = client.post(f"/v1/runs/{run.id}/rescores", body)
    assert (answer.status, answer.fields()) == (422, fields)


def test_criteria_need_a_judge(client: Client) -> None:
    unjudged = answered(grader_config=replace(AnsweredRun().grader_config, judge_model=None)).completed()
    body = {"criteria": {"success": "is polite"}}
    assert client.post(f"/v1/runs/{unjudged.id}/rescores", body).fields() == ["judgeModel"]
    assert client.post(f"/v1/runs/{unjudged.id}/rescores", {**body, "judgeModel": "sim/bold"}).status == 202


def test_the_scenarios_criteria_need_a_judge(client: Client) -> None:
    scenario = Scenario("", "one", (Message(MessageRole.USER, "?"),), criteria=Criteria("is polite"))
    unjudged = answered(scenarios=(scenario,), grader_config=GraderConfig()).completed()
    refused = client.post(f"/v1/runs/{unjudged.id}/rescores", {"assertions": [YES]})
    assert (refused.status, refused.fields()) == (422, ["judgeModel"])


def test_an_assertion_of_a_rescore_needs_its_model(client: Client) -> None:
    unjudged = answered(grader_config=GraderConfig()).completed()
    body = {"assertions": [{"type": "similar", "value": "yes"}]}
    assert client.post(f"/v1/runs/{unjudged.id}/rescores", body).fields() == ["embeddingModel"]


def test_scores_have_pass_rates_by_model(client: Client, run: Run) -> None:
    answer = client.get(f"/v1/runs/{run.id}/scores").json()
    assert (answer["runId"], answer["rescoreId"], answer["k"]) == (run.id, None, 2)
    first = answer["models"][0]
    assert (first["modelId"], first["judged"], first["successes"], first["mean"]) == ("sim/steady", 4, 2, 0.5)
    assert (first["passAtK"], first["passHatK"], first["standardError"]) == (1.0, 0.0, 0.0)
    assert (first["passAtKStandardError"], first["passKScenarios"], first["scenarioCount"]) == (0.0, 2, 2)
    assert (first["metrics"], first["tags"]) == ({"tone": 0.5}, {"GOAL_MISS": 2})
    assert len(first["interval95"]) == 2


def test_scores_of_a_rescore(client: Client, run: Run) -> None:
    rescore_id = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}).json()["id"]
    carry_out(run, rescore_id)
    answer = client.get(f"/v1/runs/{run.id}/scores", query={"rescoreId": rescore_id, "k": 1}).json()
    assert [model["successes"] for model in answer["models"]] == [2, 0]
    assert answer["models"][0]["passAtK"] == 0.5


def test_scores_have_pass_rates_by_scenario_and_model(client: Client, run: Run) -> None:
    first = client.get(f"/v1/runs/{run.id}/scores/scenarios", query={"limit": 3}).json()
    rest = client.get(f"/v1/runs/{run.id}/scores/scenarios", query={"cursor": first["nextCursor"]}).json()
    rows = [*first["items"], *rest["items"]]
    assert [row["modelId"] for row in rows] == ["sim/steady"] * 2 + ["sim/bold"] * 2
    assert [(row["judged"], row["mean"], row["passAtK"]) for row in rows] == [(2, 0.5, 1.0)] * 4
    assert rest["nextCursor"] is None


def test_more_than_there_were_repeats_is_null(client: Client, run: Run) -> None:
    answer = client.get(f"/v1/runs/{run.id}/scores", query={"k": 3}).json()
    assert (answer["models"][0]["passAtK"], answer["models"][0]["passHatK"]) == (None, None)
    assert (answer["models"][0]["passAtKStandardError"], answer["models"][0]["passKScenarios"]) == (None, 0)


def test_a_corrected_result_overrides_the_judges(client: Client, run: Run) -> None:
    corrected = client.patch(f"/v1/probes/{run.id}-1", {"result": {"success": True, "reason": "it is right"}})
    assert corrected.status == 200
    answer = client.get(f"/v1/runs/{run.id}/scores", query={"model": "sim/steady"}).json()
    assert [model["successes"] for model in answer["models"]] == [3]


def test_a_run_without_results_has_no_pass_rate(client: Client) -> None:
    unscored = answered(scoring=lambda _: None).completed()
    (first, _) = client.get(f"/v1/runs/{unscored.id}/scores").json()["models"]
    assert (first["mean"], first["unscored"]) == (None, 1)


def test_an_empty_rescore_id_is_refused(client: Client, run: Run) -> None:
    for path in ("scores", "scores/scenarios"):
        refused = client.get(f"/v1/runs/{run.id}/{path}", query={"rescoreId": ""})
        assert (refused.status, refused.json()["errors"][0]["field"]) == (422, "rescoreId")


@pytest.mark.parametrize("path", ["rescores/rsc_none", "rescores/rsc_none/results", "scores?rescoreId=rsc_none"])
def test_an_unknown_rescore_is_not_found(client: Client, run: Run, path: str) -> None:
    route, _, query = path.partition("?rescoreId=")
    assert client.get(f"/v1/runs/{run.id}/{route}", query={"rescoreId": query} if query else None).status == 404


@pytest.mark.parametrize("path", ["rescores", "scores", "scores/scenarios"])
def test_another_workspace_sees_nothing(client: Client, run: Run, stranger: str, path: str) -> None:
    assert client.get(f"/v1/runs/{run.id}/{path}", token=stranger).status == 404
    assert client.post(f"/v1/runs/{run.id}/rescores", token=stranger).status == 404


def test_a_viewer_reads_scores_and_cannot_rescore(client: Client, run: Run, viewer: str) -> None:
    assert client.get(f"/v1/runs/{run.id}/scores", token=viewer).status == 200
    assert client.post(f"/v1/runs/{run.id}/rescores", token=viewer).status == 403


def test_a_rescore_is_listed_for_the_sweeper_until_it_is_over(client: Client, run: Run) -> None:
    rescore_id = client.post(f"/v1/runs/{run.id}/rescores").json()["id"]
    assert [each.rescore_id for each in rescores.list_open_rescores()] == [rescore_id]
    carry_out(run, rescore_id)
    assert list(rescores.list_open_rescores()) == []


def test_deleting_content_deletes_the_judges_quotes(client: Client, run: Run) -> None:
    rescore_id = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}).json()["id"]
    carry_out(run, rescore_id)
    assert client.delete(f"/v1/probes/{run.id}-0/content").status == 204
    first = client.get(f"/v1/runs/{run.id}/rescores/{rescore_id}/results").json()["items"][0]
    assert (first["success"], first["scoring"], first["verdict"]) == (True, None, None)


def test_a_rescore_may_compare_targets(client: Client, run: Run) -> None:
    best = Assertion("select-best", value="the shortest").to_json()
    rescore_id = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [best]}).json()["id"]
    carry_out(run, rescore_id)
    items = client.get(f"/v1/runs/{run.id}/rescores/{rescore_id}/results").json()["items"]
    assert [each["success"] for each in items] == [True] * 4 + [False] * 4


def test_a_rescore_is_compared_with_the_runs_own_scoring_target_by_target(
    client: Client, run: Run, started_rescores: list[str]
) -> None:
    client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]})
    [rescore_id] = started_rescores
    carry_out(run, rescore_id)
    sides = {"baseline": {"runId": run.id}, "comparison": {"runId": run.id, "rescoreId": rescore_id}}
    created = client.post("/v1/comparisons", sides).json()
    carry_out_jobs()
    rows = client.get(f"/v1/comparisons/{created['id']}").json()["figures"]["rows"]
    assert [(row["comparison"][0]["targetId"], row["isSubstituted"]) for row in rows] == [
        ("sim/steady", False),
        ("sim/bold", False),
    ]


def test_a_rescore_may_have_a_budget_of_its_own(client: Client, run: Run) -> None:
    created = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES], "maxBudgetUsd": 2}).json()
    unused = {"maxBudgetUsd": 2, "spentUsd": 0, "uncertainUsd": 0, "reservedUsd": 0}
    assert created["budget"] == unused
    other = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}).json()
    listed = client.get(f"/v1/runs/{run.id}/rescores").json()["items"]
    assert {each["id"]: each["budget"] for each in listed} == {created["id"]: unused, other["id"]: None}


def test_the_budget_of_a_stopped_rescore_is_raised(client: Client, run: Run, started_rescores: list[str]) -> None:
    created = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES], "maxBudgetUsd": 2}).json()
    path = f"/v1/runs/{run.id}/rescores/{created['id']}/budget"
    assert client.patch(path, {"maxBudgetUsd": 3}).json()["budget"]["maxBudgetUsd"] == 3
    assert rescores.mark_exhausted(rescores.get(ref_of(run), created["id"]))
    phases.complete(ref_of(run), created["id"], NOW)
    assert client.get(f"/v1/runs/{run.id}/rescores/{created['id']}").json()["failure"]["where"] == "budget"
    low = client.patch(path, {"maxBudgetUsd": 3})
    assert (low.status, low.fields()) == (422, ["maxBudgetUsd"])
    raised = client.patch(path, {"maxBudgetUsd": 4})
    assert (raised.status, raised.json()["status"], raised.json()["failure"]) == (200, "PENDING", None)
    assert raised.json()["budget"]["maxBudgetUsd"] == 4
    assert len(started_rescores) == 2
    carry_out(run, created["id"])
    assert client.get(f"/v1/runs/{run.id}/rescores/{created['id']}").json()["status"] == "COMPLETED"


def test_a_rescore_without_a_budget_has_none_to_raise(client: Client, run: Run) -> None:
    created = client.post(f"/v1/runs/{run.id}/rescores", {"assertions": [YES]}).json()
    answer = client.patch(f"/v1/runs/{run.id}/rescores/{created['id']}/budget", {"maxBudgetUsd": 4})
    assert (answer.status, "without maxBudgetUsd" in answer.json()["detail"]) == (409, True)


@pytest.mark.parametrize("amount", [0, -1, "2", True, 1_000_001])
def test_a_rescores_budget_is_a_positive_amount(client: Client, run: Run, amount: object) -> None:
    answer = client.post(f"/v1/runs/{run.id}/rescores", {"maxBudgetUsd": amount})
    assert (answer.status, answer.fields()) == (422, ["maxBudgetUsd"])


def test_a_budgeted_rescore_refuses_models_without_a_price(client: Client, run: Run) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    polite = {"type": "llm-rubric", "value": "is polite"}
    body = {"assertions": [polite], "judgeModel": "openai/unheard-of", "maxBudgetUsd": 2}
    refused = client.post(f"/v1/runs/{run.id}/rescores", body)
    assert (refused.status, refused.fields()) == (422, ["allowUnpriced"])
    assert "openai/unheard-of" in refused.text
    assert client.post(f"/v1/runs/{run.id}/rescores", {**body, "allowUnpriced": True}).status == 202
    assert client.post(f"/v1/runs/{run.id}/rescores", {**body, "assertions": [YES]}).status == 202


def test_a_key_with_another_budget_is_another_request(client: Client, run: Run) -> None:
    key, path = {"Idempotency-Key": "once"}, f"/v1/runs/{run.id}/rescores"
    first = client.post(path, {"maxBudgetUsd": 1}, headers=key)
    assert client.post(path, {"maxBudgetUsd": 1}, headers=key).json() == first.json()
    assert client.post(path, {"maxBudgetUsd": 2}, headers=key).status == 422
