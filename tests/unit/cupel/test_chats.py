"""`cupel chats`, against the real API function."""

import json

from tests.unit.api.test_chats import said
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel


def created(cupel: Cupel) -> dict[str, str]:
    made = cupel("chats", "create", "--model", "sim/steady", "--title", "Refunds", "--json")
    assert made.exit_code == 0, made.stderr
    return json.loads(made.stdout)  # type: ignore[no-any-return]


def test_a_chat_is_created_shown_changed_listed_and_deleted(cupel: Cupel) -> None:
    chat = created(cupel)
    assert "Refunds" in cupel("chats", "list").stdout
    assert cupel("chats", "update", chat["id"], "--title", "Returns").stdout == f"{chat['id']} Returns\n"
    assert "Returns" in cupel("chats", "show", chat["id"]).stdout
    assert cupel("chats", "delete", chat["id"]).stdout == f"deleted {chat['id']}\n"
    assert chat["id"] not in cupel("chats", "list").stdout


def test_messages_are_shown_edited_hidden_and_deleted(cupel: Cupel) -> None:
    chat = created(cupel)
    (exchange,) = said(chat["id"], chat["activeBranchId"], "hello\x1b[2J")
    assert "\x1b" not in cupel("chats", "show", chat["id"]).stdout
    edited = cupel("chats", "message", chat["id"], f"{exchange}.user", "--content", "good morning")
    assert edited.stdout == "variant 2: good morning\n"
    listed = cupel("chats", "variants", chat["id"], f"{exchange}.user").stdout
    assert [line.split(maxsplit=2)[:2] for line in listed.splitlines()[-2:]] == [["1", "main"], ["2", "edit"]]
    assert "good morning" in listed
    assert cupel("chats", "message", chat["id"], f"{exchange}.user", "--hide").exit_code == 0
    assert f"{exchange}.user (variant 2 of 2, hidden)" in cupel("chats", "show", chat["id"]).stdout
    assert cupel("chats", "message", chat["id"], f"{exchange}.answer", "--delete").exit_code == 0
    assert f"{exchange}.answer" not in cupel("chats", "show", chat["id"]).stdout
    assert cupel("chats", "message", chat["id"], f"{exchange}.user").exit_code == 2


def test_a_branch_is_forked_renamed_made_active_and_deleted(cupel: Cupel) -> None:
    chat = created(cupel)
    (exchange,) = said(chat["id"], chat["activeBranchId"], "hello")
    fork, name = cupel("chats", "fork", chat["id"], "--after", exchange, "--name", "short").stdout.split()
    assert name == "short"
    assert cupel("chats", "rename-branch", chat["id"], fork, "shorter").stdout == f"{fork} shorter\n"
    assert cupel("chats", "update", chat["id"], "--branch", fork).exit_code == 0
    assert "shorter" in cupel("chats", "show", chat["id"]).stdout
    main = chat["activeBranchId"]
    assert cupel("chats", "delete-branch", chat["id"], main).stdout == f"deleted {main}\n"
