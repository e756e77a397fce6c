"""Chats and their branches over HTTP."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict
from cupel_core.base.ids import new_id, new_short_id
from cupel_core.base.messages import ChatRef
from cupel_core.chats import branches, catalog
from cupel_core.domain.chats.branches import MessageSide, Pointer
from cupel_core.domain.chats.chats import MAX_VARIANTS
from cupel_core.domain.chats.messages import Exchange, Variant, VariantKind
from cupel_core.providers import parameters
from cupel_core.runs import workspace_erasure
from cupel_core.store import chat_branches, chats
from cupel_core.store.chat_branches import BranchChange
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.profiles import operation, profile
from tests.stored_text import places_with
from tests.unit.api.client import Answer, Client

MARKER = "zanzibar"
TARGET = {"target": {"model": "sim/steady"}}


@pytest.fixture
def chat_id(client: Client) -> str:
    return created(client)


def created(client: Client, **fields: object) -> str:
    answer = client.post("/v1/chats", {**TARGET, **fields})
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


def branch_of(client: Client, chat_id: str) -> str:
    return str(client.get(f"/v1/chats/{chat_id}").json()["activeBranchId"])


def said(chat_id: str, branch_id: str, *texts: str, workspace: str = "acme") -> list[str]:
    """Exchanges as turns store them; their ids."""
    ref, ids = ChatRef(workspace, chat_id), []
    for text in texts:
        branch = chat_branches.get(ref, branch_id)
        exchange = Exchange(new_id("ex"), branch.length, answer=(1,), last_answer=1)
        page = chat_branches.get_page(ref, branch.last_page)
        changed = branch.appending(page, Pointer(exchange.id, answer=1), new_short_id())
        variants = tuple(
            Variant(exchange.id, side, 1, VariantKind.MAIN, f"{side} {text}", utc_now(), branch.id)
            for side in MessageSide
        )
        written = changed.page_id, changed.pointers
        assert chat_branches.apply(
            ref, BranchChange(branch, changed.branch, written, None, exchange, variants), utc_now()
        )
        ids.append(exchange.id)
    return ids


def texts(client: Client, chat_id: str, branch_id: str, **query: object) -> list[list[str | None]]:
    answer = client.get(f"/v1/chats/{chat_id}/branches/{branch_id}/exchanges", query={"limit": 100, **query})
    assert answer.status == 200, answer.text
    return [
        [each[side] and each[side]["content"] for side in ("user", "answer")]
        for each in reversed(answer.json()["items"])
    ]


def change(client: Client, chat_id: str, branch_id: str, message: str, body: object) -> Answer:
    return client.request("PATCH", f"/v1/chats/{chat_id}/branches/{branch_id}/messages/{message}", json=body)


def test_a_chat_is_created_listed_changed_and_deleted(client: Client) -> None:
    body = {**TARGET, "title": "Refunds", "system": "Be brief.", "metadata": {"team": "search"}}
    made = client.post("/v1/chats", body)
    chat = made.json()
    assert client.get(made.headers["Location"]).json() == chat
    assert [each["id"] for each in client.get("/v1/chats").json()["items"]] == [chat["id"]]
    path = f"/v1/chats/{chat['id']}"
    changed = client.request("PATCH", path, json={"title": "Returns", "historyLimit": 5}).json()
    assert (changed["title"], changed["historyLimit"], changed["system"]) == ("Returns", 5, "Be brief.")
    assert client.delete(path).status == 204
    assert client.get(path).status == client.delete(path).status == 404
    assert client.get("/v1/chats").json()["items"] == []


def test_a_chat_is_recognized_by_its_first_message(client: Client, chat_id: str) -> None:
    path = f"/v1/chats/{chat_id}"
    assert client.get(path).json()["opening"] is None
    for content in ("  Where is\n my " + "o" * 200, "Thanks"):
        turn = client.post(f"{path}/turns", {"content": content})
        assert turn.status == 201, turn.text
        client.post(f"{path}/turns/{turn.json()['id']}/abort")
    opening = client.get(path).json()["opening"]
    assert (opening[:12], opening[-1], len(opening)) == ("Where is my ", "…", 100)
    assert client.get("/v1/chats").json()["items"][0]["opening"] == opening


def test_chats_of_the_playground_are_listed_on_demand(client: Client, chat_id: str) -> None:
    columns = [created(client, playground=True) for _ in range(3)]
    later = created(client)
    assert [each["id"] for each in client.get("/v1/chats", query={"limit": 2}).json()["items"]] == [later, chat_id]
    listed = client.get("/v1/chats", query={"playground": "true"}).json()["items"]
    assert [each["id"] for each in listed] == columns[::-1]
    assert [client.get(f"/v1/chats/{each}").json()["playground"] for each in (columns[0], later)] == [True, False]
    assert client.request("PATCH", f"/v1/chats/{later}", json={"playground": True}).status == 422


def test_a_changed_chat_is_not_overwritten_by_who_has_not_read_the_change(client: Client, chat_id: str) -> None:
    path = f"/v1/chats/{chat_id}"
    tag = client.get(path).headers["ETag"]
    assert client.request("PATCH", path, json={"title": "one"}, headers={"If-Match": tag}).status == 200
    assert client.request("PATCH", path, json={"title": "two"}, headers={"If-Match": tag}).status == 412


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"target": {"model": "nobody/x"}}, "target.model"),
        ({"target": {"model": "openai/gpt-5-mini"}}, "target.model"),
        ({"target": {"model": "sim/steady", "params": {"tools": [{"name": "find"}]}}}, "target.params"),
        ({"target": {"model": "sim/steady", "callTimeoutSeconds": 900}}, "target.callTimeoutSeconds"),
        ({"profileId": "prof_none"}, "profileId"),
        ({"historyLimit": 201}, "historyLimit"),
        ({"system": "x" * 100_001}, "system"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_settings_that_no_turn_could_use_are_refused(client: Client, fields: dict[str, object], named: str) -> None:
    answer = client.post("/v1/chats", {**TARGET, **fields})
    assert answer.status == 422
    assert answer.fields() == [named]


def test_a_target_has_no_parameters_that_its_provider_does_not_know(client: Client, chat_id: str) -> None:
    target = {"model": "anthropic/claude-sonnet-4-5", "params": {"seed": 1}}
    for answer in (
        client.post("/v1/chats", {"target": target}),
        client.patch(f"/v1/chats/{chat_id}", {"target": target}),
    ):
        assert answer.status == 422
        assert answer.fields() == ["target.model", "target.params.seed"]


def test_parameters_may_be_kept_when_the_model_changes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    chat_id = created(client, target={"model": "sim/steady", "params": {"seed": 1}})
    monkeypatch.setitem(parameters._UNKNOWN_TO_PROVIDER, "sim", frozenset({"seed"}))
    kept = client.patch(f"/v1/chats/{chat_id}", {"target": {"model": "sim/echo", "params": {"seed": 1}}})
    assert (kept.status, kept.json()["target"]["model"]) == (200, "sim/echo")
    changed = client.patch(f"/v1/chats/{chat_id}", {"target": {"model": "sim/echo", "params": {"seed": 2}}})
    assert changed.fields() == ["target.params.seed"]


def test_a_chat_may_name_a_profile(client: Client) -> None:
    profile_id = client.post("/v1/profiles", profile(operation())).json()["id"]
    assert client.get(f"/v1/chats/{created(client, profileId=profile_id)}").json()["profileId"] == profile_id


def test_exchanges_are_listed_newest_first_in_pages(client: Client, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    ids = said(chat_id, branch_id, *map(str, range(53)))
    path, cursor, found = f"/v1/chats/{chat_id}/branches/{branch_id}/exchanges", None, []
    while True:
        page = client.get(path, query={"limit": 20, **({"cursor": cursor} if cursor else {})}).json()
        found += [each["id"] for each in page["items"]]
        if (cursor := page["nextCursor"]) is None:
            break
    assert found == ids[::-1]


def test_an_edit_is_a_new_variant_that_the_branch_selects(client: Client, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange,) = said(chat_id, branch_id, "hello")
    edited = change(client, chat_id, branch_id, f"{exchange}.user", {"content": "good morning"}).json()
    assert (edited["number"], edited["kind"], edited["basedOn"], edited["variantCount"]) == (2, "edit", 1, 2)
    variants = client.get(f"/v1/chats/{chat_id}/messages/{exchange}.user/variants").json()["items"]
    assert [each["content"] for each in variants] == ["user hello", "good morning"]
    assert texts(client, chat_id, branch_id) == [["good morning", "answer hello"]]
    change(client, chat_id, branch_id, f"{exchange}.user", {"selected": 1})
    assert texts(client, chat_id, branch_id) == [["user hello", "answer hello"]]


def test_hidden_and_deleted_messages_are_listed_on_demand(client: Client, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange,) = said(chat_id, branch_id, "hello")
    assert change(client, chat_id, branch_id, f"{exchange}.answer", {"hidden": True}).json()["hidden"]
    path = f"/v1/chats/{chat_id}/branches/{branch_id}/messages/{exchange}.user"
    assert client.delete(path).status == 204
    assert client.delete(path).status == 404
    assert texts(client, chat_id, branch_id) == [[None, None]]
    assert texts(client, chat_id, branch_id, include="hidden") == [[None, "answer hello"]]
    assert texts(client, chat_id, branch_id, include=["hidden", "deleted"]) == [["user hello", "answer hello"]]


@pytest.mark.parametrize(
    "body", [{}, {"content": "x", "selected": 1}, {"content": " "}, {"content": "x" * 100_001}, {"selected": 7}]
)
def test_a_change_of_a_message_that_makes_no_sense_is_refused(client: Client, chat_id: str, body: object) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange,) = said(chat_id, branch_id, "hello")
    assert change(client, chat_id, branch_id, f"{exchange}.user", body).status == 422


def test_a_change_that_is_based_on_another_revision_is_refused(client: Client, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange,) = said(chat_id, branch_id, "hello")
    revision = client.get(f"/v1/chats/{chat_id}/branches/{branch_id}").json()["revision"]
    body = {"hidden": True, "revision": revision}
    assert change(client, chat_id, branch_id, f"{exchange}.user", body).status == 200
    assert change(client, chat_id, branch_id, f"{exchange}.user", body).status == 409


def test_a_message_has_a_limited_number_of_variants(client: Client, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange_id,) = said(chat_id, branch_id, "hello")
    ref = ChatRef("acme", chat_id)
    branch, before = chat_branches.get(ref, branch_id), chat_branches.get_exchange(ref, exchange_id)
    full = Exchange(exchange_id, 0, tuple(range(1, MAX_VARIANTS + 1)), (1,), 1)
    assert chat_branches.apply(ref, BranchChange(branch, branch, None, before, full), utc_now())
    assert change(client, chat_id, branch_id, f"{exchange_id}.user", {"content": "more"}).fields() == ["content"]


def test_a_fork_shares_what_was_said_and_nothing_that_follows(client: Client, chat_id: str) -> None:
    main = branch_of(client, chat_id)
    first, second = said(chat_id, main, "one", "two")
    answer = client.post(f"/v1/chats/{chat_id}/branches", {"name": "other", "afterExchangeId": first})
    fork = answer.json()
    assert client.get(answer.headers["Location"]).json() == fork
    assert (fork["parentBranchId"], fork["forkedAfter"], fork["length"]) == (main, first, 1)
    said(chat_id, fork["id"], "three")
    change(client, chat_id, main, f"{first}.user", {"content": "ONE"})
    assert texts(client, chat_id, main)[0] == ["ONE", "answer one"]
    assert texts(client, chat_id, fork["id"]) == [["user one", "answer one"], ["user three", "answer three"]]
    assert change(client, chat_id, fork["id"], f"{second}.user", {"hidden": True}).status == 404


def test_a_fork_may_leave_out_the_last_answer(client: Client, chat_id: str) -> None:
    main = branch_of(client, chat_id)
    said(chat_id, main, "one", "two")
    fork = client.post(f"/v1/chats/{chat_id}/branches", {"includeAnswer": False}).json()
    assert texts(client, chat_id, fork["id"]) == [["user one", "answer one"], ["user two", None]]
    assert texts(client, chat_id, main)[1] == ["user two", "answer two"]


def test_branches_are_renamed_and_deleted_but_for_the_active_one(client: Client, chat_id: str) -> None:
    main = branch_of(client, chat_id)
    said(chat_id, main, "one")
    fork = client.post(f"/v1/chats/{chat_id}/branches", {}).json()["id"]
    path = f"/v1/chats/{chat_id}/branches"
    assert client.request("PATCH", f"{path}/{fork}", json={"name": "short"}).json()["name"] == "short"
    assert client.delete(f"{path}/{main}").status == 409
    assert client.request("PATCH", f"/v1/chats/{chat_id}", json={"activeBranchId": fork}).status == 200
    assert client.delete(f"{path}/{main}").status == 204
    assert [each["id"] for each in client.get(path).json()["items"]] == [fork]
    assert texts(client, chat_id, fork) == [["user one", "answer one"]]
    assert client.get(f"/v1/chats/{chat_id}").json()["branchCount"] == 1
    assert client.request("PATCH", f"/v1/chats/{chat_id}", json={"activeBranchId": main}).fields() == ["activeBranchId"]


def test_a_branch_that_was_deleted_meanwhile_does_not_become_the_active_one(client: Client, chat_id: str) -> None:
    main, ref = branch_of(client, chat_id), ChatRef("acme", chat_id)
    fork = client.post(f"/v1/chats/{chat_id}/branches", {}).json()["id"]
    read = chats.get(ref)
    assert client.delete(f"/v1/chats/{chat_id}/branches/{fork}").status == 204
    with pytest.raises(Conflict):
        chats.update(read, replace(read, active_branch_id=fork), utc_now())
    assert branch_of(client, chat_id) == main


def test_a_chat_has_a_limited_number_of_branches(client: Client, chat_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (branches, chats):
        monkeypatch.setattr(module, "MAX_BRANCHES", 5)
    for _ in range(4):
        assert client.post(f"/v1/chats/{chat_id}/branches", {}).status == 201
    assert client.post(f"/v1/chats/{chat_id}/branches", {}).fields() == ["fromBranchId"]


def test_another_workspace_finds_nothing(client: Client, chat_id: str, stranger: str) -> None:
    branch_id = branch_of(client, chat_id)
    (exchange,) = said(chat_id, branch_id, "hello")
    for path in (
        f"/v1/chats/{chat_id}",
        f"/v1/chats/{chat_id}/branches",
        f"/v1/chats/{chat_id}/branches/{branch_id}/exchanges",
        f"/v1/chats/{chat_id}/messages/{exchange}.user/variants",
    ):
        assert client.get(path).status == 200
        assert client.get(path, token=stranger).status == 404


def marked_chat(client: Client) -> str:
    chat_id = created(client, title=MARKER, system=MARKER)
    branch_id = branch_of(client, chat_id)
    first, _ = said(chat_id, branch_id, MARKER, MARKER * 2_000)
    client.post(f"/v1/chats/{chat_id}/branches", {"name": MARKER, "afterExchangeId": first})
    change(client, chat_id, branch_id, f"{first}.answer", {"content": f"{MARKER} again"})
    return chat_id


def test_nothing_is_left_of_a_deleted_chat(client: Client, cloud: Settings) -> None:
    chat_id = marked_chat(client)
    assert places_with(MARKER, cloud)
    client.delete(f"/v1/chats/{chat_id}")
    assert client.get(f"/v1/chats/{chat_id}/branches").status == 404
    erase_due(utc_now() + timedelta(hours=1), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_a_chat_expires_a_retention_period_after_its_last_change(client: Client, cloud: Settings) -> None:
    chat_id = marked_chat(client)
    ref = ChatRef("acme", chat_id)
    first_expiry = chats.get(ref).expires_at
    assert first_expiry is not None
    later = utc_now() + timedelta(days=30)
    branch = chat_branches.list_branches(ref)[0]
    assert chat_branches.apply(ref, BranchChange(branch, branch), later)
    erase_due(first_expiry + timedelta(minutes=1), lambda: 900.0)
    assert places_with(MARKER, cloud)
    second_expiry = chats.get(ref).expires_at
    assert second_expiry is not None
    assert second_expiry > first_expiry
    erase_due(second_expiry + timedelta(minutes=1), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_a_large_chat_is_erased_over_several_sweeps(client: Client, cloud: Settings) -> None:
    chat_id = marked_chat(client)
    client.delete(f"/v1/chats/{chat_id}")
    ref, times = ChatRef("acme", chat_id), iter([True, True, False])
    assert not catalog.erase_content(ref, lambda: next(times, False))
    erase_due(utc_now() + timedelta(hours=1), lambda: 900.0)
    assert places_with(MARKER, cloud) == []


def test_a_chat_that_was_deleted_is_deleted_again_after_a_restore(client: Client, cloud: Settings) -> None:
    chat_id = marked_chat(client)
    client.delete(f"/v1/chats/{chat_id}")
    chats.ChatItem(f"acme#chat#{chat_id}", "chat").update(
        actions=[chats.ChatItem.deleted_at.remove(), chats.ChatItem.gsi1pk.set("acme#chats")]
    )
    assert client.get(f"/v1/chats/{chat_id}").status == 200
    workspace_erasure.reapply_deletions(utc_now())
    assert client.get(f"/v1/chats/{chat_id}").status == 404


def test_a_change_of_a_branch_that_was_changed_since_it_was_read_is_not_written(client: Client, chat_id: str) -> None:
    ref, branch_id = ChatRef("acme", chat_id), branch_of(client, chat_id)
    stale = chat_branches.get(ref, branch_id)
    said(chat_id, branch_id, "one")
    assert not chat_branches.apply(ref, BranchChange(stale, stale), utc_now())
    assert texts(client, chat_id, branch_id) == [["user one", "answer one"]]
