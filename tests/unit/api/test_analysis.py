"""Analyses and result tables over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.client import BaseClient

from cupel_core.analysis import queries, tabulate, workflow
from cupel_core.analysis.basic import record_failure
from cupel_core.base.clock import utc_now
from cupel_core.domain.analysis.records import AnalysisKind
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import analyses, blobs, executions, outcomes, runs
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun, RatedRun
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of
from tests.unit.api.client import Client

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")


def case(number: int) -> Scenario:
    return Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), {"stakes": float(number % 5 + 1)})


def score(index: int) -> int:
    return index % 12 % 5 + 1


def answer_text(index: int) -> str | None:
    return None if index == 35 else f"Rating: {score(index) if index < 24 else 6 - score(index)}"


def passed(index: int) -> Scoring:
    return Scoring(index % 2 == 0, 0.5, "why")


@pytest.fixture
def completed(client: Client) -> Run:
    """Steady and bold answer as the stakes are, contrarian the other way round; its last probe is errored."""
    return RatedRun(
        tuple(map(case, range(12))),
        MODELS,
        answer=answer_text,
        scoring=passed,
        content=Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
        workspace="acme",
    ).completed()


@pytest.fixture
def analyzed(client: Client, completed: Run) -> dict[str, Any]:
    assert client.post(f"/v1/runs/{completed.id}/analysis").status == 200
    analysis: dict[str, Any] = client.get(f"/v1/runs/{completed.id}/analysis").json()
    return analysis


def test_an_analysis_has_the_figures_of_each_target(analyzed: dict[str, Any]) -> None:
    figures = analyzed["figures"]
    assert (analyzed["status"], analyzed["isCurrent"], analyzed["isStale"]) == ("COMPLETED", True, False)
    steady, _, contrarian = figures["columns"]
    assert (steady["targetId"], steady["estimate"]["decision"]["answers"]) == ("sim/steady", 12)
    assert contrarian["estimate"]["errored"] == 1
    assert contrarian["isOutlier"]
    assert figures["agreement"]["outliers"] == [2]
    assert figures["dimensions"][0]["name"] == "stakes"
    assert len(steady["estimate"]["decision"]["interval95"]) == 2
    assert figures["contested"][0]["scenarioName"].startswith("case ")


def test_an_analysis_that_is_current_is_not_computed_again(
    client: Client, completed: Run, analyzed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "analyze_run", None)
    again = client.post(f"/v1/runs/{completed.id}/analysis")
    assert (again.status, again.json()["id"]) == (200, analyzed["id"])


def test_force_computes_it_again(client: Client, completed: Run, analyzed: dict[str, Any]) -> None:
    again = client.post(f"/v1/runs/{completed.id}/analysis", {"force": True}).json()
    assert again["id"] != analyzed["id"]
    assert again["inputsHash"] == analyzed["inputsHash"]
    listed = client.get(f"/v1/runs/{completed.id}/analysis/history").json()["items"]
    assert [(each["id"], each["isCurrent"]) for each in listed] == [(again["id"], True), (analyzed["id"], False)]


def test_a_correction_makes_an_analysis_stale(client: Client, completed: Run, analyzed: dict[str, Any]) -> None:
    outcomes.set_correction(ref_of(completed), 1, TranscriptResult(True))
    stale = client.get(f"/v1/runs/{completed.id}/analysis").json()
    assert (stale["isStale"], stale["staleReason"]) == (True, "inputs")
    assert stale["figures"] == analyzed["figures"]
    client.post(f"/v1/runs/{completed.id}/analysis")
    fresh = client.get(f"/v1/runs/{completed.id}/analysis").json()
    assert not fresh["isStale"]
    before, after = (each["figures"]["overall"]["passRate"]["successes"] for each in (analyzed, fresh))
    assert after == before + 1


def test_a_correction_that_is_removed_brings_the_figures_back(
    client: Client, completed: Run, analyzed: dict[str, Any]
) -> None:
    for result in (TranscriptResult(True), None):
        outcomes.set_correction(ref_of(completed), 1, result)
    again = client.post(f"/v1/runs/{completed.id}/analysis").json()
    assert (again["id"], again["isStale"]) == (analyzed["id"], False)


def test_a_retry_makes_an_analysis_stale(client: Client, completed: Run, analyzed: dict[str, Any]) -> None:
    runs.transition(ref_of(completed), Action.REOPEN, NOW, settled=None)
    stale = client.get(f"/v1/runs/{completed.id}/analysis").json()
    assert (stale["id"], stale["staleReason"]) == (analyzed["id"], "inputs")
    answer = client.post(f"/v1/runs/{completed.id}/analysis")
    assert (answer.status, "RUNNING" in answer.json()["detail"]) == (409, True)


def test_an_analysis_by_another_algorithm_is_stale(
    client: Client, completed: Run, analyzed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(queries.ALGORITHM_VERSIONS, AnalysisKind.BASIC, "of another release")
    assert client.get(f"/v1/runs/{completed.id}/analysis").json()["staleReason"] == "algorithm"


def test_a_missing_analysis_says_why(client: Client, completed: Run) -> None:
    answer = client.get(f"/v1/runs/{completed.id}/analysis")
    assert (answer.status, "was not analyzed" in answer.json()["detail"]) == (404, True)
    going = RunSetup(workspace="acme").start()
    answer = client.get(f"/v1/runs/{going.id}/analysis")
    assert (answer.status, "it is analyzed when it completes" in answer.json()["detail"]) == (404, True)


def test_a_failed_analysis_says_why(client: Client, completed: Run) -> None:
    inputs = tabulate.counted_inputs(completed)
    record_failure(inputs, "analyze", "out of memory", NOW)
    failed = client.get(f"/v1/runs/{completed.id}/analysis").json()
    assert (failed["status"], failed["figures"]) == ("FAILED", None)
    assert failed["failure"] == {"where": "analyze", "why": "out of memory"}
    assert client.post(f"/v1/runs/{completed.id}/analysis").json()["status"] == "COMPLETED"


def test_a_large_run_is_analyzed_by_an_execution(
    client: Client, completed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, int]] = []
    monkeypatch.setattr(queries, "MAX_PROBES_IN_REQUEST", 10)
    monkeypatch.setattr(executions, "start_analysis", lambda ref, token, _: started.append((ref.run_id, token)))
    answer = client.post(f"/v1/runs/{completed.id}/analysis")
    assert (answer.status, answer.json()["status"], started) == (202, None, [(completed.id, 1)])


def test_force_computes_the_analysis_of_a_large_run_again(
    client: Client, completed: Run, analyzed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, ref = f"/v1/runs/{completed.id}/analysis", ref_of(completed)
    monkeypatch.setattr(queries, "MAX_PROBES_IN_REQUEST", 10)
    monkeypatch.setattr(executions, "start_analysis", lambda *_: None)
    assert client.post(path).status == 200
    assert client.post(path, {"force": True}).status == 202
    waiting = client.get(path).json()
    assert (waiting["isStale"], waiting["staleReason"], waiting["id"]) == (True, "requested", analyzed["id"])
    assert waiting["figures"] == analyzed["figures"]
    workflow.analyze(ref, completed.fencing_token, utc_now())
    again = client.get(path).json()
    assert (again["isStale"], again["id"] == analyzed["id"]) == (False, False)


@pytest.mark.parametrize(
    ("body", "field"), [({"kind": "deeper"}, "kind"), ({"force": "yes"}, "force"), ({"models": []}, "models")]
)
def test_an_invalid_request_names_the_field(client: Client, completed: Run, body: Any, field: str) -> None:
    answer = client.post(f"/v1/runs/{completed.id}/analysis", body)
    assert (answer.status, answer.json()["errors"][0]["field"]) == (422, field)


def test_an_unknown_run_or_rescore_is_not_found(client: Client, completed: Run) -> None:
    assert client.get("/v1/runs/run_none/analysis").status == 404
    assert client.get(f"/v1/runs/{completed.id}/analysis", query={"rescoreId": "rsc_none"}).status == 404


def test_an_unchanged_response_is_not_sent_again(client: Client, completed: Run, analyzed: dict[str, Any]) -> None:
    for path in ("analysis", "results"):
        first = client.get(f"/v1/runs/{completed.id}/{path}")
        again = client.get(f"/v1/runs/{completed.id}/{path}", headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status, again.text) == (304, "")


def test_the_result_table_has_a_row_per_target(client: Client, completed: Run) -> None:
    table = client.get(f"/v1/runs/{completed.id}/results").json()
    assert (table["total"], table["recorded"], table["counted"], table["isComplete"]) == (36, 36, 36, True)
    row = table["columns"][2]
    assert (row["targetId"], row["probes"], row["estimate"]["completed"], row["tokens"]) == (
        "sim/contrarian",
        12,
        11,
        77,
    )
    assert row["errors"] == [
        {"code": "timeout", "count": 1, "probeIndex": 35, "example": "no answer", "retryHelps": True}
    ]


def test_the_result_table_is_partial_while_the_run_goes_on(client: Client, cloud: Settings) -> None:
    run = RunSetup(scenario_count=3, workspace="acme").start()
    table = client.get(f"/v1/runs/{run.id}/results").json()
    assert (table["status"], table["recorded"], table["isComplete"]) == ("PENDING", 0, True)
    assert table["columns"][0]["estimate"]["decision"]["mean"] is None


def test_counting_goes_on_with_the_next_request(
    client: Client, completed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cupel_core.analysis.operations.analyses.counting_time", lambda: lambda: False)
    table = client.get(f"/v1/runs/{completed.id}/results").json()
    assert (table["counted"], table["isComplete"]) == (0, False)


def test_complete_leaves_of_a_run_that_goes_on_are_counted_once(client: Client, cloud: Settings) -> None:
    run = AnsweredRun((case(1),), MODELS, workspace="acme").start()
    assert client.get(f"/v1/runs/{run.id}/results").json()["counted"] == 3
    (key,) = blobs.list_keys("analyses/")
    assert "-partial/" in key


def test_scenarios_are_listed_by_variance(client: Client, completed: Run) -> None:
    page = client.get(f"/v1/runs/{completed.id}/analysis/scenarios", query={"limit": 2}).json()
    first, second = page["items"]
    assert first["variance"] >= second["variance"]
    assert [cell["column"] for cell in first["cells"]] == [0, 1, 2]
    rest = client.get(
        f"/v1/runs/{completed.id}/analysis/scenarios", query={"cursor": page["nextCursor"], "limit": 100}
    ).json()
    assert len(rest["items"]) == 10


@pytest.mark.parametrize(
    ("query", "check"),
    [
        ({"sort": "id", "ascending": "true"}, lambda rows: rows == sorted(rows, key=lambda row: row["scenarioId"])),
        ({"sort": "mean"}, lambda rows: rows[0]["mean"] >= rows[-1]["mean"]),
        ({"sort": "withinVariance"}, lambda rows: len(rows) == 12),
        ({"dimension": "stakes", "level": "2"}, lambda rows: {row["scores"]["stakes"] for row in rows} == {2.0}),
        ({"model": "sim/bold"}, lambda rows: [len(row["cells"]) for row in rows] == [1] * 12),
    ],
)
def test_scenarios_are_sorted_and_filtered(
    client: Client, completed: Run, query: dict[str, str], check: Callable[[list[Any]], bool]
) -> None:
    rows = client.get(f"/v1/runs/{completed.id}/analysis/scenarios", query={**query, "limit": "100"}).json()["items"]
    assert check(rows)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"sort": "size"}, "sort"), ({"dimension": "size"}, "dimension"), ({"model": "a/b"}, "model")],
)
def test_an_invalid_query_names_the_parameter(client: Client, completed: Run, query: Any, field: str) -> None:
    answer = client.get(f"/v1/runs/{completed.id}/analysis/scenarios", query=query)
    assert (answer.status, answer.json()["errors"][0]["field"]) == (422, field)


class _HalfAnswered(RatedRun):
    def _record(self, run: Run) -> None:
        store_outcomes(run, run.fencing_token, [self.outcome(run, index) for index in range(run.plan.total // 2)])


def sampled(percentage: int, described: type[AnsweredRun] = RatedRun) -> Run:
    """Of 60 scenarios."""
    content = Content(decision=DecisionMethod(pattern="Rating: ([1-5])"))
    return described(
        tuple(map(case, range(60))),
        MODELS[:2],
        repeats=2,
        answer=lambda index: f"Rating: {score(index)}",
        content=content,
        workspace="acme",
        sample_percentage=percentage,
    ).start()


def test_a_sampled_run_says_what_it_is_based_on_and_what_an_expansion_adds(client: Client, cloud: Settings) -> None:
    run = sampled(20)
    runs.transition(ref_of(run), Action.CANCEL, NOW, completed_at=NOW)
    client.post(f"/v1/runs/{run.id}/analysis")
    figures = client.get(f"/v1/runs/{run.id}/analysis").json()["figures"]
    assert figures["sample"] == {
        "scenarios": 12,
        "total": 60,
        "seed": 1,
        "isDrawn": True,
        "probesToAdd": 48 * 2 * 2,
        "note": "Based on 20% of the scenarios (12 of 60, seed 1).",
    }
    texts = {each["kind"]: each["text"] for each in figures["insights"]}
    assert texts["sample"].endswith("(12 of 60, seed 1). An expansion to all scenarios adds 192 conversations.")
    assert texts["extrapolation"].startswith("The mean over all 60 scenarios, with 95% confidence: sim/steady ")


def test_the_result_table_of_a_sampled_run_is_extrapolated(client: Client, cloud: Settings) -> None:
    table = client.get(f"/v1/runs/{sampled(20).id}/results").json()
    assert table["sample"]["probesToAdd"] == 192
    column = table["columns"][0]
    mean, extrapolated = column["estimate"]["decision"], column["extrapolated"]["decision"]
    assert extrapolated["value"] == mean["mean"]
    assert extrapolated["standardError"] == pytest.approx(mean["standardError"] * (1 - 12 / 60) ** 0.5)


def test_a_run_of_all_scenarios_is_no_sample(client: Client, cloud: Settings) -> None:
    table = client.get(f"/v1/runs/{sampled(100).id}/results").json()
    assert (table["sample"]["note"], table["sample"]["isDrawn"]) == (None, False)
    assert table["columns"][0]["extrapolated"] is None


def test_nothing_is_extrapolated_from_the_first_outcomes_of_a_sample(client: Client, cloud: Settings) -> None:
    """A run goes through its scenarios in their order, so that the first ones are not drawn at random."""
    table = client.get(f"/v1/runs/{sampled(20, _HalfAnswered).id}/results").json()
    assert table["recorded"] == 24
    assert table["columns"][0]["estimate"]["decision"]["standardError"] is not None
    assert table["columns"][0]["extrapolated"] is None


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those of AWS, as they are called."""
    noted, call = list[str](), BaseClient._make_api_call  # type: ignore[attr-defined]

    def note(self: BaseClient, operation: str, parameters: dict[str, Any]) -> Any:
        noted.append(operation)
        return call(self, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", note)
    return noted


HEAD_READS = ["GetItem", "BatchGetItem", "Query"]
"""The first is the caller's token."""


def test_an_analysis_that_was_read_before_takes_two_requests(
    client: Client, completed: Run, analyzed: dict[str, Any], operations: list[str]
) -> None:
    path = f"/v1/runs/{completed.id}/analysis"
    first = client.get(path).json()
    operations.clear()
    assert client.get(path).json() == first
    assert analyzed["id"] == first["id"]
    assert operations == HEAD_READS


def test_who_has_the_figures_already_is_answered_without_reading_them(
    client: Client, completed: Run, analyzed: dict[str, Any], operations: list[str]
) -> None:
    path = f"/v1/runs/{completed.id}/analysis"
    tag = client.get(path).headers["ETag"]
    analyses.documents.cache_clear()
    operations.clear()
    assert client.get(path, headers={"If-None-Match": tag}).status == 304
    assert operations == HEAD_READS


def test_staleness_changes_the_tag(client: Client, completed: Run, analyzed: dict[str, Any]) -> None:
    path = f"/v1/runs/{completed.id}/analysis"
    tag = client.get(path).headers["ETag"]
    outcomes.set_correction(ref_of(completed), 0, TranscriptResult(False))
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status, again.json()["isStale"]) == (200, True)


def test_a_cached_analysis_of_a_deleted_run_is_not_found(
    client: Client, completed: Run, analyzed: dict[str, Any]
) -> None:
    path = f"/v1/runs/{completed.id}/analysis"
    assert client.get(path).json()["id"] == analyzed["id"]
    assert client.delete(f"/v1/runs/{completed.id}").status == 204
    assert client.get(path).status == 404
