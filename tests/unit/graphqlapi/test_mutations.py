"""Mutations change what REST changes, for the same roles, and are recorded like it."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from cupel_core.interfaces.graphql.registry import Resolver, find_resolver
from cupel_core.interfaces.graphql.schema import schema
from cupel_core.store import audit_log
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import completed_run

CONTENT = {
    "template": "Rate it: [stakes]",
    "dimensions": [{"name": "stakes", "levels": [{"score": 1, "label": "low"}, {"score": 2, "label": "high"}]}],
}
CREATE = "mutation ($input: CreateDefinitionInput!) { createDefinition(input: $input) { id version content tags } }"
START = """mutation StartRun($input: StartRunInput!) { startRun(input: $input) {
  id status jobCount progress { total } run { id name tags config definition { name } } estimate { jobCount } } }"""
SCHEDULE = '{name: "x", expression: "rate(1 day)", run: {definitionId: "def_1", models: ["sim/steady"]}}'
CONNECTOR = '{name: "x", type: openai, baseUrl: "https://agent.example.com", config: {model: "m"}}'
DATASET = '{name: "x", content: "{\\"input\\": \\"2 + 2\\", \\"target\\": \\"4\\"}", scorer: includes}'
PROMPTFOO = '{config: "prompts: [x]\\ntests: [{vars: {a: b}}]", dryRun: true}'
ERRORS = {
    "createDefinition": 'createDefinition(input: {name: "x", content: {}}) { id }',
    "forkDefinition": 'forkDefinition(parentId: "def_1", name: "x") { id }',
    "updateDefinition": 'updateDefinition(id: "def_1", input: {name: "x"}) { id }',
    "deleteDefinition": 'deleteDefinition(id: "def_1")',
    "createScenarios": 'createScenarios(definitionId: "def_1", items: [{prompt: "x"}]) { ids }',
    "updateScenario": 'updateScenario(definitionId: "def_1", id: "scn_1", input: {name: "x"}) { id }',
    "deleteScenario": 'deleteScenario(definitionId: "def_1", id: "scn_1")',
    "generateScenarios": 'generateScenarios(definitionId: "def_1") { id }',
    "startRun": 'startRun(input: {definitionId: "def_1", models: ["sim/steady"]}) { id }',
    "rerunRun": 'rerunRun(id: "run_1") { id }',
    "startScaleRun": 'startScaleRun(input: {count: 1, targets: [{connectorId: "con_1"}], userMessage: "x"}) { id }',
    "updateRun": 'updateRun(id: "run_1", input: {name: "x"}) { id }',
    "pauseRun": 'pauseRun(id: "run_1") { id }',
    "resumeRun": 'resumeRun(runId: "run_1") { id }',
    "cancelRun": 'cancelRun(id: "run_1") { id }',
    "deleteRun": 'deleteRun(id: "run_1")',
    "retryRun": 'retryRun(id: "run_1") { id }',
    "expandRun": 'expandRun(id: "run_1", samplePercentage: 50) { id }',
    "setRunBudget": 'setRunBudget(id: "run_1", maxBudgetUsd: 1) { spentUsd }',
    "analyzeRun": 'analyzeRun(runId: "run_1") { id }',
    "createReport": 'createReport(runId: "run_1") { id }',
    "createTrial": 'createTrial(runId: "run_1", reportId: "rep_1") { status }',
    "correctProbe": 'correctProbe(id: "trn_1", input: {result: {success: true}}) { id }',
    "deleteProbeContent": 'deleteProbeContent(id: "trn_1")',
    "compareRuns": 'compareRuns(baselineRunId: "run_1", comparisonRunId: "run_2") { id }',
    "deleteComparison": 'deleteComparison(id: "cmp_1")',
    "createExperiment": 'createExperiment(input: {name: "x", hypothesis: "y"}) { id }',
    "updateExperiment": 'updateExperiment(id: "exp_1", input: {name: "x"}) { id }',
    "deleteExperiment": 'deleteExperiment(id: "exp_1")',
    "addRunToExperiment": 'addRunToExperiment(experimentId: "exp_1", runId: "run_1") { id }',
    "removeRunFromExperiment": 'removeRunFromExperiment(experimentId: "exp_1", runId: "run_1") { id }',
    "createChat": 'createChat(input: {target: {model: "sim/steady"}}) { id }',
    "updateChat": 'updateChat(id: "chat_1", input: {title: "x"}) { id }',
    "deleteChat": 'deleteChat(id: "chat_1")',
    "startTurn": 'startTurn(chatId: "chat_1", input: {content: "x"}) { id }',
    "abortTurn": 'abortTurn(chatId: "chat_1", id: "turn_1") { id }',
    "createBranch": 'createBranch(chatId: "chat_1") { id }',
    "updateBranch": 'updateBranch(chatId: "chat_1", id: "br_1", input: {name: "x"}) { id }',
    "deleteBranch": 'deleteBranch(chatId: "chat_1", id: "br_1")',
    "resetBranchSession": 'resetBranchSession(chatId: "chat_1", id: "br_1") { id }',
    "updateMessage": 'updateMessage(chatId: "chat_1", branchId: "br_1", id: "msg_1", input: {content: "x"}) { id }',
    "deleteMessage": 'deleteMessage(chatId: "chat_1", branchId: "br_1", id: "msg_1")',
    "createProfile": 'createProfile(input: {name: "x", operations: []}) { id }',
    "updateProfile": 'updateProfile(id: "prf_1", input: {name: "x"}) { id }',
    "deleteProfile": 'deleteProfile(id: "prf_1")',
    "resetProfileSession": 'resetProfileSession(id: "prf_1") { id }',
    "createConnector": f"createConnector(input: {CONNECTOR}) {{ id }}",
    "updateConnector": 'updateConnector(id: "con_1", input: {name: "x"}) { id }',
    "deleteConnector": 'deleteConnector(id: "con_1")',
    "testConnector": 'testConnector(id: "con_1") { ok }',
    "createRescore": 'createRescore(runId: "run_1", input: {judgeModel: "sim/steady"}) { id }',
    "setRescoreBudget": 'setRescoreBudget(runId: "run_1", id: "rsc_1", maxBudgetUsd: 1) { id }',
    "createEval": 'createEval(input: {name: "x", scenarioIds: ["scn_1"], model: "sim/steady"}) { id }',
    "updateEval": 'updateEval(id: "evl_1", input: {name: "x"}) { id }',
    "deleteEval": 'deleteEval(id: "evl_1")',
    "startEvalRun": 'startEvalRun(evalId: "evl_1") { id }',
    "createPersona": 'createPersona(input: {name: "x"}) { id }',
    "updatePersona": 'updatePersona(id: "per_1", input: {name: "x"}) { id }',
    "deletePersona": 'deletePersona(id: "per_1")',
    "createSchedule": f"createSchedule(input: {SCHEDULE}) {{ id }}",
    "updateSchedule": 'updateSchedule(id: "sch_1", input: {name: "x"}) { id }',
    "deleteSchedule": 'deleteSchedule(id: "sch_1")',
    "updateSettings": 'updateSettings(input: {judgeModel: "sim/steady"}) { judgeModel }',
    "pauseQueue": "pauseQueue { isPaused }",
    "resumeQueue": "resumeQueue { isPaused }",
    "redriveDeadLetters": 'redriveDeadLetters(messageIds: ["m1"]) { sent }',
    "createPlaygroundRun": 'createPlaygroundRun(input: {scenarioId: "scn_1", model: "sim/steady"}) { id }',
    "deleteRuns": 'deleteRuns(input: {ids: ["run_x"]}) { items { deleted } }',
    "deleteDefinitions": 'deleteDefinitions(input: {ids: ["def_x"]}) { items { deleted } }',
    "deleteProbeContents": 'deleteProbeContents(input: {ids: ["trn_x"]}) { items { deleted } }',
    "eraseDefinition": 'eraseDefinition(id: "def_1")',
    "importScenarios": 'importScenarios(definitionId: "def_1", input: {format: csv, content: "prompt\\nx"}) { ids }',
    "importDataset": f'importDataset(format: "jsonl", input: {DATASET}) {{ definitions {{ id }} }}',
    "importPromptfoo": f"importPromptfoo(input: {PROMPTFOO}) {{ definitions {{ id }} }}",
    "readDecisions": 'readDecisions(input: {pattern: "([1-5])", answers: ["4"]}) { items { code } }',
    "judgeConversation": 'judgeConversation(input: {messages: [], successCriteria: "x"}) { successMet }',
    "generatePersonaMessage": 'generatePersonaMessage(input: {messages: [], personaId: "per_1"}) { content }',
    "deleteFile": 'deleteFile(id: "file_1")',
    "updateProvider": 'updateProvider(name: "nobody", input: {enabled: false}) { enabled }',
    "createToken": 'createToken(input: {name: "x", role: "viewer"}) { role }',
    "revokeToken": 'revokeToken(id: "tok_1")',
    "setWebhook": 'setWebhook(input: {url: "https://hooks.example.com"}) { url }',
    "deleteWebhook": "deleteWebhook",
    "testWebhook": "testWebhook { httpStatus }",
    "createWorkspace": 'createWorkspace(input: {name: "x"}) { name }',
    "eraseWorkspace": 'eraseWorkspace(name: "x", input: {confirm: "x"})',
}
"""A call of each mutation, of things that do not exist."""
_CREATES = {
    "createToken",
    "createWorkspace",
    "deleteDefinitions",
    "deleteProbeContents",
    "deleteRuns",
    "deleteWebhook",
    "eraseWorkspace",
    "importDataset",
    "importPromptfoo",
    "readDecisions",
    "setWebhook",
    "createChat",
    "createConnector",
    "createDefinition",
    "createExperiment",
    "createPersona",
    "createProfile",
    "pauseQueue",
    "redriveDeadLetters",
    "resumeQueue",
    "updateSettings",
}


@pytest.fixture
def definition(client: GraphqlClient) -> str:
    variables = {"input": {"name": "d", "content": CONTENT, "tags": ["x"]}}
    definition_id: str = client.data(CREATE, variables)["createDefinition"]["id"]
    query = (
        """mutation ($id: ID!) { generateScenarios(definitionId: $id, seed: 17) { status seed progress { total } } }"""
    )
    generated = client.data(query, {"id": definition_id})["generateScenarios"]
    assert generated == {"status": "COMPLETED", "seed": 17.0, "progress": {"total": 2}}
    return definition_id


def test_a_generation_by_a_model_takes_a_budget_of_its_own(client: GraphqlClient, definition: str) -> None:
    client.put("/v1/providers/custom", {"baseUrl": "https://models.example.com/v1", "apiKey": "k"})
    query = """mutation ($id: ID!, $limit: Float!, $unpriced: Boolean) {
      generateScenarios(
        definitionId: $id, mode: llm, model: "custom/m", maxBudgetUsd: $limit, allowUnpriced: $unpriced
      ) { id } }"""
    variables = {"id": definition, "limit": 5}
    [error] = client.execute(query, variables)["errors"]
    assert "allowUnpriced" in error["message"]
    made = client.data(query, {**variables, "unpriced": True})["generateScenarios"]
    read = """query ($id: ID!, $generation: ID!) { scenarioGeneration(definitionId: $id, id: $generation) {
      status budget { maxBudgetUsd spentUsd uncertainUsd reservedUsd } } }"""
    budget = {"maxBudgetUsd": 5, "spentUsd": 0, "uncertainUsd": 0, "reservedUsd": 0}
    found = client.data(read, {"id": definition, "generation": made["id"]})["scenarioGeneration"]
    assert found == {"status": "QUEUED", "budget": budget}
    [error] = client.execute(query, {**variables, "limit": 0, "unpriced": True})["errors"]
    assert "maxBudgetUsd" in error["message"]


def start(client: GraphqlClient, definition_id: str, **fields: Any) -> dict[str, Any]:
    body = {"definitionId": definition_id, "models": ["sim/steady"], **fields}
    return dict(client.data(START, {"input": body})["startRun"])


def resolver(field: str) -> Resolver:
    found = find_resolver(field)
    assert found is not None
    return found


def test_every_mutation_is_called_here() -> None:
    mutation = schema().mutation_type
    assert mutation is not None
    assert set(mutation.fields) == set(ERRORS)


def test_viewers_may_change_nothing(client: GraphqlClient, viewer: str) -> None:
    for name, call in ERRORS.items():
        problem = client.error(f"mutation {{ {call} }}", token=viewer)["extensions"]
        assert (name, problem["code"], problem["status"]) == (name, "FORBIDDEN", 403)
        (record, *_) = audit_log.list_records("acme", 10, None, utc_now(), None, None).items
        assert (record.operation, record.status) == (resolver(f"Mutation.{name}").operation.id, 403)


def test_what_does_not_exist_is_not_found_or_invalid(client: GraphqlClient) -> None:
    for name in sorted(set(ERRORS) - _CREATES):
        problem = client.error(f"mutation {{ {ERRORS[name]} }}")["extensions"]
        assert problem["status"] in (404, 422), name


def test_a_definition_is_created_changed_forked_and_deleted(client: GraphqlClient) -> None:
    made = client.data(CREATE, {"input": {"name": "d", "content": CONTENT, "tags": ["x"]}})["createDefinition"]
    assert (made["version"], made["tags"], made["content"]["template"]) == (1, ["x"], CONTENT["template"])
    rest = client.get(f"/v1/definitions/{made['id']}").json()
    assert rest["content"] == made["content"]
    update = """mutation ($id: ID!, $input: UpdateDefinitionInput!) {
      updateDefinition(id: $id, input: $input) { version tags content } }"""
    changed = client.data(update, {"id": made["id"], "input": {"content": {"system": "Be brief"}, "tags": ["y"]}})
    assert changed["updateDefinition"]["version"] == 2
    assert changed["updateDefinition"]["content"]["system"] == "Be brief"
    fork = """mutation ($id: ID!) { forkDefinition(parentId: $id, name: "f", changes: {system: "Be long"},
      versionLabel: "v") { name parentId versionLabel content localContent parent { name } } }"""
    forked = client.data(fork, {"id": made["id"]})["forkDefinition"]
    assert (forked["name"], forked["parentId"], forked["versionLabel"]) == ("f", made["id"], "v")
    assert (forked["content"]["system"], forked["parent"]) == ("Be long", {"name": "d"})
    assert forked["localContent"] == {"system": "Be long"}
    assert client.data("mutation ($id: ID!) { deleteDefinition(id: $id) }", {"id": made["id"]}) == {
        "deleteDefinition": True
    }
    assert client.data("query ($id: ID!) { definition(id: $id) { id } }", {"id": made["id"]}) == {"definition": None}


def test_invalid_content_names_its_fields(client: GraphqlClient) -> None:
    variables = {"input": {"name": "", "content": {"template": "[nothing]", "unknown": 1}}}
    problem = client.error(CREATE, variables)["extensions"]
    assert problem["code"] == "INVALID_REQUEST"
    assert {"input.name", "input.content.unknown"} <= {each["field"] for each in problem["errors"]}


def test_a_run_is_started_with_all_options_of_rest(client: GraphqlClient, definition: str) -> None:
    target = {"label": "sober", "model": "sim/steady", "params": {"temperature": 0.5}}
    fields = {
        "models": None,
        "targets": [target],
        "name": "nightly",
        "tags": ["n"],
        "sampleSeed": 2**40,
        "repeats": 2,
        "temperature": 0.25,
        "maxTurns": 3,
        "maxBudgetUsd": 5,
    }
    started = start(client, definition, **fields)
    run = client.get(f"/v1/runs/{started['id']}").json()
    assert (started["jobCount"], started["progress"]["total"], started["status"]) == (4, 4, "PENDING")
    assert (started["run"]["name"], started["run"]["definition"]) == ("nightly", {"name": "d"})
    assert (run["config"]["temperature"], run["config"]["maxTurns"], run["config"]["sampleSeed"]) == (0.25, 3, 2**40)
    assert run["config"]["targets"][0]["params"] == target["params"]
    assert run["spend"]["budget"]["maxBudgetUsd"] == 5
    raise_ = "mutation ($id: ID!) { setRunBudget(id: $id, maxBudgetUsd: 6) { maxBudgetUsd spentUsd } }"
    assert client.data(raise_, {"id": run["id"]})["setRunBudget"] == {"maxBudgetUsd": 6.0, "spentUsd": 0.0}


def test_a_repeated_start_with_the_same_key_is_one_run(client: GraphqlClient, definition: str) -> None:
    first, again = (start(client, definition, idempotencyKey="k1") for _ in range(2))
    assert first["id"] == again["id"]
    body = {"definitionId": definition, "models": ["sim/bold"], "idempotencyKey": "k1"}
    assert client.error(START, {"input": body})["extensions"]["status"] in (409, 422)
    bad = {"definitionId": definition, "models": ["sim/bold"], "idempotencyKey": "\n"}
    (error,) = client.error(START, {"input": bad})["extensions"]["errors"]
    assert error["field"] == "input.idempotencyKey"


def test_an_estimate_is_that_of_rest_and_open_to_viewers(client: GraphqlClient, definition: str, viewer: str) -> None:
    body = {"definitionId": definition, "models": ["sim/steady"]}
    query = "query ($input: StartRunInput!) { estimateRun(input: $input) { jobCount basis usd { high } priceList } }"
    found = client.data(query, {"input": body}, token=viewer)["estimateRun"]
    rest = client.post("/v1/runs/estimate", body).json()
    assert found == {
        "jobCount": 2,
        "basis": rest["basis"],
        "usd": {"high": rest["usd"]["high"]},
        "priceList": rest["priceList"],
    }
    assert client.data("{ runs { id } }") == {"runs": []}


def test_a_run_is_controlled_by_id_or_run_id(client: GraphqlClient, definition: str) -> None:
    run_id = start(client, definition)["id"]
    paused = client.data("mutation ($runId: ID!) { pauseRun(runId: $runId) { status pauseReason } }", {"runId": run_id})
    assert paused["pauseRun"] == {"status": "PAUSED", "pauseReason": "user"}
    assert client.data("mutation ($id: ID!) { resumeRun(id: $id) { status } }", {"id": run_id}) == {
        "resumeRun": {"status": "RUNNING"}
    }
    label = 'mutation ($id: ID!) { updateRun(id: $id, input: {name: "n", tags: ["t"]}) { name tags } }'
    assert client.data(label, {"id": run_id})["updateRun"] == {"name": "n", "tags": ["t"]}
    assert (
        client.data("mutation ($id: ID!) { cancelRun(id: $id) { status } }", {"id": run_id})["cancelRun"]["status"]
        == "CANCELLED"
    )
    problem = client.error("mutation ($id: ID!) { resumeRun(id: $id) { status } }", {"id": run_id})["extensions"]
    assert (problem["code"], problem["status"]) == ("CONFLICT", 409)
    both = "mutation ($id: ID!) { pauseRun(id: $id, runId: $id) { id } }"
    assert client.error(both, {"id": run_id})["extensions"]["errors"][0]["field"] == "id"
    assert client.error("mutation { pauseRun { id } }")["extensions"]["errors"][0]["field"] == "id"
    assert client.data("mutation ($id: ID!) { deleteRun(id: $id) }", {"id": run_id}) == {"deleteRun": True}
    assert client.data("query ($id: ID!) { run(id: $id) { id } }", {"id": run_id}) == {"run": None}


def test_numbers_that_no_integer_of_a_machine_can_have_are_stored(client: GraphqlClient, definition: str) -> None:
    change = "mutation ($id: ID!, $input: UpdateRunInput!) { updateRun(id: $id, input: $input) { metadata } }"
    metadata = {"large": 1e30, "exact": 2.0**53, "half": 0.5}
    variables = {"id": start(client, definition)["id"], "input": {"metadata": metadata}}
    assert client.data(change, variables)["updateRun"]["metadata"] == metadata


def test_mutations_of_a_request_are_carried_out_in_order_and_each_is_recorded(
    client: GraphqlClient, definition: str
) -> None:
    run_id = start(client, definition)["id"]
    query = "mutation ($id: ID!) { a: pauseRun(id: $id) { status } b: resumeRun(id: $id) { status } }"
    assert client.data(query, {"id": run_id}) == {"a": {"status": "PAUSED"}, "b": {"status": "RUNNING"}}
    records = audit_log.list_records("acme", 20, None, utc_now(), None, None).items
    found = {(each.operation, each.path, each.status) for each in records}
    assert {
        ("pauseRun", f"/v1/runs/{run_id}/pause", 200),
        ("resumeRun", f"/v1/runs/{run_id}/resume", 200),
        ("createRun", f"/v1/runs/{run_id}", 201),
        ("createDefinition", f"/v1/definitions/{definition}", 201),
    } <= found


@pytest.fixture
def runs(client: GraphqlClient) -> tuple[Run, Run]:
    owner = client.data(CREATE, {"input": {"name": "c", "content": CONTENT}})["createDefinition"]["id"]
    return completed_run(owner), completed_run(owner)


def test_an_analysis_is_requested(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    query = "mutation ($id: ID!) { analyzeRun(runId: $id) { id status isCurrent jobId } }"
    found = client.data(query, {"id": runs[0].id})["analyzeRun"]
    assert (found["status"], found["isCurrent"], found["jobId"]) == ("COMPLETED", True, None)
    deep = "mutation ($id: ID!) { analyzeRun(runId: $id, kind: deep) { id jobId } }"
    job_id = client.data(deep, {"id": runs[0].id})["analyzeRun"]["jobId"]
    query = "query ($id: ID!) { job(id: $id) { kind status runIds } jobs { id } }"
    assert client.data(query, {"id": job_id})["jobs"] == [{"id": job_id}]


def test_runs_are_compared_and_grouped(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    from cupel_core.analysis import jobs
    from cupel_core.base.messages import JobRequest

    before, after = (run.id for run in runs)
    compare = """mutation ($a: ID!, $b: ID!) { compareRuns(baselineRunId: $a, comparisonRunId: $b,
      options: {metric: DECISION, alpha: 0.1, baselineTargets: ["sim/steady"]}) { id status jobId } }"""
    queued = client.data(compare, {"a": before, "b": after})["compareRuns"]
    assert queued["status"] == "QUEUED"
    jobs.run_job(JobRequest(workspace="acme", job_id=queued["jobId"]), 60)
    query = """query GetComparison($id: ID!, $run: ID!) { comparison(id: $id) {
      status baselineRun { id definition { name } } comparisonRun { id } deltaByModel statisticalSignificance
      mostChangedScenarios(limit: 5) { scenarioId baselineScore comparisonScore delta } whatChanged { summary }
      figures { alpha rows { verdict } } } comparisons(runId: $run) { id isStale figures { alpha } } }"""
    answer = client.data(query, {"id": queued["id"], "run": before})
    found = answer["comparison"]
    assert (found["status"], found["baselineRun"]["definition"]["name"]) == ("COMPLETED", "c")
    assert (found["comparisonRun"]["id"], found["figures"]["alpha"]) == (after, 0.1)
    assert list(found["deltaByModel"]) == list(found["statisticalSignificance"]) == ["sim/steady"]
    assert answer["comparisons"] == [{"id": queued["id"], "isStale": False, "figures": {"alpha": 0.1}}]


def test_an_experiment_has_its_runs_and_its_conclusion(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    before, after = (run.id for run in runs)
    create = """mutation ($input: CreateExperimentInput!) { createExperiment(input: $input) { id status alpha } }"""
    body = {"name": "e", "hypothesis": "it helps", "baselineRunId": before, "direction": "HIGHER", "tags": ["t"]}
    made = client.data(create, {"input": body})["createExperiment"]
    add = """mutation ($e: ID!, $r: ID!) { addRunToExperiment(experimentId: $e, runId: $r) {
      status baselineRun { id } runs { id experiment { name hypothesis } } comparisons { id status } } }"""
    added = client.data(add, {"e": made["id"], "r": after})["addRunToExperiment"]
    assert added["baselineRun"] == {"id": before}
    assert added["runs"] == [{"id": after, "experiment": {"name": "e", "hypothesis": "it helps"}}]
    assert [each["status"] for each in added["comparisons"]] == ["QUEUED"]
    conclude = """mutation ($id: ID!) { updateExperiment(id: $id, input: {conclusion: SUPPORTED, note: "n"}) {
      conclusion note summary { pendingRunIds } } }"""
    concluded = client.data(conclude, {"id": made["id"]})["updateExperiment"]
    assert (concluded["conclusion"], concluded["note"]) == ("SUPPORTED", "n")
    assert concluded["summary"]["pendingRunIds"] == [after]
    remove = "mutation ($e: ID!, $r: ID!) { removeRunFromExperiment(experimentId: $e, runId: $r) { runs { id } } }"
    assert client.data(remove, {"e": made["id"], "r": after})["removeRunFromExperiment"] == {"runs": []}
    assert client.data("mutation ($id: ID!) { deleteExperiment(id: $id) }", {"id": made["id"]})["deleteExperiment"]
    assert client.data("{ experiments { id } }") == {"experiments": []}


def test_queues_are_paused_by_admins(client: GraphqlClient) -> None:
    query = (
        '{ queueStatus { isRunning providers { provider paused } } providers { name } models(provider: "sim") { id } }'
    )
    assert client.data(query)["queueStatus"]["isRunning"]
    paused = client.data('mutation { pauseQueue(provider: "sim") { isPaused providers { provider paused } } }')
    assert paused["pauseQueue"]["isPaused"]
    assert client.data("mutation { resumeQueue { isPaused } }") == {"resumeQueue": {"isPaused": False}}
    operation = resolver("Mutation.pauseQueue").operation
    member = client.issue(role=AccessRole.MEMBER)
    allowed = operation.permits(AccessRole.MEMBER)
    assert ("errors" in client.execute("mutation { pauseQueue { isPaused } }", token=member)) != allowed


@pytest.mark.parametrize("call", [ERRORS[name] for name in sorted(set(ERRORS) - _CREATES)])
def test_things_of_another_workspace_stay_as_they_are(
    client: GraphqlClient, definition: str, runs: tuple[Run, Run], stranger: str, call: str
) -> None:
    own = call.replace("def_1", definition).replace("run_1", runs[0].id).replace("run_2", runs[1].id)
    problem = client.error(f"mutation {{ {own} }}", token=stranger)["extensions"]
    assert problem["status"] in (404, 422)
    assert client.data("query ($id: ID!) { run(id: $id) { id } }", {"id": runs[0].id})["run"]


def test_a_mutation_that_fails_leaves_the_results_of_the_others(client: GraphqlClient, definition: str) -> None:
    """Those that were carried out cost money: their ids must not be lost."""
    query = """mutation ($input: StartRunInput!) { a: startRun(input: $input) { id } b: pauseRun(id: "run_x") { id }
      c: createExperiment(input: {name: "x", hypothesis: "y"}) { name } }"""
    answer = client.execute(query, {"input": {"definitionId": definition, "models": ["sim/steady"]}})
    (run,) = client.data("{ runs { id } }")["runs"]
    assert answer["data"] == {"a": run, "b": None, "c": {"name": "x"}}
    assert [(each["path"], each["extensions"]["code"]) for each in answer["errors"]] == [(["b"], "NOT_FOUND")]


def test_what_a_mutation_changed_is_read_anew_by_the_next(client: GraphqlClient, definition: str) -> None:
    start_run = "startRun(input: $input) { run { definition { name } } }"
    query = f"""mutation ($id: ID!, $input: StartRunInput!) {{ a: {start_run}
      updateDefinition(id: $id, input: {{name: "new"}}) {{ name }} b: {start_run} }}"""
    body = {"definitionId": definition, "models": ["sim/steady"]}
    found = client.data(query, {"id": definition, "input": body})
    assert [found[each]["run"]["definition"]["name"] for each in "ab"] == ["d", "new"]


def test_a_mutation_by_run_id_is_recorded_with_the_run(client: GraphqlClient, definition: str) -> None:
    run_id = start(client, definition)["id"]
    client.data("mutation ($runId: ID!) { pauseRun(runId: $runId) { id } }", {"runId": run_id})
    (record, *_) = audit_log.list_records("acme", 1, None, utc_now(), None, None).items
    assert (record.operation, record.path) == ("pauseRun", f"/v1/runs/{run_id}/pause")


def test_a_refused_mutation_with_a_long_id_is_recorded_in_short(client: GraphqlClient, viewer: str) -> None:
    client.error("mutation ($id: ID!) { pauseRun(id: $id) { id } }", {"id": "x" * 500_000}, token=viewer)
    (record, *_) = audit_log.list_records("acme", 1, None, utc_now(), None, None).items
    assert (record.operation, record.status) == ("pauseRun", 403)
    assert record.path == ("/v1/runs/" + "x" * 1_000)[:1_000]


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "k" * 256])
def test_a_key_that_rest_refuses_is_refused(client: GraphqlClient, definition: str, key: str) -> None:
    body = {"definitionId": definition, "models": ["sim/steady"]}
    for answer in (
        client.error(START, {"input": body}, headers={"Idempotency-Key": key}),
        client.error(START, {"input": body | {"idempotencyKey": key}}),
    ):
        (error,) = answer["extensions"]["errors"]
        assert error["field"] in ("Idempotency-Key", "input.idempotencyKey")
    assert client.data("{ runs { id } }")["runs"] == []


def test_an_answer_to_mutations_that_is_too_large_says_that_they_stay(
    client: GraphqlClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cupel_core.interfaces.graphql.execution.MAX_RESPONSE_BYTES", 10)
    answer = client.execute('mutation { createExperiment(input: {name: "x", hypothesis: "y"}) { id } }')
    assert (answer["data"], answer["errors"][0]["extensions"]["code"]) == (None, "CONTENT_TOO_LARGE")
    assert "have been carried out" in answer["errors"][0]["message"]


def test_a_scenario_is_changed_and_deleted_in_the_next_version(client: GraphqlClient, definition: str) -> None:
    names = """query ($id: ID!, $version: Int) { definition(id: $id) { scenarios(version: $version) {
      nodes { id name } } } }"""
    first, second = client.data(names, {"id": definition})["definition"]["scenarios"]["nodes"]
    change = """mutation ($definition: ID!, $id: ID!, $other: ID!) {
      updateScenario(definitionId: $definition, id: $id, input: {name: "new", maxMessages: 4}) {
        name maxMessages definitionVersion }
      deleteScenario(definitionId: $definition, id: $other) }"""
    done = client.data(change, {"definition": definition, "id": first["id"], "other": second["id"]})
    assert (done["updateScenario"]["name"], done["deleteScenario"]) == ("new", True)
    version = done["updateScenario"]["definitionVersion"]
    now = client.data(names, {"id": definition})["definition"]["scenarios"]["nodes"]
    before = client.data(names, {"id": definition, "version": version - 1})["definition"]["scenarios"]["nodes"]
    assert (now, before) == ([{"id": first["id"], "name": "new"}], [first, second])
