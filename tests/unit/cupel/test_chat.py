"""`cupel chat`, against the real API function and a worker that carries out each turn at once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cupel import client
from cupel_core.base import event_loop
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.chats import turns, worker
from tests.profiles import operation, profile
from tests.unit.api.test_chat_turns import Model
from tests.unit.api.test_chat_turns import model as model
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel


@pytest.fixture(autouse=True)
def carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def send_order(ref: ChatRef, turn_id: str) -> None:
        order = TurnOrder(workspace=ref.workspace, chat_id=ref.chat_id, turn_id=turn_id)
        event_loop.run(worker.work(order, lambda: 290.0))

    monkeypatch.setattr(turns, "send_order", send_order)


def test_lines_are_answered_until_the_end_of_the_input(cupel: Cupel, model: Model) -> None:
    talked = cupel("chat", "--model", "sim/steady", input="one\n\ntwo\n/regenerate\n")
    assert (talked.exit_code, talked.stdout) == (0, "answer 1\nanswer 2\nanswer 3\n")
    assert model.asked[2] == [("user", "one"), ("assistant", "answer 1"), ("user", "two")]


def test_a_message_is_edited_and_a_conversation_forked(cupel: Cupel, model: Model) -> None:
    lines = "one\n/branch short\n/edit ONE\n/branches\n/show\n/quit\nnot sent\n"
    talked = cupel("chat", "--model", "sim/steady", input=lines)
    assert model.asked == [[("user", "one")], [("user", "ONE")]]
    assert "short (1 exchange)" in talked.stdout
    assert "user: ONE" in talked.stdout
    chat_id = json.loads(cupel("chats", "list", "--json").stdout)[0]["id"]
    continued = cupel("chat", "--chat", chat_id, input="")
    assert "user: one" in continued.stdout, "the first branch is still the active one, and has not changed"


def test_operations_are_reported_and_their_artifacts_shown(cupel: Cupel, model: Model, tmp_path: object) -> None:
    log = operation("log", name="Log", params={"template": "{{ user.text }}"}, artifact={"persistence": "persisted"})
    path = f"{tmp_path}/profile.json"
    with open(path, "w") as file:  # noqa: PTH123
        json.dump(profile(log, name="Logged"), file)
    assert cupel("profiles", "create", path).exit_code == 0
    talked = cupel("chat", "--model", "sim/steady", "--profile", "logged", input="one\n/artifacts\n")
    assert talked.stdout == "answer 1\nlog (version 1, internal): one\n"
    assert "Log: done" in talked.stderr
    (chat,) = json.loads(cupel("chats", "list", "--json").stdout)
    assert cupel("chats", "session", chat["id"]).stdout.endswith(": log\n")
    assert "no artifacts" in cupel("chats", "reset", chat["id"]).stdout
    assert cupel("chats", "session", chat["id"]).stdout.endswith(": no artifacts\n")
    assert json.loads(cupel("chats", "session", chat["id"], "--json").stdout)["tags"] == []


def test_a_chat_without_a_profile_has_no_artifacts(cupel: Cupel, model: Model) -> None:
    talked = cupel("chat", "--model", "sim/steady", input="one\n/artifacts\n")
    assert talked.stdout == "answer 1\n"
    assert talked.stderr.endswith("the chat has no operation profile whose artifacts could be listed\n")
    (chat,) = json.loads(cupel("chats", "list", "--json").stdout)
    assert "--profile: is required: the chat has no profile" in cupel("chats", "session", chat["id"]).stderr


def test_a_session_names_its_profile(cupel: Cupel, model: Model, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(profile(operation("log", params={"template": "x"}), name="Logged")))
    cupel("profiles", "create", str(path))
    cupel("chat", "--model", "sim/steady", "--profile", "logged", input="one\n")
    (chat,) = json.loads(cupel("chats", "list", "--json").stdout)
    assert f" of Logged ({chat['profileId']})" in cupel("chats", "session", chat["id"]).stdout


def test_a_refusal_ends_no_conversation(cupel: Cupel, model: Model) -> None:
    talked = cupel("chat", "--model", "sim/steady", input="/regenerate\n/unknown\n/edit x\n/abort\n/help\none\n")
    assert talked.stdout.endswith("answer 1\n")
    for remark in ("no exchange yet", "unknown command /unknown", "no message to edit", "no turn is in progress"):
        assert remark in talked.stderr


def test_control_characters_of_an_answer_do_not_reach_the_terminal(cupel: Cupel, model: Model) -> None:
    model.answers = ["\x1b[2Jhello"]
    assert cupel("chat", "--model", "sim/steady", input="one\n").stdout == "[2Jhello\n"


def test_a_chat_needs_a_model_or_an_earlier_one(cupel: Cupel) -> None:
    assert cupel("chat").exit_code == 2
    assert cupel("chat", "--model", "sim/steady", "--chat", "chat_x").exit_code == 2
    assert cupel("chat", "--chat", "chat_x", "--title", "x").exit_code == 2


def test_turns_and_prompts_of_a_chat_are_shown(cupel: Cupel, model: Model) -> None:
    turn = json.loads(cupel("chat", "--model", "sim/steady", "--json", input="one\n").stdout)
    assert turn["id"] in cupel("chats", "turns", turn["chatId"]).stdout
    assert cupel("chats", "prompt", turn["chatId"], turn["id"]).stdout == "user: one\n"
    assert "no artifacts" in cupel("chats", "reset", turn["chatId"]).stdout


def test_what_an_operation_has_done_is_reported_on_a_line_of_its_own(
    cupel: Cupel, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(*_: object) -> Iterator[dict[str, object]]:
        yield {"type": "main_llm.delta", "attempt": 1, "offset": 0, "text": "answer 1"}
        yield {"type": "operation.finished", "data": {"operationName": "Log", "status": "done"}}

    monkeypatch.setattr(client.Client, "follow_turn", follow)
    talked = cupel("chat", "--model", "sim/steady", input="one\n")
    assert "answer 1\nLog: done\n" in talked.output
    assert talked.stdout == "answer 1\n"


def test_an_answer_that_was_taken_away_meanwhile_ends_no_conversation(
    cupel: Cupel, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = client.Client.list_exchanges

    def without_answer(*arguments: Any, **options: Any) -> Any:
        return [{**each, "answer": None} for each in listed(*arguments, **options)]

    monkeypatch.setattr(client.Client, "list_exchanges", without_answer)
    assert cupel("chat", "--model", "sim/steady", input="one\n").exit_code == 0


def test_bytes_that_are_no_text_end_no_conversation(cupel: Cupel, model: Model) -> None:
    talked = cupel("chat", "--model", "sim/steady", input=b"caf\xe9\n/branch br_/..\ntwo\n")
    assert talked.stdout == "answer 1\nanswer 2\n"
    assert model.asked[0] == [("user", "caf\ufffd")]
    assert "is not a valid id" in talked.stderr
