"""Every query and mutation, sent with the ids of another workspace: nothing of it is in the answer, or changed."""

import json
import re
from typing import Any

import pytest

from cupel_core.analysis import jobs
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interfaces.graphql.schema import schema
from cupel_core.runs.rescoring import phases
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api import test_trials as trials
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_chats import START, chat_of
from tests.unit.graphqlapi.test_mutations import ERRORS
from tests.unit.graphqlapi.test_queries import completed_run

QUERIES = {
    "me": "me { workspace }",
    "definition": "definition(id: $definition) { id name }",
    "definitions": "definitions { id name }",
    "definitionsConnection": "definitionsConnection { nodes { id name } }",
    "tags": "tags { name }",
    "scenario": "scenario(definitionId: $definition, id: $scenario) { id name }",
    "scenarioGeneration": "scenarioGeneration(definitionId: $definition, id: $generation) { id }",
    "previewScenarios": "previewScenarios(definitionId: $definition) { total scenarios { name } }",
    "run": "run(id: $run) { id transcripts { id } }",
    "runs": "runs(definitionId: $definition) { id }",
    "runsConnection": "runsConnection(experimentId: $experiment) { nodes { id } }",
    "transcript": "transcript(id: $transcript) { id content { messages { content } } }",
    "probe": "probe(id: $transcript) { id messages { content } }",
    "analysis": "analysis(runId: $run) { id runId }",
    "estimateRun": 'estimateRun(input: {definitionId: $definition, models: ["sim/steady"]}) { jobCount }',
    "estimateRetry": "estimateRetry(runId: $run) { jobCount }",
    "estimateExpansion": "estimateExpansion(runId: $sampled, samplePercentage: 100) { jobCount }",
    "estimateScaleRun": 'estimateScaleRun(input: {count: 1, connectorId: $connector, userMessage: "x"}) { jobCount }',
    "estimateEvalRun": "estimateEvalRun(evalId: $eval) { jobCount }",
    "estimateTrial": "estimateTrial(runId: $reported, reportId: $report) { scenarios }",
    "comparison": "comparison(id: $comparison) { id baselineRun { id } }",
    "comparisons": "comparisons(runId: $run) { id }",
    "aggregate": "aggregate(input: {runIds: [$run]}) { totalRows rows { runs } }",
    "experiment": "experiment(id: $experiment) { id name }",
    "experiments": "experiments { id name }",
    "labels": "labels(runId: $run) { probeId value }",
    "labelSets": "labelSets(runId: $run) { id }",
    "labelSet": 'labelSet(runId: $run, labelSetId: "lbs_1") { id }',
    "labelSetItems": 'labelSetItems(runId: $run, labelSetId: "lbs_1") { probeId }',
    "calibration": "calibration(runId: $run) { judgeModel }",
    "labelPlan": "labelPlan(runId: $run, halfWidth: 0.1) { columns { labels } }",
    "compareJudges": "compareJudges(runId: $run, rescoreIds: [$judged]) { judges { judgeModel } }",
    "judgeDrift": "judgeDrift(runId: $run, rescoreId: $judged) { judgeModel }",
    "job": "job(id: $job) { id runIds }",
    "jobs": "jobs(runId: $run) { id }",
    "budgets": "budgets { day { spentUsd } }",
    "profile": "profile(id: $profile) { id name }",
    "profiles": "profiles { id name }",
    "checkProfile": 'checkProfile(input: {name: "x", operations: []}) { errors { field } }',
    "connector": "connector(id: $connector) { id name }",
    "connectors": "connectors { id name }",
    "providers": "providers { name }",
    "models": 'models(provider: "sim") { id }',
    "servedModels": "servedModels { items { provider } }",
    "queueStatus": "queueStatus { pending }",
    "deadLetters": "deadLetters { runId }",
    "settings": "settings { judgeModel evaluator { url } }",
    "eval": "eval(id: $eval) { id name definition { name } runs { id } }",
    "evals": "evals { id name }",
    "persona": "persona(id: $persona) { id name }",
    "personas": "personas { id name }",
    "schedule": "schedule(id: $schedule) { id name runs { id } }",
    "schedules": "schedules { id name }",
    "rescore": "rescore(runId: $run, id: $rescore) { id results { nodes { scenarioId } } }",
    "chat": "chat(id: $chat) { id title turns { id } }",
    "chats": "chats { id title }",
    "turn": "turn(chatId: $chat, id: $turn) { id }",
    "turnPrompt": "turnPrompt(chatId: $chat, id: $turn) { messages { content } }",
    "turnEvents": "turnEvents(chatId: $chat, id: $turn) { items { type } }",
    "branch": "branch(chatId: $chat, id: $branch) { id name }",
    "branchArtifact": 'branchArtifact(chatId: $chat, branchId: $branch, tag: "x", profileId: $profile) { value }',
    "probes": "probes { scenarioName messages { content } }",
    "planComparison": "planComparison(input: {effect: 0.05, rate: 0.95}) { metric }",
    "provider": 'provider(name: "sim") { name }',
    "runResults": "runResults(id: $run) { runId status }",
    "runScores": "runScores(id: $run) { runId }",
    "scenarioScores": "scenarioScores(runId: $run) { scenarioName }",
    "runBreakdown": "runBreakdown(id: $run) { runId }",
    "graderAgreement": "graderAgreement(runId: $run) { items { kappa } }",
    "caseTexts": "caseTexts(runId: $run) { items { input expected values } nextIndex }",
    "caseNames": "caseNames(runId: $run) { items { scenarioName } nextIndex }",
    "probeColumns": "probeColumns(runId: $run, block: 0) { runId }",
    "probeExcerpts": "probeExcerpts(runId: $run, indexes: [0, 1]) { items { index } }",
    "probeMatches": 'probeMatches(runId: $run, q: "secret") { indexes }',
    "report": "report(runId: $reported, id: $report) { id status }",
    "trial": "trial(runId: $reported, reportId: $report) { status }",
    "files": "files { id name }",
    "file": 'file(id: "file_1") { id name }',
    "session": "session { workspace role version }",
    "tokens": "tokens { name }",
    "auditRecords": "auditRecords { path }",
    "webhook": "webhook { url }",
    "webhookDeliveries": "webhookDeliveries { runId }",
}
"""A call of each query; variables are ids of the first workspace."""
_OF_OPERATORS = {
    "workspaces": "workspaces { name }",
    "workspace": 'workspace(name: "acme") { name }',
}
_OF_ADMINS = {"auditRecords", "estimateTrial", "servedModels", "tokens", "webhook", "webhookDeliveries"}
"""Queries that viewers may not send."""
_OF_ITS_OWN = {
    "budgets",
    "checkProfile",
    "me",
    "models",
    "planComparison",
    "provider",
    "providers",
    "queueStatus",
    "servedModels",
    "session",
    "settings",
    "tokens",
}
"""What every workspace has."""
_EMPTY = {
    "branchArtifact",
    "deadLetters",
    "file",
    "files",
    "labelSet",
    "labelSetItems",
    "labelSets",
    "labels",
    "runsConnection",
    "trial",
    "turnPrompt",
    "webhookDeliveries",
}
"""What the first workspace has none of."""
SCENARIOS = tuple(Scenario("", f"secret {n}", (Message(MessageRole.USER, "?"),)) for n in range(2))


@pytest.fixture
def ids(client: GraphqlClient) -> dict[str, str]:
    """Of one of everything."""
    levels = [{"score": 1, "label": "secret level"}, {"score": 2, "label": "high"}]
    content = {"template": "Rate [stakes]", "dimensions": [{"name": "stakes", "levels": levels}]}
    body = {"name": "secret name", "tags": ["secret tag"], "content": content}
    definition = client.post("/v1/definitions", body).json()["id"]
    generation = client.post(f"/v1/definitions/{definition}/scenarios/generate", {"mode": "matrix"}).json()["id"]
    scenario = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"][0]["id"]
    run, other = completed_run(definition).id, completed_run(definition).id
    reported_run = trials.answered(trials.scored(lambda index: index % 4 > 1)).completed()
    report = trials.reported(client, reported_run).rpartition("/")[2]
    agent = {
        "name": "secret agent",
        "type": "openai",
        "baseUrl": "https://secret.example.com",
        "config": {"model": "m"},
    }
    assert client.post(f"/v1/runs/{run}/analysis").status == 200
    sides = {"baseline": {"runId": run}, "comparison": {"runId": other}}
    comparison = client.post("/v1/comparisons", sides).json()
    jobs.run_job(JobRequest(workspace="acme", job_id=comparison["jobId"]), 60)
    experiment = {"name": "secret experiment", "hypothesis": "h", "baselineRunId": run}
    chat = chat_of(client)
    secret_eval = {"name": "secret eval", "scenarioIds": [scenario], "model": "sim/steady"}
    started = {"definitionId": definition, "models": ["sim/steady"]}
    schedule = {"name": "secret schedule", "expression": "rate(1 day)", "run": started}
    assert client.put("/v1/settings", {"evaluator": {"url": "https://secret.example.com"}}).status == 200
    assert client.put("/v1/webhook", {"url": "https://secret.example.com"}).status == 200
    return {
        "definition": definition,
        "generation": generation,
        "scenario": scenario,
        "run": run,
        "sampled": AnsweredRun(SCENARIOS, sample_percentage=50, workspace="acme").completed().id,
        "reported": reported_run.id,
        "report": report,
        "connector": client.post("/v1/connectors", agent).json()["id"],
        "transcript": client.get(f"/v1/runs/{run}/transcripts").json()["items"][0]["id"],
        "comparison": comparison["id"],
        "job": comparison["jobId"],
        "experiment": client.post("/v1/experiments", experiment).json()["id"],
        "profile": client.post("/v1/profiles", {"name": "secret profile", "operations": []}).json()["id"],
        "eval": client.post("/v1/evals", secret_eval).json()["id"],
        "persona": client.post("/v1/personas", {"name": "secret persona"}).json()["id"],
        "schedule": client.post("/v1/schedules", schedule).json()["id"],
        "rescore": client.post(f"/v1/runs/{run}/rescores").json()["id"],
        "judged": judged_again(client, run),
        "chat": chat,
        "branch": client.get(f"/v1/chats/{chat}/branches").json()["items"][0]["id"],
        "turn": client.data(START, {"id": chat, "input": {"content": "hello"}})["startTurn"]["id"],
    }


def judged_again(client: GraphqlClient, run: str) -> str:
    """The id of a completed rescore."""
    rescore: str = client.post(f"/v1/runs/{run}/rescores", {"judgeAgain": True}).json()["id"]
    assert phases.begin(RunRef("acme", run), rescore).status == "RUNNING"
    assert phases.complete(RunRef("acme", run), rescore, NOW) == "COMPLETED"
    return rescore


def ask(client: GraphqlClient, ids: dict[str, str], query: str, **options: Any) -> dict[str, Any]:
    used = {name: ids[name] for name in sorted(set(re.findall(r"\$(\w+)", query)))}
    declared = f"({', '.join(f'${name}: ID!' for name in used)})" if used else ""
    return client.execute(f"query {declared} {{ {query} }}", used, **options)


def test_every_query_is_sent_here() -> None:
    query = schema().query_type
    assert query is not None
    assert set(query.fields) == {*QUERIES, *_OF_OPERATORS}


def test_another_workspace_gets_nothing(client: GraphqlClient, ids: dict[str, str], stranger: str) -> None:
    for name, query in QUERIES.items():
        found = ask(client, ids, query, token=stranger)
        text = json.dumps(found.get("data"))
        assert "secret" not in text, name
        assert [each for each in ids.values() if each in text] == [], name
        for error in found.get("errors", ()):
            assert error["extensions"]["status"] in (404, 422), name
        if name not in _OF_ITS_OWN:
            value = (found.get("data") or {}).get(name)
            assert not (value.get("nodes") if isinstance(value, dict) else value), name


def test_a_viewer_of_the_workspace_gets_it(client: GraphqlClient, ids: dict[str, str], viewer: str) -> None:
    for name, query in QUERIES.items():
        found = ask(client, ids, query, token=None if name in _OF_ADMINS else viewer)
        assert "errors" not in found, (name, found["errors"])
        value = found["data"][name]
        assert name in _EMPTY or (value.get("nodes", True) if isinstance(value, dict) else value), name


def test_operators_read_the_names_of_workspaces_and_admins_do_not(client: GraphqlClient) -> None:
    operator = client.issue(role=AccessRole.OPERATOR)
    made = 'mutation { createWorkspace(input: {name: "made"}) { name token { role token } } }'
    created = client.data(made, token=operator)["createWorkspace"]
    assert (created["name"], created["token"]["role"]) == ("made", "admin")
    assert client.data("{ workspaces { name } }", token=operator) == {"workspaces": [{"name": "made"}]}
    assert client.data('{ workspace(name: "none") { name } }', token=operator) == {"workspace": None}
    for query in _OF_OPERATORS.values():
        assert client.error(f"{{ {query} }}")["extensions"]["code"] == "FORBIDDEN"


def test_lists_of_ids_of_another_workspace_delete_nothing(
    client: GraphqlClient, ids: dict[str, str], stranger: str
) -> None:
    places = {"deleteRuns": "run", "deleteDefinitions": "definition", "deleteProbeContents": "transcript"}
    before = state_of(client)
    for name, place in places.items():
        query = f"mutation {{ {name}(input: {{ids: [{json.dumps(ids[place])}]}}) {{ items {{ deleted }} }} }}"
        assert client.data(query, token=stranger) == {name: {"items": [{"deleted": False}]}}
    assert state_of(client) == before


_PLACES = {
    "def_1": "definition",
    "run_1": "run",
    "run_2": "run",
    "exp_1": "experiment",
    "cmp_1": "comparison",
    "chat_1": "chat",
    "turn_1": "turn",
    "evl_1": "eval",
    "per_1": "persona",
    "sch_1": "schedule",
    "scn_1": "scenario",
    "con_1": "connector",
    "prf_1": "profile",
    "trn_1": "transcript",
    "br_1": "branch",
    "rsc_1": "rescore",
    "rep_1": "report",
}
"""What the ids in the calls of test_mutations.py are of."""
NAMING = {
    "experiment of a run": 'createExperiment(input: {name: "x", hypothesis: "y", baselineRunId: "run_1"}) { id }',
    "chat with a profile": 'createChat(input: {target: {model: "sim/steady"}, profileId: "prf_1"}) { id }',
}
"""Mutations that create something of the sender's, and name something of the other workspace."""
_STATE = (
    "connectors",
    "profiles",
    "definitions",
    "runs",
    "experiments",
    "comparisons",
    "evals",
    "personas",
    "schedules",
    "chats",
    "settings",
)


def mutation_of(call: str, ids: dict[str, str]) -> str:
    for place, name in _PLACES.items():
        call = call.replace(f'"{place}"', f'"{ids[name]}"')
    return f"mutation {{ {call} }}"


def state_of(client: GraphqlClient) -> list[str]:
    """What the workspace has, without the times of accesses."""
    answers = [client.get(f"/v1/{each}") for each in (*_STATE, "queue")]
    assert {each.status for each in answers} == {200}
    return [re.sub(r'"(lastAccessedAt|updatedAt)":"[^"]*"', "", each.text) for each in answers]


def test_no_mutation_changes_another_workspace(client: GraphqlClient, ids: dict[str, str], stranger: str) -> None:
    before = state_of(client)
    for name, call in {**ERRORS, **NAMING}.items():
        query = mutation_of(call, ids)
        found = client.execute(query, token=stranger)
        names_something = any(each in query for each in ids.values())
        if names_something:
            (error,) = found["errors"]
            assert (name, error["extensions"]["status"]) in ((name, 404), (name, 422)), error
        assert "secret" not in json.dumps(found), name
    assert state_of(client) == before
