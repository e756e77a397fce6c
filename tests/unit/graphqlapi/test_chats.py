"""Chats: written to, and read with their branches and turns."""

from cupel_core.settings import Settings
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
