"""Queries, and what they read."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from tests.answered_runs import RatedRun
from tests.unit.graphqlapi.conftest import GraphqlClient

MODELS = ("sim/steady", "sim/bold")


def case(number: int) -> Scenario:
    return Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),), {"stakes": float(number % 5 + 1)})


def answer_text(index: int) -> str | None:
    return None if index == 11 else f"Rating: {index % 5 + 1}"


def completed_run(definition_id: str | None = None) -> Run:
    return RatedRun(
        tuple(map(case, range(6))),
        MODELS,
        answer=answer_text,
        content=Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
        workspace="acme",
        definition_id=definition_id,
    ).completed()


@pytest.fixture
def definition(client: GraphqlClient) -> dict[str, Any]:
    body = {"name": "rating", "folder": "team/a", "tags": ["x"], "content": {"template": "Rate it"}}
    return dict(client.post("/v1/definitions", body).json())


@pytest.fixture
def run(client: GraphqlClient, definition: dict[str, Any]) -> Run:
    return completed_run(definition["id"])


def test_the_caller_is_named(client: GraphqlClient, viewer: str) -> None:
    assert client.data("{ me { workspace role } }", token=viewer) == {"me": {"workspace": "acme", "role": "viewer"}}


def test_a_run_has_what_rest_responds_with(client: GraphqlClient, run: Run) -> None:
    rest = client.get(f"/v1/runs/{run.id}").json()
    query = """query GetRun($id: ID!) { run(id: $id) {
      id status config progress { total completed failed } definition { id name tags } models costUsd
      spend { costUsd } createdAt startedAt completedAt targets { id model params }
    } }"""
    found = client.data(query, {"id": run.id})["run"]
    assert found.pop("definition") == {"id": run.definition_id, "name": "rating", "tags": ["x"]}
    assert (found.pop("models"), found.pop("costUsd")) == (list(MODELS), rest["spend"]["costUsd"])
    assert [each["model"] for each in found.pop("targets")] == list(MODELS)
    assert found.pop("spend")["costUsd"] == rest["spend"]["costUsd"]
    assert found == {name: rest[name] for name in found}


def test_transcripts_are_those_of_rest(client: GraphqlClient, run: Run) -> None:
    rest = client.get(f"/v1/runs/{run.id}/transcripts", query={"model": "sim/bold"}).json()["items"]
    query = """query ($id: ID!) { run(id: $id) { transcripts(model: "sim/bold", limit: 10) {
      id modelId scenarioId wordCount turnCount usage { inputTokens } content { messages { role content } } run { id }
    } } }"""
    found = client.data(query, {"id": run.id})["run"]["transcripts"]
    assert len(found) == 5, "the last probe has no transcript"
    for got, expected in zip(found, rest, strict=True):
        assert got.pop("run") == {"id": run.id}
        assert got.pop("usage") == {"inputTokens": expected["usage"]["inputTokens"]}
        messages = [{"role": each["role"], "content": each["content"]} for each in expected["content"]["messages"]]
        assert got.pop("content") == {"messages": messages}
        assert got == {name: expected[name] for name in got}


def test_transcripts_of_a_scenario_and_pages_of_transcripts(client: GraphqlClient, run: Run) -> None:
    (scenario_id, *_) = [each["scenarioId"] for each in client.get(f"/v1/runs/{run.id}/transcripts").json()["items"]]
    query = "query ($id: ID!, $s: ID) { run(id: $id) { transcripts(scenarioId: $s) { modelId scenarioId } } }"
    found = client.data(query, {"id": run.id, "s": scenario_id})["run"]["transcripts"]
    assert found == [{"modelId": model, "scenarioId": scenario_id} for model in MODELS]
    page = """query ($id: ID!, $after: String) { run(id: $id) {
      transcriptsConnection(first: 8, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } } }"""
    first = client.data(page, {"id": run.id})["run"]["transcriptsConnection"]
    after = first["pageInfo"]["endCursor"]
    last = client.data(page, {"id": run.id, "after": after})["run"]["transcriptsConnection"]
    assert (len(first["nodes"]), len(last["nodes"]), last["pageInfo"]["hasNextPage"]) == (8, 3, False)


def test_probes_tasks_and_events(client: GraphqlClient, run: Run) -> None:
    query = """query ($id: ID!) { run(id: $id) {
      probes(status: ERROR) { nodes { index status error { code message } } }
      recentTasks(limit: 5) { scenarioId model status error } events(limit: 2) { seq type data }
      targetProgress { targets { targetId completed } } budget { spentUsd } } }"""
    found = client.data(query, {"id": run.id})["run"]
    (errored,) = found["probes"]["nodes"]
    assert (errored["index"], errored["error"]["code"]) == (11, "timeout")
    assert len(found["recentTasks"]) == 5
    assert {each["status"] for each in found["recentTasks"]} <= {"COMPLETED", "ERROR"}
    assert [each["seq"] for each in found["events"]] == [1, 2]
    assert [each["completed"] for each in found["targetProgress"]["targets"]] == [6, 5]
    assert found["budget"] is None


def test_an_analysis_has_its_figures_as_json_and_typed(client: GraphqlClient, run: Run) -> None:
    query = """query ($id: ID!) { run(id: $id) { analysis {
      isCurrent isStale basicStats modelAgreement dimensionAnalysis
      mostContestedScenarios(limit: 2) { scenarioId variance }
      figures { columns { targetId estimate { decision { mean interval95 } } } }
      scenarios(first: 3) { nodes { scenarioName variance cells { column meanDecision } } } } } }"""
    assert client.data(query, {"id": run.id})["run"]["analysis"] is None
    assert client.post(f"/v1/runs/{run.id}/analysis").status == 200
    rest = client.get(f"/v1/runs/{run.id}/analysis").json()["figures"]
    found = client.data(query, {"id": run.id})["run"]["analysis"]
    assert (found["isCurrent"], found["isStale"]) == (True, False)
    assert (found["basicStats"], found["modelAgreement"]) == (rest["columns"], rest["agreement"])
    assert found["dimensionAnalysis"] == rest["dimensions"]
    assert [each["scenarioId"] for each in found["mostContestedScenarios"]] == [
        each["scenarioId"] for each in rest["contested"][:2]
    ]
    column, expected = found["figures"]["columns"][0], rest["columns"][0]
    assert column["estimate"]["decision"]["mean"] == expected["estimate"]["decision"]["mean"]
    assert len(found["scenarios"]["nodes"]) == 3


def test_lists_are_filtered_and_read_by_offset_and_by_cursor(client: GraphqlClient, run: Run) -> None:
    others = [completed_run().id for _ in range(3)]
    query = """query ListRuns($definitionId: ID, $status: RunStatus, $limit: Int, $offset: Int) {
      runs(definitionId: $definitionId, status: $status, limit: $limit, offset: $offset) { id status } }"""
    assert {each["id"] for each in client.data(query)["runs"]} == {run.id, *others}
    variables = {"definitionId": run.definition_id, "status": "COMPLETED", "limit": 5, "offset": 0}
    assert client.data(query, variables)["runs"] == [{"id": run.id, "status": "COMPLETED"}]
    by_offset = [client.data(query, {"limit": 1, "offset": n})["runs"][0]["id"] for n in range(4)]
    page = """query ($after: String) { runsConnection(first: 3, after: $after) {
      nodes { id } pageInfo { endCursor hasNextPage } } }"""
    first = client.data(page)["runsConnection"]
    last = client.data(page, {"after": first["pageInfo"]["endCursor"]})["runsConnection"]
    assert [each["id"] for each in (*first["nodes"], *last["nodes"])] == by_offset
    assert (first["pageInfo"]["hasNextPage"], last["pageInfo"]["hasNextPage"]) == (True, False)


def test_definitions_have_their_forks_scenarios_and_runs(
    client: GraphqlClient, definition: dict[str, Any], run: Run
) -> None:
    path = f"/v1/definitions/{definition['id']}"
    fork = client.post(f"{path}/fork", {"name": "fork"}).json()
    assert client.post(f"{path}/scenarios", {"items": [{"name": "one", "prompt": "?"}]}).status == 201
    query = """{ definitions(folder: "team", includeChildren: true, search: "RAT", tag: "x") {
      id name content scenarioCount children { id parent { name } } descendants { id } ancestors { id }
      runs(status: COMPLETED) { id } scenarios { nodes { id name messages { role content } } }
      warnings { field message } } }"""
    (found,) = client.data(query)["definitions"]
    assert (found["name"], found["scenarioCount"], found["ancestors"]) == ("rating", 1, [])
    assert found["content"]["template"] == "Rate it"
    assert found["children"] == [{"id": fork["id"], "parent": {"name": "rating"}}]
    assert found["runs"] == [{"id": run.id}]
    (scenario,) = found["scenarios"]["nodes"]
    assert scenario["messages"] == [{"role": "user", "content": "?"}]
    one = "query ($d: ID!, $s: ID!) { scenario(definitionId: $d, id: $s) { name definitionVersion } }"
    detail = client.data(one, {"d": definition["id"], "s": scenario["id"]})["scenario"]
    assert detail == {"name": "one", "definitionVersion": 1}


def test_scenarios_are_previewed_as_they_would_be_generated(client: GraphqlClient) -> None:
    levels = [{"score": n, "label": f"{n}", "options": [f"a{n}", f"b{n}", f"c{n}"]} for n in range(1, 6)]
    content = {"template": "[x] and [y]", "dimensions": [{"name": name, "levels": levels} for name in ("x", "y")]}
    owner = client.post("/v1/definitions", {"name": "d", "content": content}).json()["id"]
    query = """query ($id: ID!, $options: LevelOptionChoice, $limit: Int) {
      previewScenarios(definitionId: $id, options: $options, seed: 17, limit: $limit) {
        total scenarios { name dimensions messages { role content } } } }"""
    variables = {"id": owner, "options": "random"}
    previewed = client.data(query, variables | {"limit": 3})["previewScenarios"]
    everything = client.data(query, variables | {"limit": 100})["previewScenarios"]["scenarios"]
    assert client.get(f"/v1/definitions/{owner}/scenarios").json()["items"] == []
    generate = {"mode": "matrix", "options": "random", "seed": 17}
    assert client.post(f"/v1/definitions/{owner}/scenarios/generate", generate).status == 201
    stored = client.get(f"/v1/definitions/{owner}/scenarios", query={"limit": "100"}).json()["items"]
    shown = [{name: each[name] for name in ("name", "dimensions", "messages")} for each in stored]
    assert [each | {"messages": [_message(each)]} for each in everything] == [
        each | {"messages": [_message(each)]} for each in shown
    ]
    assert (previewed["total"], previewed["scenarios"]) == (25, [everything[index] for index in (0, 12, 24)])
    assert client.data(query, variables | {"limit": 1})["previewScenarios"]["scenarios"] == everything[:1]


def _message(scenario: dict[str, Any]) -> dict[str, Any]:
    (message,) = scenario["messages"]
    return {name: message[name] for name in ("role", "content")}


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"system": "no template"}, "definitionId"),
        (
            {
                "template": "[x]",
                "dimensions": [{"name": "x", "levels": [{"score": 1, "label": "low"}]}],
                "matchingRules": [{"exclude": {"x": 1}}],
            },
            "content.matchingRules",
        ),
    ],
)
def test_what_cannot_be_generated_cannot_be_previewed(
    client: GraphqlClient, content: dict[str, Any], field: str
) -> None:
    made = client.post("/v1/definitions", {"name": "d", "content": content})
    assert made.status == 201, made.text
    problem = client.error(f'{{ previewScenarios(definitionId: "{made.json()["id"]}") {{ total }} }}')["extensions"]
    assert [each["field"] for each in problem["errors"]] == [field]


def test_the_seed_of_a_preview_is_a_whole_number(client: GraphqlClient, definition: dict[str, Any]) -> None:
    query = f'{{ previewScenarios(definitionId: "{definition["id"]}", seed: 0.5) {{ total }} }}'
    assert client.error(query)["extensions"]["errors"][0]["field"] == "seed"


def test_tags_are_counted(client: GraphqlClient, definition: dict[str, Any]) -> None:
    client.post("/v1/definitions", {"name": "second", "tags": ["y", "x"], "content": {"template": "?"}})
    deleted = client.post("/v1/definitions", {"name": "third", "tags": ["z"], "content": {"template": "?"}}).json()
    client.delete(f"/v1/definitions/{deleted['id']}")
    tags = [{"name": "x", "definitionCount": 2}, {"name": "y", "definitionCount": 1}]
    assert client.data("{ tags { name definitionCount } }")["tags"] == tags
    assert client.data("{ tags(limit: 1) { name } }")["tags"] == [{"name": "x"}]


def test_what_another_workspace_has_is_null_or_empty(
    client: GraphqlClient, run: Run, definition: dict[str, Any], stranger: str
) -> None:
    transcript = client.get(f"/v1/runs/{run.id}/transcripts").json()["items"][0]["id"]
    query = """query ($run: ID!, $definition: ID!, $transcript: ID!) {
      run(id: $run) { id } definition(id: $definition) { id } transcript(id: $transcript) { id }
      analysis(runId: $run) { id } scenario(definitionId: $definition, id: "x") { id }
      scenarioGeneration(definitionId: $definition, id: "x") { id } runs { id } definitions { id }
      previewScenarios(definitionId: $definition) { total } tags { name } }"""
    variables = {"run": run.id, "definition": definition["id"], "transcript": transcript}
    found = client.data(query, variables, token=stranger)
    assert {name for name, value in found.items() if value} == set()
    own = client.execute(query, variables)["data"]
    assert {"run", "definition", "transcript", "runs", "definitions"} <= {name for name, each in own.items() if each}


def test_null_for_an_argument_with_a_default_names_the_argument(client: GraphqlClient, run: Run) -> None:
    assert client.post(f"/v1/runs/{run.id}/analysis").status == 200
    fields = {
        "sort": "analysis { scenarios(sort: null) { nodes { scenarioId } } }",
        "after": "events(after: null) { seq }",
    }
    queries = {name: f'{{ run(id: "{run.id}") {{ {field} }} }}' for name, field in fields.items()}
    for name in ("seed", "options"):
        queries[name] = f'{{ previewScenarios(definitionId: "{run.definition_id}", {name}: null) {{ total }} }}'
    for name, query in queries.items():
        problem = client.error(query)["extensions"]
        assert (problem["code"], [each["field"] for each in problem["errors"]]) == ("INVALID_REQUEST", [name])


def test_a_cursor_that_is_none_is_told_by_the_name_of_the_argument(client: GraphqlClient, run: Run) -> None:
    for field in ("probes", "transcriptsConnection"):
        query = f'{{ run(id: "{run.id}") {{ {field}(after: "x") {{ pageInfo {{ endCursor }} }} }} }}'
        (error,) = client.error(query)["extensions"]["errors"]
        assert error == {"field": "after", "message": "must be the endCursor of an earlier page of the same list"}


def test_versions_begin_with_1(client: GraphqlClient, definition: dict[str, Any]) -> None:
    owner = definition["id"]
    for query in (
        f'{{ definition(id: "{owner}") {{ scenarios(version: 0) {{ nodes {{ id }} }} }} }}',
        f'{{ definition(id: "{owner}", version: 0) {{ id }} }}',
        f'{{ scenario(definitionId: "{owner}", id: "x", version: 0) {{ id }} }}',
        f'{{ previewScenarios(definitionId: "{owner}", version: 0) {{ total }} }}',
        '{ profile(id: "x", version: -1) { id } }',
    ):
        assert client.error(query)["extensions"]["errors"][0]["field"] == "version", query


def test_a_model_that_one_run_does_not_have_leaves_the_transcripts_of_others(client: GraphqlClient, run: Run) -> None:
    query = """query ($id: ID!, $other: ID!) { a: run(id: $id) { transcripts(model: "sim/bold", limit: 1) { modelId } }
      b: run(id: $other) { transcripts(model: "sim/unknown") { modelId } } }"""
    answer = client.execute(query, {"id": run.id, "other": completed_run().id})
    assert answer["data"] == {"a": {"transcripts": [{"modelId": "sim/bold"}]}, "b": None}
    assert [each["path"] for each in answer["errors"]] == [["b", "transcripts"]]


def test_the_seed_of_a_preview_is_one_that_a_generation_may_have(
    client: GraphqlClient, definition: dict[str, Any]
) -> None:
    query = f'{{ previewScenarios(definitionId: "{definition["id"]}", seed: 1e300) {{ total }} }}'
    assert client.error(query)["extensions"]["errors"][0]["field"] == "seed"
