"""Names with characters that would control a terminal or reorder text are refused; stored ones stay readable."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.paging import encode_cursor
from cupel_core.contract.common import MAX_ERRORS
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from tests.added_scenarios import add_scenarios
from tests.unit.api.client import Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DEFINITION = {"name": "x", "content": {"system": "s"}}
CONNECTOR = {"name": "x", "type": "langgraph", "baseUrl": "https://agent.test"}
RUN = {"definitionId": "def_1", "models": ["sim/steady"]}
SCHEDULE = {"name": "x", "expression": "rate(1 day)", "run": RUN}
CONTROL = ["a\0b", "a\x1b[2Jb", "a\u202eb", "a\u2066b", "a\nb", "a\tb", "a\x9bb", "a\x7fb", "a\u2028b"]
LEVELS = [{"score": 1, "label": "low"}]


@pytest.mark.parametrize("name", CONTROL)
def test_a_name_with_control_characters_is_refused(client: Client, name: str) -> None:
    refused = client.post("/v1/definitions", {**DEFINITION, "name": name})
    assert (refused.status, refused.fields()) == (422, ["name"])


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("definitions", {**DEFINITION, "folder": "a\x1b/b"}, "folder"),
        ("definitions", {**DEFINITION, "tags": ["a", "b\x1b"]}, "tags.1"),
        ("definitions", {**DEFINITION, "versionLabel": "v\x1b"}, "versionLabel"),
        (
            "definitions",
            {**DEFINITION, "content": {"dimensions": [{"name": "a\x1b", "levels": LEVELS}]}},
            "content.dimensions.0.name",
        ),
        (
            "definitions",
            {**DEFINITION, "content": {"decision": {"judgeModel": "sim/a\x1b"}}},
            "content.decision.judgeModel",
        ),
        ("personas", {"name": "a\x1b"}, "name"),
        ("connectors", {**CONNECTOR, "name": "a\x1b"}, "name"),
        ("evals", {"name": "a\x1b", "scenarioIds": ["s"], "model": "sim/steady"}, "name"),
        ("profiles", {"name": "a\x1b", "operations": []}, "name"),
        ("runs", {**RUN, "experimentId": "a\x1b"}, "experimentId"),
        ("runs", {**RUN, "models": ["sim/a\x1b"]}, "models.0"),
        ("schedules", {**SCHEDULE, "name": "a\x1b"}, "name"),
        ("tokens", {"name": "a\x1b", "role": "viewer"}, "name"),
        ("imports/csv", {"name": "a\x1b", "content": "input\nq\n"}, "name"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_kind_of_name_is_checked(client: Client, path: str, body: dict[str, Any], field: str) -> None:
    refused = client.post(f"/v1/{path}", body)
    assert (refused.status, refused.fields()) == (422, [field])


def test_the_name_of_an_added_scenario_is_checked(client: Client) -> None:
    made = client.post("/v1/definitions", DEFINITION).json()
    refused = client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": [{"name": "a\x1b", "prompt": "p"}]})
    assert (refused.status, refused.fields()) == (422, ["items.0.name"])


def test_texts_keep_line_breaks_and_tabs(client: Client) -> None:
    content = {"system": "one\n\ttwo", "template": "a\nb"}
    assert client.post("/v1/definitions", {"name": "x", "content": content}).json()["content"]["system"] == "one\n\ttwo"


@pytest.mark.parametrize("name", ["10\u00a0%", "全\u3000角", "\N{MAN}\u200d\N{PERSONAL COMPUTER}", "\u200fשלום"])
def test_names_of_all_scripts_are_accepted(client: Client, name: str) -> None:
    assert client.post("/v1/definitions", {**DEFINITION, "name": name}).json()["name"] == name


def test_a_stored_name_with_control_characters_is_readable(client: Client) -> None:
    dimension = {"name": "a\u202eb", "levels": LEVELS}
    made = catalog.create("acme", Labels("a\x1bb", "/a/", ("t\0",), "v\n"), {"system": "s"}, NOW)
    add_scenarios("acme", made.head.id, [Scenario("", "s\x1b", (Message(MessageRole.USER, "?"),))])
    path = f"/v1/definitions/{made.head.id}"
    assert client.get(path).json()["name"] == "a\x1bb"
    assert client.get("/v1/definitions", query={"folder": "/a/"}).json()["items"][0]["tags"] == ["t\0"]
    assert client.get(f"{path}/scenarios").json()["items"][0]["name"] == "s\x1b"
    assert client.patch(path, {"content": {"system": "t"}}).status == 200
    assert client.patch(path, {"content": {"dimensions": [dimension]}}).fields() == ["content.dimensions.0.name"]


@pytest.mark.parametrize("folder", ["/", "//", "a//b", "/a", "a/", "a/ /b", " "])
def test_a_folder_is_names_separated_by_single_slashes(client: Client, folder: str) -> None:
    refused = client.post("/v1/definitions", {**DEFINITION, "folder": folder})
    assert (refused.status, refused.fields()) == (422, ["folder"])


def test_an_empty_folder_is_none(client: Client) -> None:
    assert client.post("/v1/definitions", {**DEFINITION, "folder": ""}).json()["folder"] is None


def test_an_imported_name_is_made_one_line(client: Client) -> None:
    config = 'description: "a\\n\\e[2Jb"\nprompts: ["Say {{x}}"]\ntests: [{description: "c\\td", vars: {x: 1}}]\n'
    imported = client.post("/v1/imports/promptfoo", {"config": config}).json()
    [definition] = imported["definitions"]
    scenarios = client.get(f"/v1/definitions/{definition['id']}/scenarios").json()["items"]
    assert (definition["name"], scenarios[0]["name"]) == ("a [2Jb", "c d")


def test_a_refused_request_names_a_bounded_number_of_fields(client: Client) -> None:
    unknown = {f"field{number}": number for number in range(2_000)}
    assert len(client.post("/v1/definitions", {**DEFINITION, "content": unknown}).fields()) == MAX_ERRORS


def test_a_cursor_with_an_index_beyond_every_list_is_refused(client: Client) -> None:
    path = client.post("/v1/definitions", DEFINITION).headers["Location"]
    refused = client.get(f"{path}/descendants", query={"cursor": encode_cursor("9" * 30)})
    assert (refused.status, refused.fields()) == (422, ["cursor"])
