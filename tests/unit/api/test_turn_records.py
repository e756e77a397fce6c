"""What the record of a turn has: its prompt, the calls of its operations, and the artifacts that it has written."""

from hashlib import sha256
from typing import Any

import pytest

from cupel_core.providers import parameters
from cupel_core.store.settings import Settings
from tests.profiles import AFTER, operation, profile
from tests.unit.api.client import Client
from tests.unit.api.test_chat_turns import Model, finished_turn, model, start, turn_of, work
from tests.unit.api.test_chats import branch_of, created, texts

__all__ = ["model"]
KEY = "sk-abcdefghijklmnop1234"


def chat_with(client: Client, *operations: Any) -> str:
    answer = client.post("/v1/profiles", profile(*operations))
    assert answer.status == 201, answer.text
    return created(client, profileId=answer.json()["id"], title="Refunds", system="Be brief.")


def planner(**changes: Any) -> Any:
    params = {"target": {"model": "sim/steady", "params": {"temperature": 0.5}}, "prompt": "Plan: {{ user.text }}"}
    return operation("plan", kind="llm", params={**params, **changes.pop("params", {})}, **changes)


def test_an_operation_has_its_plan_and_a_summary_of_its_call(client: Client, cloud: Settings, model: Model) -> None:
    model.answers = ["the plan"]
    (plan,) = finished_turn(client, cloud, chat_with(client, planner(required=True)))["operations"]
    assert (plan["required"], plan["order"], plan["dependsOn"]) == (True, 10, [])
    assert plan["startedAt"] > "2020"
    assert plan["inputs"] == {
        "model": "sim/steady",
        "params": {"temperature": 0.5},
        "outputMode": "text",
        "promptHash": sha256(b"Plan: hello").hexdigest(),
    }
    assert plan["outputs"] == {
        "modelVersion": "steady",
        "stopReason": "stop",
        "answerLength": 8,
        "answerHash": sha256(b"the plan").hexdigest(),
    }


def test_a_call_without_an_answer_has_what_was_asked(client: Client, cloud: Settings, model: Model) -> None:
    costly = planner(params={"maxInputTokens": 1})
    (plan,) = finished_turn(client, cloud, chat_with(client, costly))["operations"]
    assert (plan["error"]["code"], plan["inputs"]["maxInputTokens"], "outputs" in plan) == (
        "validation_error",
        1,
        False,
    )


def test_json_that_cannot_be_read_is_shown_in_part(client: Client, cloud: Settings, model: Model) -> None:
    model.answers = ["{" * 2_000]
    as_json = planner(params={"output": {"mode": "json"}}, artifact={"format": "json"})
    (plan,) = finished_turn(client, cloud, chat_with(client, as_json))["operations"]
    assert (plan["error"]["code"], len(plan["outputs"]["answer"])) == ("output_parse_error", 1_024)


def test_texts_of_a_call_are_recorded_only_with_debug_and_without_keys(
    client: Client, cloud: Settings, model: Model
) -> None:
    model.answers = [f"use {KEY}", "answer"]
    system = {"system": "You plan for {{ chat.title }}."}
    chat_id = chat_with(client, planner(debug={"enabled": True}, params=system))
    (plan,) = finished_turn(client, cloud, chat_id, f"{KEY} {'x' * 9_000}")["operations"]
    assert (plan["inputs"]["system"], plan["outputs"]["answer"]) == ("You plan for Refunds.", "use [hidden]")
    assert plan["inputs"]["prompt"].startswith("Plan: [hidden] xxx")
    assert len(plan["inputs"]["prompt"]) == 8_000


def test_templates_name_the_chat_and_the_exchange(client: Client, cloud: Settings, model: Model) -> None:
    names = "{{ chat.title }} {{ chat.id }} {{ chat.branchId }} {{ exchange.id }} {{ exchange.position }}"
    chat_id = chat_with(client, operation(params={"template": names, "strictVariables": True}))
    finished_turn(client, cloud, chat_id, "one")
    turn = finished_turn(client, cloud, chat_id, "two")
    value = f"Refunds {chat_id} {turn['branchId']} {turn['exchangeId']} 1"
    assert turn["operations"][0]["value"] == value


def test_a_prompt_names_the_operations_that_have_added_to_it(client: Client, cloud: Settings, model: Model) -> None:
    note = operation("note", effects=[{"type": "prompt.append_after_last_user", "role": "system"}])
    turn = finished_turn(client, cloud, chat_with(client, operation(), note))
    prompt = client.get(f"/v1/chats/{turn['chatId']}/turns/{turn['id']}/prompt").json()
    assert [(each["role"], each["operationId"]) for each in prompt["messages"]] == [
        ("system", None),
        ("user", None),
        ("system", "note"),
    ]
    assert prompt["hash"] == turn["main"]["promptHash"]


def test_a_turn_names_the_artifacts_that_it_has_written(client: Client, cloud: Settings, model: Model) -> None:
    kept = operation("kept", params={"template": "{{ user.text }}"}, artifact={"persistence": "persisted"})
    chat_id = chat_with(client, kept, operation("tone", params={"template": "größer"}))
    finished_turn(client, cloud, chat_id, "one")
    turn = finished_turn(client, cloud, chat_id, "two")
    content = "größer".encode()
    assert turn["artifacts"] == {
        "persisted": [{"tag": "kept", "version": 2}],
        "runOnly": [{"tag": "tone", "bytes": 8, "sha256": sha256(content).hexdigest()}],
    }
    assert [(each["hook"], each["operationId"]) for each in turn["commits"]] == [
        ("before_main_llm", "kept"),
        ("before_main_llm", "tone"),
    ]


def test_an_artifact_is_read_with_what_it_is_for(client: Client, cloud: Settings, model: Model) -> None:
    shown = {"persistence": "persisted", "usage": "ui_only", "title": "Notes", "semantics": "log/feed"}
    hidden = {"persistence": "persisted"}
    once = operation("once", artifact=hidden, triggers=["regenerate"])
    chat_id = chat_with(client, operation("notes", artifact=shown), operation("inner", artifact=hidden), once)
    first = finished_turn(client, cloud, chat_id)
    second = finished_turn(client, cloud, chat_id, None, trigger="regenerate")
    path = f"/v1/chats/{chat_id}/branches/{first['branchId']}/artifacts"
    assert [each["tag"] for each in client.get(path).json()["items"]] == ["notes"]
    everything = client.get(path, query={"include": "internal"}).json()["items"]
    assert [each["tag"] for each in everything] == ["inner", "notes", "once"]
    notes = client.get(f"{path}/notes").json()
    assert {name: notes[name] for name in ("title", "format", "usage", "semantics", "version", "operationId")} == {
        "title": "Notes",
        "format": "text",
        "usage": "ui_only",
        "semantics": "log/feed",
        "version": 1,
        "operationId": "notes",
    }
    assert (notes["turnId"], notes["position"], client.get(f"{path}/inner").status) == (second["id"], 0, 200)
    unknown = client.get(f"{path}/nothing")
    assert (unknown.status, "it has inner, notes, once" in unknown.json()["detail"]) == (404, True)


def test_another_answer_begins_with_the_wording_that_is_shown(client: Client, cloud: Settings, model: Model) -> None:
    """Unless an operation may rewrite it: that begins with what the person wrote, which the tests of turns show."""
    rewriting = operation("loud", params={"template": "{{ user.text }}!"}, effects=[{"type": "turn.user.rewrite"}])
    chat_id = chat_with(client, rewriting)
    finished_turn(client, cloud, chat_id)
    finished_turn(client, cloud, chat_id, None, trigger="regenerate")
    assert [asked[-1][1] for asked in model.asked] == ["hello!", "hello!"]
    finished_turn(client, cloud, chat_id, None, trigger="regenerate", profileId=None)
    assert model.asked[-1][-1] == ("user", "hello!")
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello!", "answer 3"]]


def test_a_turn_leaves_out_and_names_parameters_that_its_provider_does_not_know(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = created(client, target={"model": "sim/steady", "params": {"seed": 1, "temperature": 0.5}})
    whole = finished_turn(client, cloud, chat_id)
    monkeypatch.setitem(parameters._UNKNOWN_TO_PROVIDER, "sim", frozenset({"seed"}))
    partial = finished_turn(client, cloud, chat_id, model="sim/echo")
    assert [turn["main"]["omittedParameters"] for turn in (whole, partial)] == [[], ["seed"]]
    assert [(each.seed, each.temperature) for each in model.parameters] == [(1, 0.5), (None, 0.5)]


def test_one_turn_may_ask_another_model(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = created(client)
    turn = finished_turn(client, cloud, chat_id, model="sim/echo")
    assert (turn["model"], turn["main"]["modelVersion"]) == ("sim/echo", "echo")
    assert client.get(f"/v1/chats/{chat_id}").json()["target"]["model"] == "sim/steady"
    for unknown in ("nobody/none", "connector/conn_none"):
        assert start(client, chat_id, model=unknown).fields() == ["model"]
    assert start(client, chat_id, clientRequestId="one").status == 201
    assert start(client, chat_id, clientRequestId="one").status == 200
    assert start(client, chat_id, clientRequestId="one", model="sim/echo").fields() == ["clientRequestId"]
    work(cloud)


def test_a_chat_whose_profile_is_gone_can_be_renamed(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = chat_with(client, operation())
    profile_id = client.get(f"/v1/chats/{chat_id}").json()["profileId"]
    client.delete(f"/v1/profiles/{profile_id}")
    assert client.patch(f"/v1/chats/{chat_id}", {"title": "Other"}).json()["title"] == "Other"
    assert client.patch(f"/v1/chats/{chat_id}", {"profileId": profile_id}).fields() == ["profileId"]
    assert start(client, chat_id).fields() == ["profileId"]


@pytest.mark.parametrize("call", ["recent('x')", "recent(1.5)", "recent()", "recent_text(1, 2)"])
def test_a_wrong_call_in_a_template_is_explained(client: Client, cloud: Settings, model: Model, call: str) -> None:
    turn = finished_turn(client, cloud, chat_with(client, operation(params={"template": f"{{{{ {call} }}}}"})))
    error = turn["operations"][0]["error"]
    assert (error["code"], "need one whole number" in error["message"]) == ("template_render_error", True)


@pytest.mark.parametrize("hook", ["before_main_llm", AFTER])
def test_events_name_the_message_and_the_whole_plan(client: Client, cloud: Settings, model: Model, hook: str) -> None:
    turn = finished_turn(client, cloud, chat_with(client, operation(hooks=[hook], effects=[])))
    path = f"/v1/chats/{turn['chatId']}/turns/{turn['id']}/events"
    items = client.get(path).json()["items"]
    assert {each["userMessageId"] for each in items} == {turn["userMessageId"]}
    (step,) = next(each["data"]["plan"] for each in items if "plan" in each["data"])
    assert (step["hook"], step["required"], step["dependsOn"]) == (hook, False, [])
    assert turn_of(client, turn["chatId"], turn["id"])["operations"][0]["hook"] == hook
