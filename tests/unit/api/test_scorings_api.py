"""Scoring a run anew over the API, and reading what any scoring says."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, conclude
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.finishing.phases import settle
from cupel_core.messages import RunRef
from cupel_core.rescoring import phases
from cupel_core.rescoring.slices import score_slice
from cupel_core.store import executions, rescores, scenarios, snapshots
from tests.answered_runs import Answered
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW
from tests.unit.api.client import Client

YES = {"type": "contains", "value": "yes"}


@pytest.fixture(autouse=True)
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The scorings whose executions were asked for."""
    asked: list[str] = []
    monkeypatch.setattr(executions, "begin_scoring", lambda _, scoring_id: asked.append(scoring_id))
    yield asked
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


def passing(index: int) -> Scoring:
    """Every second probe passes."""
    passed = index % 2 == 0
    tone = AssertionResult("contains", passed, float(passed), "", metric="tone", tag=None if passed else "GOAL_MISS")
    return conclude(None, None, (tone,))


def answered(**given: Any) -> Answered:
    return Answered(**{"workspace": "acme", "answer": lambda index: "yes" if index < 2 else "no", **given})


@pytest.fixture
def run(client: Client) -> Run:
    """Two models, two scenarios, two repeats: eight transcripts."""
    two = tuple(Scenario("", "", (Message(Role.USER, "?"),)) for _ in range(2))
    return answered(scenarios=two, repeats=2, scoring=passing).completed()


def carry_out(run: Run, scoring_id: str) -> None:
    ref = RunRef(run.workspace, run.id)
    for part in phases.begin(ref, scoring_id).slices:
        asyncio.run(score_slice(ref, scoring_id, part, lambda: 900.0, ScriptedJudge()))
    phases.complete(ref, scoring_id, NOW)


def test_a_scoring_is_taken_in_and_begun(client: Client, run: Run, begun: list[str]) -> None:
    answer = client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES], "judgeModel": "sim/other"})
    assert answer.status == 202
    scoring = answer.json()
    assert begun == [scoring["id"]]
    assert (scoring["runId"], scoring["status"]) == (run.id, "PENDING")
    assert scoring["progress"] == {"total": 8, "scored": 0, "errors": 0}
    assert scoring["config"] == {
        "assertions": [YES],
        "judgeModel": "sim/other",
        "embeddingModel": None,
        "evaluatorUrl": None,
        "criteria": None,
    }
    assert client.get(f"/v1/runs/{run.id}/scorings/{scoring['id']}").json() == scoring


def test_nothing_has_to_be_otherwise(client: Client, run: Run) -> None:
    assert client.post(f"/v1/runs/{run.id}/rescore").status == 202


def test_its_results_are_told_by_probe(client: Client, run: Run) -> None:
    scoring_id = client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES]}).json()["id"]
    carry_out(run, scoring_id)
    told = client.get(f"/v1/runs/{run.id}/scorings/{scoring_id}").json()
    assert (told["status"], told["progress"]) == ("COMPLETED", {"total": 8, "scored": 8, "errors": 0})
    page = client.get(f"/v1/runs/{run.id}/scorings/{scoring_id}/results", query={"limit": 5}).json()
    assert [each["success"] for each in page["items"]] == [True, True, False, False, False]
    assert page["items"][0]["scoring"]["results"][0]["type"] == "contains"
    rest = {"cursor": page["nextCursor"], "model": "sim/bold"}
    items = client.get(f"/v1/runs/{run.id}/scorings/{scoring_id}/results", query=rest).json()["items"]
    assert [(each["probeIndex"], each["modelId"]) for each in items] == [(n, "sim/bold") for n in (5, 6, 7)]


def test_scorings_are_listed_newest_first(client: Client, run: Run) -> None:
    ids = [client.post(f"/v1/runs/{run.id}/rescore").json()["id"] for _ in range(3)]
    page = client.get(f"/v1/runs/{run.id}/scorings", query={"limit": 2}).json()
    rest = client.get(f"/v1/runs/{run.id}/scorings", query={"cursor": page["nextCursor"]}).json()
    assert sorted(each["id"] for each in (*page["items"], *rest["items"])) == sorted(ids)
    told = [each["id"] for each in (*page["items"], *rest["items"])]
    assert told == sorted(told, reverse=True)


def test_the_same_key_makes_one_scoring(client: Client, run: Run, begun: list[str]) -> None:
    key = {"Idempotency-Key": "once"}
    first, again = (client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES]}, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert len(client.get(f"/v1/runs/{run.id}/scorings").json()["items"]) == 1
    assert set(begun) == {first.json()["id"]}


def test_a_key_is_for_one_request(client: Client, run: Run) -> None:
    key = {"Idempotency-Key": "once"}
    client.post(f"/v1/runs/{run.id}/rescore", headers=key)
    assert client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES]}, headers=key).status == 422


def test_a_run_that_goes_on_is_not_scored_anew(client: Client) -> None:
    going = answered().start()
    answer = client.post(f"/v1/runs/{going.id}/rescore")
    assert (answer.status, "RUNNING" in answer.json()["detail"]) == (409, True)


def test_a_run_without_transcripts_is_not_scored(client: Client) -> None:
    silent = answered(answer=lambda _: None).start()
    settle(RunRef(silent.workspace, silent.id), silent.epoch, NOW)
    assert client.post(f"/v1/runs/{silent.id}/rescore").status == 409


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
def test_what_cannot_be_carried_out_is_refused_by_field(
    client: Client, run: Run, body: dict[str, Any], fields: list[str]
) -> None:
    answer = client.post(f"/v1/runs/{run.id}/rescore", body)
    assert (answer.status, answer.fields()) == (422, fields)


def test_criteria_need_a_judge(client: Client) -> None:
    unjudged = answered(evaluation=replace(Answered().evaluation, judge_model=None)).completed()
    body = {"criteria": {"success": "is polite"}}
    assert client.post(f"/v1/runs/{unjudged.id}/rescore", body).fields() == ["judgeModel"]
    assert client.post(f"/v1/runs/{unjudged.id}/rescore", {**body, "judgeModel": "sim/judge"}).status == 202


def test_scores_are_told_of_each_model(client: Client, run: Run) -> None:
    told = client.get(f"/v1/runs/{run.id}/scores").json()
    assert (told["runId"], told["scoringId"], told["k"]) == (run.id, None, 2)
    first = told["models"][0]
    assert (first["modelId"], first["judged"], first["successes"], first["mean"]) == ("sim/steady", 4, 2, 0.5)
    assert (first["passAtK"], first["passHatK"], first["standardError"]) == (1.0, 0.0, 0.0)
    assert (first["metrics"], first["tags"]) == ({"tone": 0.5}, {"GOAL_MISS": 2})
    assert len(first["interval95"]) == 2


def test_scores_are_told_of_another_scoring(client: Client, run: Run) -> None:
    scoring_id = client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES]}).json()["id"]
    carry_out(run, scoring_id)
    told = client.get(f"/v1/runs/{run.id}/scores", query={"scoringId": scoring_id, "k": 1}).json()
    assert [model["successes"] for model in told["models"]] == [2, 0]
    assert told["models"][0]["passAtK"] == 0.5


def test_scores_are_told_of_each_scenario_and_model(client: Client, run: Run) -> None:
    first = client.get(f"/v1/runs/{run.id}/scores/scenarios", query={"limit": 3}).json()
    rest = client.get(f"/v1/runs/{run.id}/scores/scenarios", query={"cursor": first["nextCursor"]}).json()
    rows = [*first["items"], *rest["items"]]
    assert [row["modelId"] for row in rows] == ["sim/steady"] * 2 + ["sim/bold"] * 2
    assert [(row["judged"], row["mean"], row["passAtK"]) for row in rows] == [(2, 0.5, 1.0)] * 4
    assert rest["nextCursor"] is None


def test_more_than_there_were_repeats_is_null(client: Client, run: Run) -> None:
    told = client.get(f"/v1/runs/{run.id}/scores", query={"k": 3}).json()
    assert (told["models"][0]["passAtK"], told["models"][0]["passHatK"]) == (None, None)


def test_a_persons_word_counts_before_the_judges(client: Client, run: Run) -> None:
    corrected = client.patch(f"/v1/probes/{run.id}-1", {"result": {"success": True, "reason": "it is right"}})
    assert corrected.status == 200
    told = client.get(f"/v1/runs/{run.id}/scores", query={"model": "sim/steady"}).json()
    assert [model["successes"] for model in told["models"]] == [3]


def test_a_run_without_results_has_no_pass_rate(client: Client) -> None:
    unscored = answered(scoring=lambda _: None).completed()
    (first, _) = client.get(f"/v1/runs/{unscored.id}/scores").json()["models"]
    assert (first["mean"], first["unscored"]) == (None, 1)


@pytest.mark.parametrize("path", ["scorings/scr_none", "scorings/scr_none/results", "scores?scoringId=scr_none"])
def test_a_scoring_that_is_not_there_is_not_found(client: Client, run: Run, path: str) -> None:
    route, _, query = path.partition("?scoringId=")
    assert client.get(f"/v1/runs/{run.id}/{route}", query={"scoringId": query} if query else None).status == 404


@pytest.mark.parametrize("path", ["scorings", "scores", "scores/scenarios"])
def test_another_workspace_sees_nothing(client: Client, run: Run, stranger: str, path: str) -> None:
    assert client.get(f"/v1/runs/{run.id}/{path}", token=stranger).status == 404
    assert client.post(f"/v1/runs/{run.id}/rescore", token=stranger).status == 404


def test_a_viewer_reads_and_scores_nothing(client: Client, run: Run, viewer: str) -> None:
    assert client.get(f"/v1/runs/{run.id}/scores", token=viewer).status == 200
    assert client.post(f"/v1/runs/{run.id}/rescore", token=viewer).status == 403


def test_a_scoring_is_listed_for_the_sweeper_until_it_is_over(client: Client, run: Run) -> None:
    scoring_id = client.post(f"/v1/runs/{run.id}/rescore").json()["id"]
    assert [each.scoring_id for each in rescores.every_open()] == [scoring_id]
    carry_out(run, scoring_id)
    assert list(rescores.every_open()) == []


def test_what_was_deleted_takes_what_judges_said_along(client: Client, run: Run) -> None:
    scoring_id = client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [YES]}).json()["id"]
    carry_out(run, scoring_id)
    assert client.delete(f"/v1/probes/{run.id}-0").status == 204
    first = client.get(f"/v1/runs/{run.id}/scorings/{scoring_id}/results").json()["items"][0]
    assert (first["success"], first["scoring"], first["verdict"]) == (True, None, None)


def test_an_assertion_that_compares_targets_may_be_asked_for(client: Client, run: Run) -> None:
    best = Assertion("select-best", value="the shortest").to_json()
    scoring_id = client.post(f"/v1/runs/{run.id}/rescore", {"assertions": [best]}).json()["id"]
    carry_out(run, scoring_id)
    items = client.get(f"/v1/runs/{run.id}/scorings/{scoring_id}/results").json()["items"]
    assert [each["success"] for each in items] == [True] * 4 + [False] * 4
