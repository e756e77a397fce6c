"""Documents that clients of earlier tools send, word for word, executed against a run of the simulator."""

from typing import Any

import pytest

from cupel_core.analysis import jobs
from cupel_core.base.messages import JobRequest
from cupel_core.domain.runs.run import Run, RunStatus
from tests.compared_runs import run_of
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_mutations import CONTENT, CREATE
from tests.unit.graphqlapi.test_queries import completed_run

GET_RUN = """
query GetRun($id: ID!) {
  run(id: $id) {
    id
    status
    definition {
      id
      name
    }
    config
    progress {
      total
      completed
      failed
    }
    transcripts {
      id
      modelId
      decisionCode
      decisionText
    }
    createdAt
    startedAt
    completedAt
  }
}
"""
LIST_RUNS = """
query ListRuns(
  $definitionId: String
  $status: String
  $limit: Int
  $offset: Int
) {
  runs(
    definitionId: $definitionId
    status: $status
    limit: $limit
    offset: $offset
  ) {
    id
    status
    definition { id name }
    progress { total completed failed }
    createdAt
  }
}
"""
GET_RUN_DETAILS = """
query GetRunDetails($id: ID!) {
  run(id: $id) {
    status
    progress { total completed failed }
    definition { name versionLabel }
    experiment { name hypothesis }
    analysis {
      modelAgreement
      mostContestedScenarios(limit: 5) {
        scenarioId
        variance
      }
    }
  }
}
"""
MCP_ANALYSIS = """
query MCPAnalysis($runId: ID!, $model: String!) {
  run(id: $runId) {
    transcripts(model: $model, limit: 10) {
      scenarioId
      turnCount
      wordCount
    }
    analysis {
      basicStats
      dimensionAnalysis
    }
  }
}
"""
POLL_RUN_PROGRESS = """
query PollRunProgress($id: ID!) {
  run(id: $id) {
    id
    status
    progress { total completed failed }
    recentTasks(limit: 5) {
      scenarioId
      model
      status
      error
    }
    updatedAt
  }
}
"""
GET_COMPARISON = """
query GetComparison($id: ID!) {
  comparison(id: $id) {
    baselineRun { id definition { name } }
    comparisonRun { id definition { name } }
    deltaByModel
    mostChangedScenarios(limit: 5) {
      scenarioId
      baselineScore
      comparisonScore
      delta
    }
  }
}
"""
START_RUN = """
mutation StartRun($input: StartRunInput!) {
  startRun(input: $input) {
    run {
      id
      status
      progress { total }
    }
    jobCount
  }
}
"""
START_RUN_FLAT = """
mutation StartRun($input: StartRunInput!) {
  startRun(input: $input) {
    id
    status
    progress { total }
  }
}
"""
PAUSE_RUN = """
mutation PauseRun($runId: ID!) {
  pauseRun(runId: $runId) {
    id
    status
  }
}
"""
RESUME_RUN = """
mutation ResumeRun($runId: ID!) {
  resumeRun(runId: $runId) {
    id
    status
  }
}
"""
CANCEL_RUN = """
mutation CancelRun($runId: ID!) {
  cancelRun(runId: $runId) {
    id
    status
  }
}
"""
PAUSE_BY_ID = """
mutation PauseRun($id: ID!) {
  pauseRun(id: $id) { id status }
}
"""
DELETE_RUN = """
mutation DeleteRun($runId: ID!) {
  deleteRun(runId: $runId)
}
"""


@pytest.fixture
def owner(client: GraphqlClient) -> str:
    body = {"name": "d", "content": CONTENT, "versionLabel": "first"}
    definition_id: str = client.data(CREATE, {"input": body})["createDefinition"]["id"]
    client.data("mutation ($id: ID!) { generateScenarios(definitionId: $id) { id } }", {"id": definition_id})
    return definition_id


@pytest.fixture
def run(client: GraphqlClient, owner: str) -> Run:
    found = completed_run(owner)
    client.data("mutation ($id: ID!) { analyzeRun(runId: $id) { id } }", {"id": found.id})
    return found


def test_a_run_and_lists_of_runs(client: GraphqlClient, run: Run, owner: str) -> None:
    found = client.data(GET_RUN, {"id": run.id})["run"]
    assert (found["status"], found["definition"]) == ("COMPLETED", {"id": owner, "name": "d"})
    assert (found["progress"], len(found["transcripts"])) == ({"total": 12, "completed": 11, "failed": 1}, 11)
    assert found["config"]["models"] == ["sim/steady", "sim/bold"]
    listed = client.data(LIST_RUNS, {"definitionId": owner, "status": "COMPLETED", "limit": 10, "offset": 0})["runs"]
    assert [each["id"] for each in listed] == [run.id]
    of_another_type = LIST_RUNS.replace(": String", ": ID", 1).replace(": String", ": RunStatus", 1)
    assert client.data(of_another_type, {"definitionId": owner, "status": "COMPLETED"})["runs"] == listed


def test_a_status_declared_as_a_text_is_checked_like_one_of_its_own_type(client: GraphqlClient) -> None:
    refused = client.error(LIST_RUNS, {"status": "DONE"})
    assert "'DONE' does not exist in 'RunStatus' enum" in refused["message"]


@pytest.mark.parametrize("value", ["FINISHED", '"COMPLETED"', "7"])
def test_a_refused_value_of_an_enum_comes_with_those_that_it_has(client: GraphqlClient, value: str) -> None:
    message = client.error(f"{{ runs(status: {value}) {{ id }} }}")["message"]
    assert message.endswith(f"Known values: {', '.join(RunStatus)}")


def test_a_variable_that_is_also_used_as_a_text_stays_one(client: GraphqlClient, owner: str) -> None:
    query = "query ($d: String) { a: runs(definitionId: $d) { id } b: runs(name: $d) { id } }"
    message = "Variable '$d' of type 'String' used in position expecting type 'ID'."
    assert client.error(query, {"d": owner})["message"] == message


def test_the_details_of_a_run(client: GraphqlClient, run: Run) -> None:
    found = client.data(GET_RUN_DETAILS, {"id": run.id})["run"]
    assert (found["definition"], found["experiment"]) == ({"name": "d", "versionLabel": "first"}, None)
    assert "alpha" in found["analysis"]["modelAgreement"]
    analyzed = client.data(MCP_ANALYSIS, {"runId": run.id, "model": "sim/bold"})["run"]
    assert (len(analyzed["transcripts"]), len(analyzed["analysis"]["basicStats"])) == (5, 2)
    polled = client.data(POLL_RUN_PROGRESS, {"id": run.id})["run"]
    assert len(polled["recentTasks"]) == 5


def test_a_comparison(client: GraphqlClient, run: Run, owner: str) -> None:
    other = completed_run(owner)
    query = "mutation ($a: ID!, $b: ID!) { compareRuns(baselineRunId: $a, comparisonRunId: $b) { id jobId } }"
    queued = client.data(query, {"a": run.id, "b": other.id})["compareRuns"]
    early = client.data(GET_COMPARISON, {"id": queued["id"]})["comparison"]
    assert (early["deltaByModel"], early["mostChangedScenarios"]) == (None, [])
    jobs.run_job(JobRequest(workspace="acme", job_id=queued["jobId"]), 60)
    found = client.data(GET_COMPARISON, {"id": queued["id"]})["comparison"]
    assert found["comparisonRun"] == {"id": other.id, "definition": {"name": "d"}}
    assert set(found["deltaByModel"]) == {"sim/steady", "sim/bold"}


def test_the_most_changed_scenarios_are_those_of_all_pairs(client: GraphqlClient, owner: str) -> None:
    models = ("sim/steady", "sim/bold")
    before, after = (run_of(owner, "+" * 8 + passes, models=models) for passes in ("+" * 8, "--------"))
    query = "mutation ($a: ID!, $b: ID!) { compareRuns(baselineRunId: $a, comparisonRunId: $b) { id jobId } }"
    queued = client.data(query, {"a": before.id, "b": after.id})["compareRuns"]
    jobs.run_job(JobRequest(workspace="acme", job_id=queued["jobId"]), 60)
    found = client.data(GET_COMPARISON, {"id": queued["id"]})["comparison"]
    assert found["deltaByModel"] == {"sim/steady": 0.0, "sim/bold": -1.0}
    assert [each["delta"] for each in found["mostChangedScenarios"]] == [-1.0] * 5
    query = (
        "query ($id: ID!, $row: Int) { comparison(id: $id) { mostChangedScenarios(row: $row) { row model delta } } }"
    )
    [first, *_] = client.data(query, {"id": queued["id"]})["comparison"]["mostChangedScenarios"]
    assert first == {"row": 1, "model": "sim/bold", "delta": -1.0}
    [unchanged, *_] = client.data(query, {"id": queued["id"], "row": 0})["comparison"]["mostChangedScenarios"]
    assert unchanged == {"row": 0, "model": "sim/steady", "delta": 0.0}


@pytest.mark.parametrize("document", [START_RUN, START_RUN_FLAT])
def test_a_run_is_started(client: GraphqlClient, owner: str, document: str) -> None:
    body = {"definitionId": owner, "models": ["sim/steady"], "samplePercentage": 100, "priority": "HIGH"}
    started = client.data(document, {"input": body})["startRun"]
    run = started.get("run", started)
    assert (run["status"], run["progress"]) == ("PENDING", {"total": 2})


def test_a_run_is_controlled_and_deleted(client: GraphqlClient, owner: str) -> None:
    def status_after(document: str, run_id: str) -> Any:
        [changed] = client.data(document, {"runId": run_id}).values()
        return changed["status"]

    body = {"definitionId": owner, "models": ["sim/steady"]}
    run_id = client.data(START_RUN_FLAT, {"input": body})["startRun"]["id"]
    steps = (PAUSE_RUN, RESUME_RUN, CANCEL_RUN)
    assert [status_after(document, run_id) for document in steps] == ["PAUSED", "RUNNING", "CANCELLED"]
    assert client.data(DELETE_RUN, {"runId": run_id}) == {"deleteRun": True}
    other = client.data(START_RUN_FLAT, {"input": body})["startRun"]["id"]
    assert client.data(PAUSE_BY_ID, {"id": other})["pauseRun"] == {"id": other, "status": "PAUSED"}
