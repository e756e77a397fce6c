"""POST /imports: what is created, reported and refused."""

import json
from typing import Any

import pytest

from tests.unit.api.client import Client

CONFIG = """
description: Colours
prompts: ["Say {{x}}", "file://sing.txt"]
providers: [echo]
tests:
- vars: {x: [blue, red]}
  assert: [{type: contains, value: "{{x}}"}, {type: javascript, value: "true"}]
"""
FILES = {"sing.txt": "Sing {{x}}"}


def promptfoo(client: Client, **more: Any) -> Any:
    answer = client.post("/v1/imports/promptfoo", json={"config": CONFIG, "files": FILES, **more})
    assert answer.status == 201, answer.text
    return answer.json()


def test_a_configuration_becomes_a_definition_with_prompts_and_scenarios(client: Client) -> None:
    imported = promptfoo(client, folder="from promptfoo")
    assert [made["name"] for made in imported["definitions"]] == ["Colours"]
    assert imported["definitions"][0]["targets"] == [{"model": "sim/echo"}]
    definition = client.get(f"/v1/definitions/{imported['definitions'][0]['id']}").json()
    assert (definition["folder"], definition["tags"], definition["scenarioCount"]) == (
        "from promptfoo",
        ["promptfoo"],
        2,
    )
    [first, _] = client.get(f"/v1/definitions/{definition['id']}/scenarios").json()["items"]
    assert first["messagesByPrompt"]["Say-x"] == [{"role": "user", "content": "Say blue"}]
    assert first["assertions"] == [{"type": "contains", "value": "blue"}]


def test_the_report_has_what_was_imported_changed_and_skipped(client: Client) -> None:
    report = promptfoo(client)["report"]
    assert report["imported"] == {"models": 1, "prompts": 2, "assertions": 2, "scenarios": 2}
    assert report["changed"] == [
        {"where": "providers.0", "what": "echo", "why": "becomes the model sim/echo", "count": 1}
    ]
    assert [note["what"] for note in report["skipped"]] == ["javascript"] * 2


def test_a_dry_run_makes_nothing(client: Client) -> None:
    imported = promptfoo(client, dryRun=True)
    assert [(made["id"], made["scenarioCount"]) for made in imported["definitions"]] == [(None, 2)]
    assert client.get("/v1/definitions").json()["items"] == []


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("inspect", json.dumps([{"input": "1+1", "target": "2"}])),
        ("openai-evals", json.dumps({"input": "1+1", "ideal": "2"})),
        ("csv", "input,target\n1+1,2\n"),
        ("jsonl", json.dumps({"prompt": "1+1", "target": "2"})),
    ],
)
def test_samples_become_a_definition(client: Client, kind: str, content: str) -> None:
    answer = client.post(f"/v1/imports/{kind}", json={"name": "Sums", "content": content, "scorer": "includes"})
    assert answer.status == 201, answer.text
    [made] = answer.json()["definitions"]
    assert (made["name"], made["scenarioCount"]) == ("Sums", 1)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("promptfoo", {"config": "- 1"}, "config"),
        ("promptfoo", {"config": ""}, "config"),
        ("promptfoo", {"config": "a: b", "files": {"x": 1}}, "files.x"),
        ("csv", {"name": "N", "content": "a\n1\n"}, "content"),
        ("csv", {"name": "", "content": "input\n1\n"}, "name"),
        ("csv", {"name": "N", "content": "input\n1\n", "scorer": "best"}, "scorer"),
        ("xlsx", {"name": "N", "content": "x"}, "format"),
    ],
)
def test_an_unreadable_import_names_the_field(client: Client, path: str, body: dict[str, Any], field: str) -> None:
    answer = client.post(f"/v1/imports/{path}", json=body)
    assert answer.status == 422, answer.text
    assert answer.fields() == [field]
    assert client.get("/v1/definitions").json()["items"] == []


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_import_of_nothing_names_the_reasons(client: Client, dry_run: bool) -> None:
    body = {"config": "prompts: [file://p.py]\nproviders: [echo]\n", "files": {"p.py": ""}, "dryRun": dry_run}
    answer = client.post("/v1/imports/promptfoo", json=body)
    assert (answer.status, answer.fields()) == (422, ["config"])
    assert "prompts.0: file://p.py: p.py is code, which is not executed" in answer.json()["detail"]


def test_a_viewer_imports_nothing(client: Client, viewer: str) -> None:
    assert client.post("/v1/imports/promptfoo", json={"config": CONFIG}, token=viewer).status == 403


def test_an_import_may_be_larger_than_other_requests(client: Client) -> None:
    content = "".join(json.dumps({"input": "x" * 100_000}) + "\n" for _ in range(20))
    assert client.post("/v1/imports/jsonl", json={"name": "Large", "content": content}).status == 201
    assert client.post("/v1/imports/jsonl", json={"name": "Larger", "content": content * 3}).status == 413
