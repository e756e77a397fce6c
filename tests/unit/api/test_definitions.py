"""Definitions and scenarios over HTTP."""

import json
from typing import Any

import pytest

from cupel_core.domain.definitions.generations import GenerationStatus
from cupel_core.store import clients
from cupel_core.store.settings import Settings
from generate import app as generate
from tests.lambda_context import Context
from tests.unit.api.client import Client

RISK = {"name": "risk", "levels": [{"score": 1, "label": "low"}, {"score": 2.5, "label": "high", "options": ["much"]}]}
CONTENT = {"template": "There is [risk] risk.", "dimensions": [RISK], "decision": {"pattern": r"rating:\s*([1-5])"}}


def create(client: Client, **fields: Any) -> str:
    made = client.post("/v1/definitions", {"name": "one", "content": CONTENT, **fields})
    assert made.status == 201, made.text
    return str(made.json()["id"])


@pytest.fixture
def path(client: Client) -> str:
    return f"/v1/definitions/{create(client)}"


def prompts(client: Client, path: str) -> list[str]:
    items = client.get(f"{path}/scenarios", query={"limit": 100}).json()["items"]
    return [item["messages"][0]["content"] for item in items]


def test_a_definition_is_answered_in_full(client: Client) -> None:
    answer = client.post("/v1/definitions", {"name": "one", "folder": "f", "tags": ["b", "a"], "content": CONTENT})
    made = answer.json()
    assert answer.status == 201
    assert made.pop("content")["template"] == CONTENT["template"]
    assert made == {
        "id": made["id"],
        "name": "one",
        "folder": "f",
        "tags": ["a", "b"],
        "version": 1,
        "versionLabel": None,
        "parentId": None,
        "parentVersion": None,
        "scenarioCount": 0,
        "warnings": [],
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"content": CONTENT}, ("name", "is required")),
        ({"name": 5, "content": CONTENT}, ("name", "must be text, not 5")),
        ({"name": "a" * 201, "content": CONTENT}, ("name", "must have at most 200 characters, not 201")),
        ({"name": "a", "content": []}, ("content", "must be an object, not a list")),
        (
            {"name": "a", "content": CONTENT, "scenarios": [{"messages": [{"role": "user"}]}]},
            ("scenarios.0.messages.0.content", "is required"),
        ),
        (
            {"name": "a", "content": {"prompts": [{"id": "x", "messages": [{"role": "tool", "content": "5"}]}]}},
            ("content.prompts.0.messages.0.toolCallId", "is required with the role tool"),
        ),
        (
            {
                "name": "a",
                "content": {},
                "scenarios": [{"messages": [{"role": "user", "content": [{"type": "text"}]}]}],
            },
            ("scenarios.0.messages.0.content.0.text", "is required with the type text"),
        ),
        (
            {"name": "a", "content": {"params": {"responseFormat": {"type": "json_schema"}}}},
            ("content.params.responseFormat.schema", "is required with the type json_schema"),
        ),
        (
            {"name": "a", "content": {"params": {"responseFormat": {"type": "json", "schema": {}}}}},
            ("content.params.responseFormat.schema", "is only possible with the type json_schema"),
        ),
        (
            {"name": "a", "content": {**CONTENT, "assertions": [{"threshold": 1}]}},
            ("content.assertions.0.type", "is required, and must be the name of an assertion type"),
        ),
        ({"name": "a", "content": {"maxTurns": "3"}}, ("content.maxTurns", "must be an integer, not '3'")),
        ({"name": "a", "content": {"maxTurns": 0}}, ("content.maxTurns", "must be at least 1, not 0")),
        (
            {"name": "a", "content": {"followUps": ["a"] * 100}},
            ("content.followUps", "must have at most 99 items, not 100"),
        ),
        (
            {"name": "a", "content": CONTENT, "label": "x"},
            ("label", "is not a known field; known fields: name, folder, tags, content, scenarios, versionLabel"),
        ),
        (
            {"name": "a", "content": CONTENT, "template": "x"},
            (
                "template",
                "is not a known field (did you mean content.template?); "
                "known fields: name, folder, tags, content, scenarios, versionLabel",
            ),
        ),
        (
            {"name": "a", "content": CONTENT, "asertions": []},
            (
                "asertions",
                "is not a known field (did you mean content.assertions?); "
                "known fields: name, folder, tags, content, scenarios, versionLabel",
            ),
        ),
        (
            {"name": "a", "content": {"decision": {"patern": "x"}}},
            (
                "content.decision.patern",
                "is not a known field (did you mean pattern?); known fields: pattern, rubric, judgeModel, favors",
            ),
        ),
        (
            {"name": "a", "content": {"dimensions": [{**RISK, "levels": [{"score": "1", "label": "low"}]}]}},
            ("content.dimensions.0.levels.0.score", "must be a number from -1,000,000,000 to 1,000,000,000"),
        ),
    ],
)
def test_a_refusal_names_the_field_and_what_it_accepts(
    client: Client, body: dict[str, Any], error: tuple[str, str]
) -> None:
    answer = client.post("/v1/definitions", body)
    assert answer.status == 422
    assert [(each["field"], each["message"]) for each in answer.json()["errors"]] == [error]


def test_a_fork_of_an_unknown_version_names_the_field(client: Client, path: str) -> None:
    answer = client.post(f"{path}/fork", {"name": "other", "version": 2})
    assert (answer.status, answer.fields()) == (422, ["version"])


def test_a_definition_is_created_with_its_scenarios(client: Client) -> None:
    made = client.post(
        "/v1/definitions", {"name": "one", "content": CONTENT, "scenarios": [{"prompt": "a"}, {"prompt": "b"}]}
    ).json()
    assert (made["version"], made["scenarioCount"]) == (1, 2)
    assert prompts(client, f"/v1/definitions/{made['id']}") == ["a", "b"]


def test_content_and_scenarios_make_one_version(client: Client) -> None:
    path = f"/v1/definitions/{create(client, scenarios=[{'prompt': 'a'}])}"
    changed = client.patch(path, {"content": {"maxTurns": 2}, "scenarios": [{"prompt": "b"}]}).json()
    assert (changed["version"], changed["content"]["maxTurns"], changed["scenarioCount"]) == (2, 2, 1)
    assert prompts(client, path) == ["b"]
    before = client.get(f"{path}/scenarios", query={"version": 1}).json()["items"]
    assert [each["messages"][0]["content"] for each in before] == ["a"]


def test_other_scenarios_alone_make_a_version_with_the_same_content(client: Client) -> None:
    path = f"/v1/definitions/{create(client, scenarios=[{'prompt': 'a'}])}"
    changed = client.patch(path, {"scenarios": []}).json()
    assert (changed["version"], changed["scenarioCount"]) == (2, 0)
    assert changed["content"]["template"] == CONTENT["template"]
    assert client.patch(path, {"content": {"maxTurns": 3}}).json()["version"] == 3


@pytest.mark.parametrize("method", ["post", "patch"])
def test_all_errors_of_content_and_scenarios_are_reported_at_once(client: Client, path: str, method: str) -> None:
    body = {
        "name": "two",
        "content": {"template": "[nothing]", "assertions": [{"type": "equalz", "value": "x"}]},
        "scenarios": [{"prompt": "a", "assertions": [{"type": "contanis", "value": "x"}]}],
    }
    refused = client.post("/v1/definitions", body) if method == "post" else client.patch(path, body)
    assert refused.status == 422
    assert [each["field"] for each in refused.json()["errors"]] == [
        "content.assertions.0.type",
        "content.template",
        "scenarios.0.assertions.0.type",
    ]


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "python", "value": "True"},
        {"type": "assert-set", "config": {"scoringFunction": "file://s.py"}, "assert": [{"type": "is-json"}]},
    ],
)
def test_code_is_refused_with_the_way_to_run_it(client: Client, assertion: dict[str, Any]) -> None:
    refused = client.post("/v1/definitions", {"name": "two", "content": {"assertions": [assertion]}})
    assert refused.status == 422
    assert "cupel run --in-process --allow-code" in refused.json()["detail"]


def test_an_invalid_assertion_alone_does_not_leave_an_empty_content(client: Client) -> None:
    refused = client.post("/v1/definitions", {"name": "two", "content": {"assertions": [{"type": "equalz"}]}})
    assert [each["field"] for each in refused.json()["errors"]] == ["content.assertions.0.type"]


def test_a_fork_cannot_have_other_scenarios(client: Client, path: str) -> None:
    refused = client.post(f"{path}/fork", {"scenarios": [{"prompt": "a"}]})
    assert [each["field"] for each in refused.json()["errors"]] == ["scenarios"]


def test_numbers_and_texts_of_a_content_come_back_as_sent(client: Client, path: str) -> None:
    content = client.get(path).json()["content"]
    levels = content["dimensions"][0]["levels"]
    assert json.dumps([level["score"] for level in levels]) == "[1, 2.5]"
    assert (levels[1]["options"], content["decision"]["pattern"]) == (["much"], r"rating:\s*([1-5])")


def test_a_definition_with_scenarios_needs_no_content(client: Client) -> None:
    made = client.post("/v1/definitions", {"name": "agent", "scenarios": ["Hello", {"prompt": "Hi"}]})
    assert made.status == 201, made.text
    path = f"/v1/definitions/{made.json()['id']}"
    assert set(client.get(path).json()["content"].values()) == {None}
    assert prompts(client, path) == ["Hello", "Hi"]
    assert client.post(f"{path}/scenarios", {"items": ["Bye"]}).status == 201
    assert client.patch(path, {"content": {"system": "S"}}).status == 200
    assert client.post(f"{path}/fork", {"name": "fork"}).status == 201


def test_a_dimension_without_placeholder_is_a_warning(client: Client) -> None:
    answer = client.post("/v1/definitions", {"name": "one", "content": {"template": "x", "dimensions": [RISK]}})
    assert answer.status == 201
    assert [warning["field"] for warning in answer.json()["warnings"]] == ["content.dimensions.0"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "one"}, "content"),
        ({"content": CONTENT}, "name"),
        ({"name": "one", "content": {}}, "content"),
        ({"name": "one", "content": {"template": "[nothing]"}}, "content.template"),
        ({"name": " ", "content": CONTENT}, "name"),
        ({"name": 7, "content": CONTENT}, "name"),
        ({"name": "one", "content": CONTENT, "colour": "red"}, "colour"),
        ({"name": "one", "content": {**CONTENT, "colour": "red"}}, "content.colour"),
        ({"name": "one", "content": {**CONTENT, "maxTurns": 0}}, "content.maxTurns"),
        ({"name": "one", "content": {**CONTENT, "maxTurns": "2"}}, "content.maxTurns"),
        ({"name": "one", "content": {**CONTENT, "decision": {"pattern": "("}}}, "content.decision.pattern"),
        ({"name": "one", "content": {**CONTENT, "decision": {"judgeModel": "x/y"}}}, "content.decision.judgeModel"),
        ({"name": "one", "content": {**CONTENT, "dimensions": [{"name": "risk"}]}}, "content.dimensions.0.levels"),
        ({"name": "one", "content": {"template": "x", "dimensions": [RISK, RISK]}}, "content.dimensions.1.name"),
        ({"name": "one", "tags": "a", "content": CONTENT}, "tags"),
        ({"name": "one", "content": [CONTENT]}, "content"),
        ([], "body"),
    ],
)
def test_a_bad_definition_is_a_problem_that_names_the_field(client: Client, body: Any, field: str) -> None:
    answer = client.post("/v1/definitions", body)
    assert answer.status == 422
    assert field in answer.fields()


def test_malformed_json_is_a_bad_request(client: Client) -> None:
    assert client.post("/v1/definitions", body="{").status == 400


def test_a_body_of_2_mb_is_too_large(client: Client) -> None:
    answer = client.post("/v1/definitions", {"name": "one", "content": {"template": "x" * 2_000_000}})
    assert (answer.status, answer.headers["Content-Type"]) == (413, "application/problem+json")


def test_lists_are_filtered(client: Client) -> None:
    create(client, name="Privacy", tags=["a"], folder="values")
    create(client, name="Facts", tags=["b"])
    for query in ({"search": "PRIV"}, {"tag": "a"}, {"folder": "values"}):
        assert [item["name"] for item in client.get("/v1/definitions", query=query).json()["items"]] == ["Privacy"]


def test_a_list_continues_at_its_cursor(client: Client) -> None:
    for number in range(3):
        create(client, name=f"number {number}")
    first = client.get("/v1/definitions", query={"limit": 2}).json()
    rest = client.get("/v1/definitions", query={"limit": 2, "cursor": first["nextCursor"]}).json()
    assert (len(first["items"]), len(rest["items"]), rest["nextCursor"]) == (2, 1, None)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "abc"}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "YzE6"}, "cursor"),
    ],
)
@pytest.mark.parametrize("list_of", ["/v1/definitions", "{path}/scenarios", "{path}/ancestors", "{path}/descendants"])
def test_a_bad_page_is_a_problem(client: Client, path: str, list_of: str, query: dict[str, Any], field: str) -> None:
    answer = client.get(list_of.format(path=path), query=query)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_change_of_content_makes_the_next_version(client: Client, path: str) -> None:
    changed = client.patch(path, {"content": {"system": "Be brief.", "decision": None}}).json()
    assert (changed["version"], changed["content"]["system"], changed["content"]["decision"]) == (2, "Be brief.", None)
    first = client.get(path, query={"version": 1}).json()
    assert (first["version"], first["content"]["system"]) == (1, None)


def test_a_null_folder_is_none_and_one_left_out_stays(client: Client) -> None:
    path = f"/v1/definitions/{create(client, folder='f')}"
    assert client.patch(path, {"name": "two"}).json()["folder"] == "f"
    assert client.patch(path, {"folder": None}).json()["folder"] is None


def test_a_version_that_there_is_not_is_not_found(client: Client, path: str) -> None:
    assert client.get(path, query={"version": 2}).status == 404


def test_a_deleted_definition_is_not_found(client: Client, path: str) -> None:
    assert client.delete(path).status == 204
    assert client.get(path).status == 404
    assert client.delete(path).status == 404


def test_a_fork_knows_its_parent_and_both_ends_find_each_other(client: Client, path: str) -> None:
    fork = client.post(f"{path}/fork", {"name": "mine", "content": {"system": "s"}})
    made = fork.json()
    assert (fork.status, made["parentId"], made["parentVersion"]) == (201, path.rpartition("/")[2], 1)
    assert made["content"]["template"] == CONTENT["template"]
    assert [one["name"] for one in client.get(f"{path}/descendants").json()["items"]] == ["mine"]
    ancestors = client.get(f"/v1/definitions/{made['id']}/ancestors").json()["items"]
    assert [one["id"] for one in ancestors] == [made["parentId"]]


def test_all_of_another_workspace_is_not_found(client: Client, path: str, stranger: str) -> None:
    item = {"items": [{"prompt": "x"}]}
    answers = [
        client.get(path, token=stranger),
        client.patch(path, {"name": "mine"}, token=stranger),
        client.delete(path, token=stranger),
        client.post(f"{path}/fork", {}, token=stranger),
        client.get(f"{path}/ancestors", token=stranger),
        client.get(f"{path}/descendants", token=stranger),
        client.get(f"{path}/scenarios", token=stranger),
        client.post(f"{path}/scenarios", item, token=stranger),
        client.post(f"{path}/scenarios/generate", {"mode": "matrix"}, token=stranger),
        client.post(f"{path}/scenarios/import", {"format": "jsonl", "content": '{"prompt": "x"}'}, token=stranger),
        client.get(f"{path}/scenarios/generations/gen_1", token=stranger),
    ]
    assert [answer.status for answer in answers] == [404] * len(answers)


def test_added_scenarios_are_answered_with_their_ids_in_order(client: Client, path: str) -> None:
    items = [
        {"prompt": "one", "name": "first", "dimensions": {"risk": 2}, "metadata": {"source": {"page": 7}}},
        {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "two"}]},
    ]
    added = client.post(f"{path}/scenarios", {"items": items})
    read = client.get(f"{path}/scenarios").json()["items"]
    assert (added.status, added.json()) == (
        201,
        {"ids": [item["id"] for item in read], "total": 2, "definitionVersion": 1},
    )
    assert read[0] == read[0] | {
        "name": "first",
        "messages": [{"role": "user", "content": "one"}],
        "dimensions": {"risk": 2},
        "metadata": {"source": {"page": 7}},
    }


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({}, "items.0"),
        ({"prompt": "x", "messages": [{"role": "user", "content": "x"}]}, "items.0"),
        ({"prompt": " "}, "items.0.prompt"),
        ({"prompt": "x", "colour": 1}, "items.0.colour"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "items.0.messages.0.role"),
        ({"prompt": "x", "dimensions": {"risk": "1"}}, "items.0.dimensions.risk"),
        ({"prompt": "x", "metadata": [1]}, "items.0.metadata"),
    ],
)
def test_a_bad_scenario_is_named(client: Client, path: str, item: dict[str, Any], field: str) -> None:
    answer = client.post(f"{path}/scenarios", {"items": [item]})
    assert answer.status == 422
    assert any(named == field or named.startswith(f"{field}.") for named in answer.fields()), answer.text


def test_metadata_that_is_nested_too_deeply_is_refused(client: Client, path: str) -> None:
    deep = '{"n":' * 300 + "1" + "}" * 300
    answer = client.post(f"{path}/scenarios", body=f'{{"items": [{{"prompt": "x", "metadata": {deep}}}]}}')
    assert (answer.status, answer.fields()) == (422, ["items.0.metadata"])


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_list_of_scenarios_has_from_1_to_1000(client: Client, path: str, count: int) -> None:
    answer = client.post(f"{path}/scenarios", {"items": [{"prompt": "x"}] * count})
    assert (answer.status, answer.fields()) == (422, ["items"])


def test_import_errors_name_the_line(client: Client, path: str) -> None:
    body = {"format": "csv", "content": "prompt,risk\nfine,1\nbad,much\n"}
    answer = client.post(f"{path}/scenarios/import", body)
    assert (answer.status, answer.fields()) == (422, ["lines.3"])
    answer = client.post(f"{path}/scenarios/import", {**body, "content": "prompt,risk\nfine,1\n"})
    assert (answer.status, answer.json()["total"], prompts(client, path)) == (201, 1, ["fine"])


@pytest.mark.parametrize(
    ("body", "field"),
    [({"format": "xml", "content": "x"}, "format"), ({"format": "csv"}, "content"), ({"content": "x"}, "format")],
)
def test_an_import_of_no_format_is_refused(client: Client, path: str, body: dict[str, str], field: str) -> None:
    answer = client.post(f"{path}/scenarios/import", body)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_matrix_is_there_when_it_is_answered(client: Client, path: str) -> None:
    answer = client.post(f"{path}/scenarios/generate", {"mode": "matrix"})
    generation = answer.json()
    assert (answer.status, generation["status"], generation["progress"]) == (
        201,
        "COMPLETED",
        {"total": 2, "completed": 2},
    )
    assert prompts(client, path) == ["There is low risk.", "There is much risk."]
    assert client.get(f"{path}/scenarios/generations/{generation['id']}").json() == generation


def test_a_matrix_may_replace_all_others(client: Client, path: str) -> None:
    for replace, count in ((False, 2), (False, 4), (True, 2)):
        client.post(f"{path}/scenarios/generate", {"mode": "matrix", "replace": replace})
        assert len(prompts(client, path)) == count
        assert client.get(path).json()["scenarioCount"] == count


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "mode"),
        ({"mode": "magic"}, "mode"),
        ({"mode": "matrix", "options": "all"}, "options"),
        ({"mode": "matrix", "seed": -1}, "seed"),
        ({"mode": "matrix", "model": "sim/steady"}, "model"),
        ({"mode": "llm"}, "model"),
        ({"mode": "llm", "model": "nobody/x"}, "model"),
        ({"mode": "llm", "model": "openai/gpt-5-mini"}, "model"),
        ({"mode": "matrix", "replace": "yes"}, "replace"),
        ({"mode": "matrix", "maxBudgetUsd": 1}, "maxBudgetUsd"),
        ({"mode": "llm", "model": "sim/steady", "maxBudgetUsd": 0}, "maxBudgetUsd"),
        ({"mode": "llm", "model": "sim/steady", "maxBudgetUsd": "5"}, "maxBudgetUsd"),
        ({"mode": "llm", "model": "sim/steady", "maxBudgetUsd": 1e9}, "maxBudgetUsd"),
    ],
)
def test_a_bad_generation_is_refused(client: Client, path: str, body: dict[str, Any], field: str) -> None:
    answer = client.post(f"{path}/scenarios/generate", body)
    assert (answer.status, answer.fields()) == (422, [field])


def test_nothing_is_generated_without_a_template(client: Client) -> None:
    path = f"/v1/definitions/{create(client, content={'system': 's'})}"
    assert client.post(f"{path}/scenarios/generate", {"mode": "matrix"}).status == 422


def test_too_many_combinations_are_refused_before_any_is_written(client: Client) -> None:
    levels = [{"score": score, "label": str(score)} for score in range(10)]
    dimensions = [{"name": f"d{number}", "levels": levels} for number in range(30)]
    path = f"/v1/definitions/{create(client, content={'template': 'x', 'dimensions': dimensions})}"
    answer = client.post(f"{path}/scenarios/generate", {"mode": "matrix"})
    assert (answer.status, prompts(client, path)) == (422, [])


def test_a_model_writes_the_scenarios_as_queued_work(client: Client, path: str, cloud: Settings) -> None:
    answer = client.post(f"{path}/scenarios/generate", {"mode": "llm", "model": "sim/steady"})
    generation = answer.json()
    assert (answer.status, generation["status"]) == (202, "QUEUED")
    [message] = clients.sqs().receive_message(QueueUrl=cloud.generate_queue_url)["Messages"]
    assert generate.handler(sqs_event(message["Body"]), Context()) == {"batchItemFailures": []}
    told = client.get(f"{path}/scenarios/generations/{generation['id']}").json()
    assert (told["status"], told["progress"]) == (GenerationStatus.COMPLETED, {"total": 2, "completed": 2})
    assert len(prompts(client, path)) == 2


def test_a_generation_says_what_is_used_of_its_budget(client: Client, path: str, cloud: Settings) -> None:
    prices = [{"model": "steady", "inputUsdPerMillion": 10, "outputUsdPerMillion": 100}]
    client.put("/v1/providers/sim", {"prices": prices})
    body = {"mode": "llm", "model": "sim/steady", "maxBudgetUsd": 0.0001}
    refused = client.post(f"{path}/scenarios/generate", body)
    assert (refused.status, refused.fields()) == (422, ["maxBudgetUsd"])
    generation = client.post(f"{path}/scenarios/generate", {**body, "maxBudgetUsd": 5}).json()
    unused = {"maxBudgetUsd": 5.0, "spentUsd": 0.0, "uncertainUsd": 0.0, "reservedUsd": 0.0}
    assert generation["budget"] == unused
    [message] = clients.sqs().receive_message(QueueUrl=cloud.generate_queue_url)["Messages"]
    generate.handler(sqs_event(message["Body"]), Context())
    told = client.get(f"{path}/scenarios/generations/{generation['id']}").json()
    assert told["budget"] == {**unused, "spentUsd": told["budget"]["spentUsd"]}
    assert 0 < told["budget"]["spentUsd"] < 0.5
    free = client.post(f"{path}/scenarios/generate", {"mode": "matrix", "replace": True}).json()
    assert free["budget"] is None


def test_a_generation_that_there_is_not_is_not_found(client: Client, path: str) -> None:
    assert client.get(f"{path}/scenarios/generations/gen_1").status == 404


def sqs_event(body: str) -> dict[str, Any]:
    attributes = {"ApproximateReceiveCount": "1"}
    return {"Records": [{"messageId": "m1", "body": body, "attributes": attributes, "eventSource": "aws:sqs"}]}


def test_a_scenario_is_changed_and_deleted_in_further_versions(client: Client, path: str) -> None:
    added = client.post(f"{path}/scenarios", {"items": [{"prompt": "one"}, {"prompt": "two"}]}).json()
    first, second = (f"{path}/scenarios/{name}" for name in added["ids"])
    changed = client.patch(first, {"prompt": "changed", "dimensions": {"a": 2}})
    assert (changed.status, changed.json()["definitionVersion"], changed.json()["dimensions"]) == (200, 2, {"a": 2})
    assert client.delete(second).status == 204
    assert (client.get(second).status, client.get(second, query={"version": 2}).status) == (404, 200)
    prompts = [
        [item["messages"][0]["content"] for item in client.get(f"{path}/scenarios", query=query).json()["items"]]
        for query in ({"version": 1}, {"version": 2}, {})
    ]
    assert prompts == [["one", "two"], ["changed", "two"], ["changed"]]


def test_an_invalid_change_of_a_scenario_names_the_field(client: Client, path: str) -> None:
    (name,) = client.post(f"{path}/scenarios", {"items": [{"prompt": "one"}]}).json()["ids"]
    for change, field in (({"prompt": None}, "body"), ({"prompt": ""}, "prompt"), ({"colour": 1}, "colour")):
        answer = client.patch(f"{path}/scenarios/{name}", change)
        assert (answer.status, answer.fields()) == (422, [field])


def test_another_workspace_reads_and_changes_no_scenario(client: Client, path: str, stranger: str) -> None:
    (name,) = client.post(f"{path}/scenarios", {"items": [{"prompt": "one"}]}).json()["ids"]
    for method in ("GET", "PATCH", "DELETE"):
        answer = client.request(method, f"{path}/scenarios/{name}", json={}, token=stranger)
        assert answer.status == 404


def test_a_version_label_is_set_and_listed(client: Client) -> None:
    created = client.post("/v1/definitions", {"name": "x", "content": {"system": "s"}, "versionLabel": "v1.2"}).json()
    assert created["versionLabel"] == "v1.2"
    changed = client.patch(f"/v1/definitions/{created['id']}", {"content": {"system": "t"}, "versionLabel": "v1.3"})
    assert (changed.json()["version"], changed.json()["versionLabel"]) == (2, "v1.3")
    assert client.get("/v1/definitions").json()["items"][0]["versionLabel"] == "v1.3"


def test_the_folders_below_a_folder_are_listed_on_request(client: Client) -> None:
    for folder in ("a", "a/b", "a/b/c", "ab", "b"):
        client.post("/v1/definitions", {"name": folder, "folder": folder, "content": {"system": "s"}})

    def list_folders(query: dict[str, str]) -> list[str]:
        return [item["name"] for item in client.get("/v1/definitions", query=query).json()["items"]]

    assert list_folders({"folder": "a"}) == ["a"]
    assert list_folders({"folder": "a", "includeChildren": "true"}) == ["a/b/c", "a/b", "a"]
    assert list_folders({"folder": "a/b", "includeChildren": "true"}) == ["a/b/c", "a/b"]


def test_rules_that_allow_no_combination_are_refused(client: Client) -> None:
    dimension = {"name": "risk", "levels": [{"score": 1, "label": "low"}, {"score": 2, "label": "high"}]}
    content = {"template": "[risk]", "dimensions": [dimension], "matchingRules": [{"exclude": {"risk": 2}}]}
    path = client.post("/v1/definitions", {"name": "x", "content": content}).headers["Location"]
    assert client.post(f"{path}/scenarios/generate", {"mode": "matrix"}).json()["progress"]["total"] == 1
    client.patch(path, {"content": {"matchingRules": [{"exclude": {"risk": [1, 2]}}]}})
    refused = client.post(f"{path}/scenarios/generate", {"mode": "matrix"})
    assert (refused.status, refused.fields()) == (422, ["content.matchingRules"])
