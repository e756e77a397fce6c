"""Chats: written to, and read with their branches and turns."""

import pytest

from cupel_core.domain.resources.connectors import ConnectionTestResult
from cupel_core.runs import connection_tests
from cupel_core.store.settings import Settings
from tests.profiles import operation, profile
from tests.unit.api.test_chat_turns import work
from tests.unit.graphqlapi.conftest import GraphqlClient

CREATE = "mutation ($input: CreateChatInput!) { createChat(input: $input) { id activeBranchId title } }"
START = """mutation ($id: ID!, $input: StartTurnInput!) { startTurn(chatId: $id, input: $input) {
  id status branchId } }"""
READ = """query ($id: ID!) { chat(id: $id) { title branchCount branches { id length }
  exchanges(first: 1) { nodes { position user { content } answer { content } } pageInfo { hasNextPage endCursor } }
  turns { id status } } chats { id } }"""


def chat_of(client: GraphqlClient) -> str:
    target = {"model": "sim/steady"}
    made = client.data(CREATE, {"input": {"title": "refunds", "target": target}})["createChat"]
    assert made["title"] == "refunds"
    return str(made["id"])


def test_a_turn_is_started_and_read(client: GraphqlClient, cloud: Settings) -> None:
    chat_id = chat_of(client)
    turns = []
    for content in ("one", "two"):
        request = {"id": chat_id, "input": {"content": content, "clientRequestId": content}}
        started, again = (client.data(START, request)["startTurn"] for _ in range(2))
        assert (started["id"], started["status"]) == (again["id"], "queued")
        turns.insert(0, {"id": started["id"], "status": "done"})
        work(cloud)
    found = client.data(READ, {"id": chat_id})
    chat = found["chat"]
    assert (chat["turns"], found["chats"]) == (turns, [{"id": chat_id}])
    assert [each["length"] for each in chat["branches"]] == [2]
    (newest,) = chat["exchanges"]["nodes"]
    assert (newest["position"], newest["user"]["content"], bool(newest["answer"]["content"])) == (1, "two", True)
    after = """query ($id: ID!, $after: String) { chat(id: $id) {
      exchanges(first: 1, after: $after) { nodes { user { content } } } } }"""
    cursor = chat["exchanges"]["pageInfo"]["endCursor"]
    (oldest,) = client.data(after, {"id": chat_id, "after": cursor})["chat"]["exchanges"]["nodes"]
    assert oldest == {"user": {"content": "one"}}
    query = "query ($chat: ID!, $turn: ID!) { turn(chatId: $chat, id: $turn) { status main } }"
    turn = client.data(query, {"chat": chat_id, "turn": turns[0]["id"]})["turn"]
    assert (turn["status"], turn["main"]["finishReason"]) == ("done", "completed")


def test_a_chat_without_a_profile_has_no_session(client: GraphqlClient) -> None:
    chat_of(client)
    assert client.data("{ chats { session { id } artifacts { tag } } }") == {
        "chats": [{"session": None, "artifacts": []}]
    }


def test_a_turn_is_aborted(client: GraphqlClient) -> None:
    chat_id = chat_of(client)
    turn = client.data(START, {"id": chat_id, "input": {"content": "one"}})["startTurn"]["id"]
    abort = "mutation ($chat: ID!, $turn: ID!) { abortTurn(chatId: $chat, id: $turn) { status } }"
    assert client.data(abort, {"chat": chat_id, "turn": turn})["abortTurn"]["status"] == "aborted"


def test_a_chat_is_changed_and_deleted(client: GraphqlClient) -> None:
    chat_id = chat_of(client)
    update = 'mutation ($id: ID!) { updateChat(id: $id, input: {title: "other"}) { title } }'
    assert client.data(update, {"id": chat_id})["updateChat"] == {"title": "other"}
    assert client.data("mutation ($id: ID!) { deleteChat(id: $id) }", {"id": chat_id}) == {"deleteChat": True}
    assert client.data("query ($id: ID!) { chat(id: $id) { id } }", {"id": chat_id}) == {"chat": None}


def test_an_invalid_turn_names_its_fields(client: GraphqlClient) -> None:
    request = {"id": chat_of(client), "input": {"content": "x", "deadlineMs": 1}}
    errors = client.error(START, request)["extensions"]["errors"]
    assert [each["field"] for each in errors] == ["input.deadlineMs"]


def test_a_chat_is_forked_corrected_and_begun_anew(client: GraphqlClient, cloud: Settings) -> None:
    log = {"tag": "log", "persistence": "persisted", "writeMode": "append"}
    operations = profile(operation("log", params={"template": "{{ user.text }}"}, artifact=log))
    create = "mutation ($input: CreateProfileInput!) { createProfile(input: $input) { id sessionId version } }"
    kept = client.data(create, {"input": operations})["createProfile"]
    target = {"model": "sim/steady", "params": {"maxOutputTokens": 100}}
    chat = client.data(CREATE, {"input": {"target": target, "profileId": kept["id"]}})["createChat"]
    chat_id, main = chat["id"], chat["activeBranchId"]
    turn = client.data(START, {"id": chat_id, "input": {"content": "one", "deadlineMs": 60_000}})["startTurn"]["id"]
    work(cloud)
    query = """query ($id: ID!, $turn: ID!) { turnPrompt(chatId: $id, id: $turn) { messages { content } }
      chat(id: $id) { target { params } session { profileId sessionId tags } artifacts { tag value updatedAt }
      exchanges { nodes { id user { id } } } } }"""
    found = client.data(query, {"id": chat_id, "turn": turn})
    assert found["turnPrompt"]["messages"][-1]["content"] == "one"
    read = found["chat"]
    assert read["session"] == {"profileId": kept["id"], "sessionId": kept["sessionId"], "tags": ["log"]}
    assert [(each["tag"], each["value"], bool(each["updatedAt"])) for each in read["artifacts"]] == [
        ("log", "one", True)
    ]
    (exchange,) = read["exchanges"]["nodes"]
    fork = """mutation ($id: ID!, $input: CreateBranchInput) { createBranch(chatId: $id, input: $input) {
      id name forkedAfter } }"""
    forked = client.data(fork, {"id": chat_id, "input": {"afterExchangeId": exchange["id"]}})["createBranch"]
    assert forked["forkedAfter"] == exchange["id"]
    names = {"chat": chat_id, "branch": forked["id"], "message": exchange["user"]["id"]}
    change = """mutation ($chat: ID!, $branch: ID!, $message: ID!) {
      updateBranch(chatId: $chat, id: $branch, input: {name: "other"}) { name }
      updateMessage(chatId: $chat, branchId: $branch, id: $message, input: {content: "two"}) { content variantCount }
      deleteBranch(chatId: $chat, id: $branch) }"""
    assert client.data(change, names) == {
        "updateBranch": {"name": "other"},
        "updateMessage": {"content": "two", "variantCount": 2},
        "deleteBranch": True,
    }
    variants = """query ($id: ID!, $message: ID!) {
      chat(id: $id) { variants(messageId: $message) { nodes { content } } } }"""
    listed = client.data(variants, {"id": chat_id, "message": names["message"]})["chat"]["variants"]["nodes"]
    assert [each["content"] for each in listed] == ["one", "two"]
    reset = """mutation ($chat: ID!, $branch: ID!, $profile: ID!, $message: ID!) {
      resetBranchSession(chatId: $chat, id: $branch) { id }
      deleteMessage(chatId: $chat, branchId: $branch, id: $message)
      resetProfileSession(id: $profile) { sessionId } }"""
    ids = {"chat": chat_id, "branch": main, "profile": kept["id"], "message": names["message"]}
    done = client.data(reset, ids)
    assert (done["resetBranchSession"], done["deleteMessage"]) == ({"id": main}, True)
    assert done["resetProfileSession"]["sessionId"] != kept["sessionId"]
    after = client.data(query, {"id": chat_id, "turn": turn})["chat"]
    assert (after["artifacts"], after["exchanges"]["nodes"][0]["user"]) == ([], None)


def test_a_profile_is_checked_changed_and_deleted(client: GraphqlClient) -> None:
    check = "query ($input: CheckProfileInput!) { checkProfile(input: $input) { errors { field } warnings { field } } }"
    good, bad = profile(operation("log")), profile(operation("log", dependsOn=["none"]))
    assert client.data(check, {"input": good})["checkProfile"]["errors"] == []
    assert client.data(check, {"input": bad})["checkProfile"]["errors"] != []
    create = "mutation ($input: CreateProfileInput!) { createProfile(input: $input) { id version } }"
    made = client.data(create, {"input": good})["createProfile"]
    update = """mutation ($id: ID!, $input: UpdateProfileInput!) { updateProfile(id: $id, input: $input) {
      name version } }"""
    changed = {"name": "other", "operations": [operation("log", params={"template": "x"})]}
    assert client.data(update, {"id": made["id"], "input": changed})["updateProfile"] == {"name": "other", "version": 2}
    assert client.data("mutation ($id: ID!) { deleteProfile(id: $id) }", {"id": made["id"]}) == {"deleteProfile": True}
    assert client.data("{ profiles { id } }") == {"profiles": []}


def test_a_chat_with_an_agent(client: GraphqlClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reply(*_: object, **__: object) -> ConnectionTestResult:
        return ConnectionTestResult(ok=True, latency_ms=3, reply="hello")

    monkeypatch.setattr(connection_tests, "call_agent", reply)
    create = "mutation ($input: CreateConnectorInput!) { createConnector(input: $input) { id headerNames config } }"
    agent = {
        "name": "agent",
        "type": "openai",
        "baseUrl": "https://agent.example.com/v1",
        "headers": {"Authorization": "Bearer secret"},
        "config": {"model": "support"},
    }
    made = client.data(create, {"input": agent})["createConnector"]
    assert (made["headerNames"], made["config"]["model"]) == (["Authorization"], "support")
    chat = """mutation ($input: CreateChatInput!) { createChat(input: $input) { target { connectorId } } }"""
    found = client.data(chat, {"input": {"target": {"connectorId": made["id"]}}})["createChat"]
    assert found["target"]["connectorId"] == made["id"]
    ping = "mutation ($id: ID!) { testConnector(id: $id) { ok reply error } }"
    assert client.data(ping, {"id": made["id"]})["testConnector"] == {"ok": True, "reply": "hello", "error": None}
    update = 'mutation ($id: ID!) { updateConnector(id: $id, input: {name: "new"}) { name type } }'
    assert client.data(update, {"id": made["id"]})["updateConnector"] == {"name": "new", "type": "openai"}
    listed = client.execute("{ connectors { id name headerNames } }")
    assert listed["data"]["connectors"] == [{"id": made["id"], "name": "new", "headerNames": ["Authorization"]}]
    assert "secret" not in str(listed)
    assert client.data("mutation ($id: ID!) { deleteConnector(id: $id) }", {"id": made["id"]})["deleteConnector"]
    assert client.data("query ($id: ID!) { connector(id: $id) { id } }", {"id": made["id"]}) == {"connector": None}
