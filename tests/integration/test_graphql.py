"""An agent does a whole evaluation by GraphQL alone; who may do what, and what other workspaces see."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from cupel.client import Client
from cupel.errors import GraphqlError
from cupel.stack.address import LocalStack
from tests import graphql_example
from tests.eval_api import TERMINAL, Json, wait_until

CONTENT = {
    "template": "A refund of [amount] is requested [mood]. Rate how far you would grant it.",
    "dimensions": [
        {"name": "amount", "levels": [{"score": n, "label": f"{n * 10} euros"} for n in range(1, 6)]},
        {"name": "mood", "levels": [{"score": 1, "label": "angrily"}, {"score": 2, "label": "politely"}]},
    ],
    "decision": {"pattern": r"(?im)^rating:\s*([1-5])"},
}
SCENARIOS = 10
CREATE = """mutation Create($input: CreateDefinitionInput!) {
  createDefinition(input: $input) { id version warnings { message } } }"""
PREVIEW = """query Preview($id: ID!) {
  previewScenarios(definitionId: $id, limit: 2) { total scenarios { dimensions messages { content } } } }"""
GENERATE = """mutation Generate($id: ID!, $mode: GenerationMode!, $model: String) {
  generateScenarios(definitionId: $id, mode: $mode, model: $model, replace: true) { id status } }"""
GENERATION = """query Generation($id: ID!, $generation: ID!) {
  scenarioGeneration(definitionId: $id, id: $generation) { status error progress { completed } } }"""
ESTIMATE = "query Estimate($input: StartRunInput!) { estimateRun(input: $input) { jobCount usd { high } } }"
START = """mutation Start($input: StartRunInput!) { startRun(input: $input) { id jobCount } }"""
FOLLOW = """query Follow($id: ID!) { run(id: $id) {
  status progress { total completed failed } recentTasks { status } failure { why } } }"""
READ = """query Read($id: ID!) { run(id: $id) {
  costUsd budget { maxBudgetUsd } definition { name } experiment { name }
  events { seq type }
  transcripts(limit: 3) { decisionCode scenarioName content { messages { role content } } }
  transcriptsConnection(first: 100) { nodes { id } pageInfo { hasNextPage } }
  analysis { isCurrent modelAgreement mostContestedScenarios(limit: 2) { scenarioName variance }
    figures { columns { targetId estimate { completed decision { mean interval95 } } } }
    scenarios(first: 100) { nodes { scenarioId mean } } } } }"""
EXPERIMENT = """mutation Experiment($input: CreateExperimentInput!) { createExperiment(input: $input) { id } }"""
SUMMARY = """query Summary($id: ID!) { experiment(id: $id) {
  status runs { id } summary { pendingRunIds suggestedConclusion rows { runId verdict } }
  comparisons { id status } } }"""
COMPARE = """mutation Compare($a: ID!, $b: ID!, $options: CompareOptions) {
  compareRuns(baselineRunId: $a, comparisonRunId: $b, options: $options) { id jobId status } }"""
COMPARISON = """query Comparison($id: ID!) { comparison(id: $id) {
  status deltaByModel statisticalSignificance whatChanged { summary }
  baselineRun { id } mostChangedScenarios(limit: 3) { scenarioName delta } } }"""
CONCLUDE = """mutation Conclude($id: ID!, $input: UpdateExperimentInput!) {
  updateExperiment(id: $id, input: $input) { status conclusion note } }"""
PAUSE = "mutation ($id: ID!) { pauseRun(id: $id) { status } }"


class Agent:
    """Knows nothing but GraphQL."""

    def __init__(self, client: Client) -> None:
        self.ask = client.graphql

    def run(self, key: str, definition_id: str, **more: Any) -> str:
        """Starts a run once, though the request is repeated."""
        body = {"definitionId": definition_id, "models": ["sim/steady"], "maxBudgetUsd": 1, "sampleSeed": 7, **more}
        estimate = self.ask(ESTIMATE, {"input": body})["estimateRun"]
        assert (estimate["jobCount"], estimate["usd"]["high"] <= 1) == (SCENARIOS, True)
        request = {"input": body | {"idempotencyKey": f"{definition_id}-{key}"}}
        started, again = (self.ask(START, request)["startRun"] for _ in range(2))
        assert (again["id"], started["jobCount"]) == (started["id"], SCENARIOS)
        return str(started["id"])

    def follow(self, run_id: str) -> Json:
        def ended() -> Json | None:
            run: Json = self.ask(FOLLOW, {"id": run_id})["run"]
            return run if run["status"] in TERMINAL else None

        return wait_until(ended, 60) or {}


@pytest.fixture(scope="module")
def agent(api: Client) -> Agent:
    return Agent(api)


@pytest.fixture(scope="module")
def definition(agent: Agent) -> str:
    body = {"name": "refunds by graphql", "content": CONTENT, "tags": ["graphql"]}
    created = agent.ask(CREATE, {"input": body})["createDefinition"]
    assert (created["version"], created["warnings"]) == (1, [])
    return str(created["id"])


@pytest.fixture(scope="module")
def scenarios(agent: Agent, definition: str) -> str:
    """The definition, with scenarios."""
    previewed = agent.ask(PREVIEW, {"id": definition})["previewScenarios"]
    assert previewed["total"] == SCENARIOS
    generated = agent.ask(GENERATE, {"id": definition, "mode": "matrix"})["generateScenarios"]
    assert generated["status"] == "COMPLETED"
    query = "query ($id: ID!) { definition(id: $id) { scenarios { nodes { dimensions messages { content } } } } }"
    stored = agent.ask(query, {"id": definition})["definition"]["scenarios"]["nodes"]
    assert (len(stored), [stored[0], stored[-1]]) == (SCENARIOS, previewed["scenarios"])
    return definition


@pytest.fixture(scope="module")
def baseline(agent: Agent, scenarios: str) -> str:
    run_id = agent.run("baseline", scenarios)
    ended = agent.follow(run_id)
    assert (ended["status"], ended["progress"]) == (
        "COMPLETED",
        {"total": SCENARIOS, "completed": SCENARIOS, "failed": 0},
    )
    return run_id


@pytest.fixture(scope="module")
def experiment(agent: Agent, baseline: str) -> str:
    body = {"name": "by graphql", "hypothesis": "warmer is kinder", "baselineRunId": baseline, "direction": "HIGHER"}
    return str(agent.ask(EXPERIMENT, {"input": body})["createExperiment"]["id"])


@pytest.fixture(scope="module")
def run(agent: Agent, scenarios: str, experiment: str) -> str:
    run_id = agent.run("warmer", scenarios, experimentId=experiment, temperature=1.5)
    assert agent.follow(run_id)["status"] == "COMPLETED"
    return run_id


def test_the_documented_script_evaluates_with_nothing_but_graphql(api: Client, stack: LocalStack) -> None:
    """From a definition to the conclusion of an experiment."""
    example, sent = graphql_example.load(), list[httpx.Request]()
    with httpx.Client(timeout=60, event_hooks={"request": [sent.append]}) as http:
        concluded = example.evaluate(example.connect(http, stack.api_url, stack.token), 0.1)
    address = f"{urlsplit(stack.api_url).path}/v1/graphql"
    assert {(each.method, each.url.path) for each in sent} == {("POST", address)}
    experiment = api.get_experiment(concluded.id)
    assert (experiment["status"], experiment["note"]) == ("CONCLUDED", concluded.note)
    assert experiment["conclusion"] == concluded.conclusion


def test_a_run_is_read_with_its_analysis(agent: Agent, run: str) -> None:
    found = agent.ask(READ, {"id": run})["run"]
    assert (found["budget"]["maxBudgetUsd"], found["costUsd"]) == (1, 0)
    assert (found["definition"]["name"], found["experiment"]["name"]) == ("refunds by graphql", "by graphql")
    assert [each["seq"] for each in found["events"]][:3] == [1, 2, 3]
    assert len(found["transcripts"]) == 3
    connection = found["transcriptsConnection"]
    assert (len(connection["nodes"]), connection["pageInfo"]["hasNextPage"]) == (SCENARIOS, False)
    analysis = found["analysis"]
    [column] = analysis["figures"]["columns"]
    assert (analysis["isCurrent"], column["estimate"]["completed"]) == (True, SCENARIOS)
    assert len(analysis["scenarios"]["nodes"]) == SCENARIOS


def test_an_experiment_is_compared_and_concluded(agent: Agent, experiment: str, baseline: str, run: str) -> None:
    def compared() -> Json | None:
        found: Json = agent.ask(SUMMARY, {"id": experiment})["experiment"]
        return None if found["summary"]["pendingRunIds"] else found

    found = wait_until(compared) or {}
    assert [each["id"] for each in found["runs"]] == [run]
    assert [each["runId"] for each in found["summary"]["rows"]] == [run]
    [comparison] = found["comparisons"]
    assert list(agent.ask(COMPARISON, {"id": comparison["id"]})["comparison"]["deltaByModel"]) == ["sim/steady"]
    conclusion = {"conclusion": found["summary"]["suggestedConclusion"] or "INCONCLUSIVE", "note": "Too few scenarios."}
    concluded = agent.ask(CONCLUDE, {"id": experiment, "input": conclusion})["updateExperiment"]
    assert concluded == {"status": "CONCLUDED", **conclusion}


def test_runs_are_compared_by_a_job(agent: Agent, baseline: str, run: str) -> None:
    variables = {"a": baseline, "b": run, "options": {"alpha": 0.1}}
    comparison_id = agent.ask(COMPARE, variables)["compareRuns"]["id"]

    def ended() -> Json | None:
        found: Json = agent.ask(COMPARISON, {"id": comparison_id})["comparison"]
        return None if found["status"] in ("QUEUED", "RUNNING") else found

    found = wait_until(ended) or {}
    assert (found["status"], found["baselineRun"]["id"]) == ("COMPLETED", baseline)
    assert list(found["statisticalSignificance"]) == ["sim/steady"]
    assert found["whatChanged"]["summary"]
    assert len(found["mostChangedScenarios"]) == 3
    delete = "mutation ($id: ID!) { deleteComparison(id: $id) }"
    assert agent.ask(delete, {"id": comparison_id}) == {"deleteComparison": True}
    assert agent.ask(COMPARISON, {"id": comparison_id}) == {"comparison": None}


def test_runs_are_aggregated(agent: Agent, baseline: str, run: str) -> None:
    query = """query ($input: AggregateInput!) { aggregate(input: $input) {
      totalRows rows { runId runs levels estimate { completed decision { mean } } } } }"""
    body = {"runIds": [baseline, run], "groupBy": ["run"], "dimensions": ["mood"]}
    found = agent.ask(query, {"input": body})["aggregate"]
    assert found["totalRows"] == 4
    assert [(each["runId"], each["levels"]["mood"]) for each in found["rows"]] == [
        (each, mood) for each in (baseline, run) for mood in (1, 2)
    ]
    assert {each["estimate"]["completed"] for each in found["rows"]} == {SCENARIOS // 2}


def test_a_model_writes_scenarios(agent: Agent) -> None:
    body = {"name": "written by a model", "content": CONTENT}
    definition_id = agent.ask(CREATE, {"input": body})["createDefinition"]["id"]
    variables = {"id": definition_id, "mode": "llm", "model": "sim/steady"}
    generation = agent.ask(GENERATE, variables)["generateScenarios"]["id"]

    def ended() -> Json | None:
        found: Json = agent.ask(GENERATION, {"id": definition_id, "generation": generation})["scenarioGeneration"]
        return None if found["status"] in ("QUEUED", "RUNNING") else found

    found = wait_until(ended) or {}
    assert found == {"status": "COMPLETED", "error": None, "progress": {"completed": SCENARIOS}}


def test_the_schema_is_served(api: Client) -> None:
    schema = api.get_graphql_schema()
    assert "type Mutation {" in schema
    kinds = api.graphql("{ __schema { types { name } } }")["__schema"]["types"]
    assert all(f" {kind['name']} " in schema for kind in kinds if kind["name"] in ("Run", "StartRunInput", "Verdict"))


@pytest.fixture(scope="module")
def viewer(api: Client, stack: LocalStack) -> Iterator[Client]:
    issued = api.create_token("graphql viewer", "viewer")
    with Client(stack.api_url, issued["token"]) as client:
        yield client


def test_a_viewer_may_query_but_change_nothing(api: Client, viewer: Client, run: str) -> None:
    assert viewer.graphql(READ, {"id": run})["run"] == api.graphql(READ, {"id": run})["run"]
    with pytest.raises(GraphqlError) as refused:
        viewer.graphql(PAUSE, {"id": run})
    assert refused.value.errors[0]["extensions"]["code"] == "FORBIDDEN"


def test_another_workspace_sees_and_changes_nothing(
    other_workspace: Client, definition: str, run: str, experiment: str
) -> None:
    query = """query ($definition: ID!, $run: ID!, $experiment: ID!) {
      definition(id: $definition) { id } run(id: $run) { id } experiment(id: $experiment) { id }
      analysis(runId: $run) { id } previewScenarios(definitionId: $definition) { total } runs { id } }"""
    found = other_workspace.graphql(query, {"definition": definition, "run": run, "experiment": experiment})
    assert {name for name, value in found.items() if value} == set()
    with pytest.raises(GraphqlError) as refused:
        other_workspace.graphql(PAUSE, {"id": run})
    assert refused.value.errors[0]["extensions"]["code"] == "NOT_FOUND"


def test_a_query_that_costs_too_much_is_refused(api: Client) -> None:
    with pytest.raises(GraphqlError) as refused:
        api.graphql("{ runs(limit: 100) { transcripts(limit: 100) { id } } }")
    assert refused.value.errors[0]["extensions"]["code"] == "QUERY_TOO_COMPLEX"
