"""What belongs to a run: its scenarios, cases, probes, scale runs, retries, expansions, reports and trials."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.runs.rescoring import phases
from cupel_core.store import rescores
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW, ref_of
from tests.unit.api import test_trials as trials
from tests.unit.api.test_scale_runs import SCALE_RUN
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import completed_run


def case(number: int) -> Scenario:
    return Scenario("", f"case {number}", (Message(MessageRole.USER, f"question {number}"),))


@pytest.fixture
def sampled(client: GraphqlClient) -> Run:
    return AnsweredRun(tuple(map(case, range(6))), workspace="acme", sample_percentage=50).completed()


def test_the_scenarios_of_a_run_are_those_of_its_sample(client: GraphqlClient, sampled: Run) -> None:
    query = """query ($id: ID!, $after: String) { run(id: $id) {
      selectedScenarios(first: 2, after: $after) { nodes { id name } pageInfo { endCursor hasNextPage } }
      cases { nodes { scenarioId scenarioName cells { targetId completed } } }
      probes { nodes { scenarioId scenario { id messages { content } } transcript { id scenario { name } } } } } }"""
    first = client.data(query, {"id": sampled.id})["run"]
    page = first["selectedScenarios"]
    rest = client.data(query, {"id": sampled.id, "after": page["pageInfo"]["endCursor"]})["run"]["selectedScenarios"]
    names = {each["id"]: each["name"] for each in (*page["nodes"], *rest["nodes"])}
    assert (len(names), page["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]) == (3, True, False)
    assert {each["scenarioId"]: each["scenarioName"] for each in first["cases"]["nodes"]} == names
    assert first["cases"]["nodes"][0]["cells"][0] == {"targetId": "sim/steady", "completed": 1}
    probes = first["probes"]["nodes"]
    assert {each["scenarioId"] for each in probes} == set(names)
    assert all(each["scenario"]["messages"][0]["content"].startswith("question") for each in probes)
    assert all(each["transcript"]["scenario"]["name"] == names[each["scenarioId"]] for each in probes)


def test_an_errored_probe_has_no_transcript(client: GraphqlClient) -> None:
    query = """query ($id: ID!) { run(id: $id) {
      probes(status: ERROR) { nodes { id error { code } transcript { id } } } } }"""
    (probe,) = client.data(query, {"id": completed_run().id})["run"]["probes"]["nodes"]
    assert (probe["error"]["code"], probe["transcript"]) == ("timeout", None)
    found = client.data("query ($id: ID!) { probe(id: $id) { status messages { content } } }", {"id": probe["id"]})
    assert found["probe"]["status"] == "ERROR"


def test_a_result_is_corrected_and_a_conversation_erased(client: GraphqlClient) -> None:
    probe_id = f"{completed_run().id}-0"
    correct = """mutation ($id: ID!, $input: CorrectProbeInput!) { correctProbe(id: $id, input: $input) {
      result { success score reason } } }"""
    result = {"success": False, "score": 0.5, "reason": "It is wrong."}
    assert client.data(correct, {"id": probe_id, "input": {"result": result}})["correctProbe"]["result"] == result
    restored = client.data(correct, {"id": probe_id, "input": {"result": None}})["correctProbe"]
    assert restored["result"] != result
    assert client.data(correct, {"id": probe_id, "input": {"result": result}})["correctProbe"]["result"] == result
    assert client.data("mutation ($id: ID!) { deleteProbeContent(id: $id) }", {"id": probe_id}) == {
        "deleteProbeContent": True
    }
    query = "query ($id: ID!) { transcript(id: $id) { corrected content { messages { content } } } }"
    assert client.data(query, {"id": probe_id})["transcript"] == {"corrected": True, "content": None}


def test_what_would_be_added_to_a_run_is_estimated(client: GraphqlClient, sampled: Run) -> None:
    query = """query ($failed: ID!, $sampled: ID!) {
      estimateRetry(runId: $failed) { jobCount usd { high } }
      one: estimateRetry(runId: $failed, model: "sim/bold") { jobCount }
      estimateExpansion(runId: $sampled, samplePercentage: 100) { jobCount usd { expected } } }"""
    found = client.data(query, {"failed": completed_run().id, "sampled": sampled.id})
    assert (found["estimateRetry"], found["one"]) == ({"jobCount": 1, "usd": {"high": 0.0}}, {"jobCount": 1})
    assert found["estimateExpansion"] == {"jobCount": 6, "usd": {"expected": 0.0}}
    low = "query ($id: ID!) { estimateExpansion(runId: $id, samplePercentage: 0) { jobCount } }"
    (error,) = client.error(low, {"id": sampled.id})["extensions"]["errors"]
    assert error["field"] == "samplePercentage"


def test_a_scale_run_is_estimated_and_started_once(client: GraphqlClient) -> None:
    estimate = "query ($input: EstimateScaleRunInput!) { estimateScaleRun(input: $input) { jobCount } }"
    assert client.data(estimate, {"input": SCALE_RUN})["estimateScaleRun"]["jobCount"] == 4
    start = """mutation ($input: CreateScaleRunInput!) { startScaleRun(input: $input) {
      id jobCount run { scale definitionName } } }"""
    wrong = {**SCALE_RUN, "evaluators": {"goal": {"thresold": 1}}}
    errors = client.error(start, {"input": wrong})["extensions"]["errors"]
    assert {each["field"] for each in errors} == {"input.evaluators.goal", "input.evaluators.goal.thresold"}
    body: dict[str, Any] = {**SCALE_RUN, "count": 1, "maxTurns": 1, "report": False, "maxOutputTokens": 50}
    key = {"Idempotency-Key": "once"}
    first, again = (client.data(start, {"input": body}, headers=key)["startScaleRun"] for _ in range(2))
    assert (first["id"], first["jobCount"], first["run"]["scale"]) == (again["id"], 1, True)


def test_a_stopped_rescore_gets_a_greater_budget(client: GraphqlClient, started_rescores: list[str]) -> None:
    run = completed_run()
    create = "mutation ($id: ID!, $input: CreateRescoreInput) { createRescore(runId: $id, input: $input) { id } }"
    body = {"assertions": [{"type": "contains", "value": "yes"}], "maxBudgetUsd": 2}
    rescore_id = client.data(create, {"id": run.id, "input": body})["createRescore"]["id"]
    rescores.mark_exhausted(rescores.get(ref_of(run), rescore_id))
    phases.complete(ref_of(run), rescore_id, NOW)
    raise_ = """mutation ($run: ID!, $id: ID!, $usd: Float!) {
      setRescoreBudget(runId: $run, id: $id, maxBudgetUsd: $usd) { status budget { maxBudgetUsd } } }"""
    names = {"run": run.id, "id": rescore_id}
    (error,) = client.error(raise_, {**names, "usd": 1})["extensions"]["errors"]
    assert error["field"] == "maxBudgetUsd"
    raised = client.data(raise_, {**names, "usd": 4})["setRescoreBudget"]
    assert raised == {"status": "PENDING", "budget": {"maxBudgetUsd": 4.0}}
    assert started_rescores == [rescore_id, rescore_id]


def test_a_report_is_made_without_a_summary_and_its_prompt_is_tried(client: GraphqlClient) -> None:
    run = trials.answered(trials.scored(lambda index: index % 4 > 1)).completed()
    report_id = trials.reported(client, run).rpartition("/")[2]
    create = """mutation ($id: ID!) { createReport(runId: $id, input: {summarizerModel: null}) {
      id status summarizerModel } }"""
    made = client.data(create, {"id": run.id})["createReport"]
    assert (made["id"], made["summarizerModel"]) == (report_id, None)
    query = """query ($id: ID!) { run(id: $id) { reports { id status
      conversations(first: 3) { nodes { conversationId success } pageInfo { hasNextPage } } } } }"""
    (listed,) = client.data(query, {"id": run.id})["run"]["reports"]
    assert (listed["id"], listed["status"]) == (made["id"], "COMPLETED")
    assert [each["conversationId"] for each in listed["conversations"]["nodes"]] == [f"{run.id}-{n}" for n in range(3)]
    names = {"run": run.id, "report": made["id"]}
    plan = """query ($run: ID!, $report: ID!) { estimateTrial(runId: $run, reportId: $report, input: {repeats: 2}) {
      repeats estimate { jobCount } } }"""
    planned = client.data(plan, names)["estimateTrial"]
    assert planned["repeats"] == 2
    start = """mutation ($run: ID!, $report: ID!) { createTrial(runId: $run, reportId: $report, input: {repeats: 2}) {
      status revisedRunId repeats } }"""
    first, again = (client.data(start, names)["createTrial"] for _ in range(2))
    assert (first["repeats"], first["revisedRunId"]) == (2, again["revisedRunId"])
