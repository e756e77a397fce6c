"""Settings, evals, personas, schedules and rescores: what REST has of them, joined with their runs."""

from typing import Any

import pytest

from cupel_core.base.messages import DueSchedule
from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from cupel_core.resources import personas
from cupel_core.runs.schedules.schedules import fire
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api.test_rescores import answered, carry_out, passing
from tests.unit.api.test_schedules import DUE
from tests.unit.graphqlapi.conftest import GraphqlClient

YES = {"type": "contains", "value": "yes"}


@pytest.fixture
def definition(client: GraphqlClient) -> str:
    """With two scenarios."""
    body = {"name": "refunds", "content": {"system": "Be brief."}, "scenarios": [{"prompt": "one"}, {"prompt": "two"}]}
    return str(client.post("/v1/definitions", body).json()["id"])


@pytest.fixture
def run(client: GraphqlClient) -> Run:
    return answered(scoring=passing, repeats=4).completed()


def create_eval(client: GraphqlClient, definition: str) -> str:
    listed = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    query = "mutation ($input: CreateEvalInput!) { createEval(input: $input) { id model judgeModel } }"
    body = {"name": "nightly", "scenarioIds": [listed[0]["id"]], "model": "sim/steady", "judgeModel": "sim/bold"}
    made = client.data(query, {"input": body})["createEval"]
    assert (made["model"], made["judgeModel"]) == ("sim/steady", "sim/bold")
    return str(made["id"])


def test_an_eval_is_created_run_changed_and_deleted(client: GraphqlClient, definition: str) -> None:
    eval_id = create_eval(client, definition)
    start = """mutation ($id: ID!, $input: CreateEvalRunInput) {
      startEvalRun(evalId: $id, input: $input) { id jobCount run { eval { id name } } } }"""
    variables = {"id": eval_id, "input": {"repeats": 3, "tags": ["x"]}}
    key = {"Idempotency-Key": "once"}
    started, again = (client.data(start, variables, headers=key)["startEvalRun"] for _ in range(2))
    assert (started["id"], started["jobCount"]) == (again["id"], 3)
    assert started["run"] == {"eval": {"id": eval_id, "name": "nightly"}}
    query = "query ($id: ID!) { eval(id: $id) { definition { name } targets { id } runs { id tags } } evals { id } }"
    found = client.data(query, {"id": eval_id})
    assert found["eval"] == {
        "definition": {"name": "refunds"},
        "targets": [{"id": "sim/steady"}],
        "runs": [{"id": started["id"], "tags": ["x"]}],
    }
    assert found["evals"] == [{"id": eval_id}]
    update = "mutation ($id: ID!, $input: UpdateEvalInput!) { updateEval(id: $id, input: $input) { name judgeModel } }"
    changed = client.data(update, {"id": eval_id, "input": {"judgeModel": None}})["updateEval"]
    assert changed == {"name": "nightly", "judgeModel": None}
    assert client.data("mutation ($id: ID!) { deleteEval(id: $id) }", {"id": eval_id}) == {"deleteEval": True}
    assert client.data("query ($id: ID!) { eval(id: $id) { id } }", {"id": eval_id}) == {"eval": None}


def test_an_invalid_eval_names_its_fields(client: GraphqlClient) -> None:
    call = 'mutation { createEval(input: {name: "x", scenarioIds: ["scn_1"]}) { id } }'
    problem = client.error(call)["extensions"]
    assert problem["code"] == "INVALID_REQUEST"
    assert all(each["field"].startswith("input") for each in problem["errors"])


def test_a_persona_is_created_used_changed_and_deleted(client: GraphqlClient) -> None:
    create = "mutation ($input: CreatePersonaInput!) { createPersona(input: $input) { id headerNames } }"
    body = {"name": "Ada", "headers": {"X-Tier": "gold"}, "connectorUrls": ["https://agent.example.com"]}
    made = client.data(create, {"input": body})["createPersona"]
    assert made["headerNames"] == ["X-Tier"]
    stored = personas.get("acme", made["id"])
    used = AnsweredRun(workspace="acme", persona=stored).completed()
    query = "query ($id: ID!) { run(id: $id) { transcripts { persona { name headerNames } } } }"
    found = client.data(query, {"id": used.id})["run"]["transcripts"]
    assert found == [{"persona": {"name": "Ada", "headerNames": ["X-Tier"]}}] * 2
    update = 'mutation ($id: ID!) { updatePersona(id: $id, input: {description: "terse"}) { name description } }'
    assert client.data(update, {"id": made["id"]})["updatePersona"] == {"name": "Ada", "description": "terse"}
    assert client.data("{ personas { id } }") == {"personas": [{"id": made["id"]}]}
    assert client.data("mutation ($id: ID!) { deletePersona(id: $id) }", {"id": made["id"]}) == {"deletePersona": True}
    assert client.data(query, {"id": used.id})["run"]["transcripts"] == [{"persona": None}] * 2


def test_a_schedule_is_created_fired_changed_and_deleted(client: GraphqlClient, definition: str) -> None:
    create = """mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) {
      id status run { definitionId sampleSeed config } evalRun { evalId } firings { runId } } }"""
    body: dict[str, Any] = {"name": "nightly", "expression": "rate(1 day)"}
    body["run"] = {"definitionId": definition, "models": ["sim/steady"], "sampleSeed": 7, "config": {"maxTurns": 2}}
    made = client.data(create, {"input": body})["createSchedule"]
    assert made["run"]["config"]["maxTurns"] == 2
    assert (made["run"]["definitionId"], made["run"]["sampleSeed"]) == (definition, 7)
    assert (made["status"], made["evalRun"], made["firings"]) == ("ENABLED", None, [])
    fire(DueSchedule(workspace="acme", schedule_id=made["id"], scheduled_time=DUE), NOW)
    query = """query ($id: ID!) {
      schedule(id: $id) { runs { id } firings { runId run { status } } } schedules { id } }"""
    found = client.data(query, {"id": made["id"]})
    (firing,) = found["schedule"]["firings"]
    assert found["schedule"]["runs"] == [{"id": firing["runId"]}]
    assert firing["run"] == {"status": "PENDING"}
    assert found["schedules"] == [{"id": made["id"]}]
    update = "mutation ($id: ID!) { updateSchedule(id: $id, input: {enabled: false}) { enabled status } }"
    assert client.data(update, {"id": made["id"]})["updateSchedule"] == {"enabled": False, "status": "DISABLED"}
    assert client.data("mutation ($id: ID!) { deleteSchedule(id: $id) }", {"id": made["id"]})["deleteSchedule"]
    assert client.data("query ($id: ID!) { schedule(id: $id) { id } }", {"id": made["id"]}) == {"schedule": None}


def test_a_run_is_graded_again(client: GraphqlClient, run: Run, started_rescores: list[str]) -> None:
    create = """mutation ($id: ID!, $input: CreateRescoreInput) { createRescore(runId: $id, input: $input) {
      id status progress { total } config { assertions } } }"""
    variables = {"id": run.id, "input": {"assertions": [YES]}}
    key = {"Idempotency-Key": "once"}
    made, again = (client.data(create, variables, headers=key)["createRescore"] for _ in range(2))
    assert (made["id"], made["status"], made["progress"]) == (again["id"], "PENDING", {"total": 8})
    assert set(started_rescores) == {made["id"]}
    carry_out(run, made["id"])
    query = """query ($run: ID!, $id: ID!, $after: String) { rescore(runId: $run, id: $id) { status
      results(first: 5, after: $after) { nodes { probeIndex success scoring { results { type } } }
      pageInfo { endCursor hasNextPage } } } run(id: $run) { rescores { id } } }"""
    first = client.data(query, {"run": run.id, "id": made["id"]})
    assert first["run"] == {"rescores": [{"id": made["id"]}]}
    page = first["rescore"]["results"]
    assert (first["rescore"]["status"], page["pageInfo"]["hasNextPage"]) == ("COMPLETED", True)
    assert [each["success"] for each in page["nodes"]] == [True, True, False, False, False]
    rest = client.data(query, {"run": run.id, "id": made["id"], "after": page["pageInfo"]["endCursor"]})["rescore"]
    assert [each["probeIndex"] for each in rest["results"]["nodes"]] == [5, 6, 7]


def test_settings_are_changed_by_admins(client: GraphqlClient) -> None:
    member = client.issue(role=AccessRole.MEMBER)
    update = """mutation ($input: UpdateSettingsInput!) { updateSettings(input: $input) {
      judgeModel evaluator { url headerNames } budgets { dayUsd } } }"""
    body = {"judgeModel": "sim/bold", "budgets": {"dayUsd": 5}}
    body["evaluator"] = {"url": "https://evaluator.example.com", "headers": {"X-Key": "secret"}}
    assert client.error(update, {"input": body}, token=member)["extensions"]["code"] == "FORBIDDEN"
    changed = client.data(update, {"input": body})["updateSettings"]
    assert changed["evaluator"] == {"url": "https://evaluator.example.com", "headerNames": ["X-Key"]}
    assert (changed["judgeModel"], changed["budgets"]) == ("sim/bold", {"dayUsd": 5.0})
    cleared = client.data(update, {"input": {"judgeModel": None}})["updateSettings"]
    assert (cleared["judgeModel"], cleared["budgets"]) == (None, {"dayUsd": 5.0})
    query = "{ settings { judgeModel openRuns evaluator { url } } }"
    assert client.data(query)["settings"]["evaluator"] == {"url": "https://evaluator.example.com"}
