"""The invariants of chats that hold once nobody works on them any more."""

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

import orjson

from cupel_core.base.messages import ChatRef
from cupel_core.store import chat_turns, chats, erasures, object_names
from tests.simulation.chats.invariants import ChatInvariants
from tests.simulation.chats.ledger import Data
from tests.simulation.chats.profiles import AFTER, BEFORE
from tests.simulation.chats.state import ChatState, TurnState
from tests.simulation.harness import simulation
from tests.simulation.invariants import require

if TYPE_CHECKING:
    from tests.simulation.chats.cloud import ChatCloud

WORKSPACE = "ws_sim"


def is_at_rest() -> bool:
    """Every turn has ended, and what is due to be erased is."""
    soon = simulation.now() + timedelta(hours=2)  # A chat without a retention period expires in a hundred years.
    return not list(erasures.list_due(soon)) and not list(chat_turns.list_open())


class FinalChecks:
    def __init__(self, cloud: "ChatCloud", sent: dict[str, str]) -> None:
        """`sent` has the text of each message that was accepted, by the id of its request."""
        self._cloud = cloud
        self._invariants: ChatInvariants = cloud.invariants
        self._sent = sent

    def run(self) -> None:
        by_request = defaultdict(list[TurnState])
        for turn in self._invariants.turns.values():
            by_request[turn.head.get("clientRequestId")].append(turn)
        for request_id, turns in by_request.items():
            require(len(turns) == 1, f"14: the request {request_id} has made {[turn.id for turn in turns]}")
        for request_id in self._sent:
            require(request_id in by_request, f"14: the request {request_id} was accepted and has no turn")
        for chat in self._invariants.chats.values():
            if chats.find(ChatRef(WORKSPACE, chat.id)) is None:
                self._check_erased(chat)
            else:
                self._check_chat(chat)

    def _check_erased(self, chat: ChatState) -> None:
        for key, item in self._cloud.table.items():
            is_of_chat = chat.id in key[0] or chat.mark in orjson.dumps(item, default=str).decode()
            require(not is_of_chat, f"content of the deleted chat {chat.id} is left: {key}")
        for key in self._cloud.bucket.objects:
            is_record = key.startswith(object_names.DELETIONS)
            is_left = chat.id in key or chat.mark in self._cloud.bucket.text(key)
            require(is_record or not is_left, f"content of the deleted chat {chat.id} is left: {key}")

    def _check_chat(self, chat: ChatState) -> None:
        for name, branch in chat.branches.items():
            require(branch.open_turn is None, f"13: {branch.open_turn} holds {name} for ever")
            self._check_path(chat, name)
        for turn in self._invariants.turns.values():
            if turn.chat_id == chat.id:
                self._check_turn(chat, turn)

    def _check_path(self, chat: ChatState, name: str) -> None:
        branch, path = chat.branches[name], chat.path(name)
        names = [pointer.exchange_id for pointer in path]
        positions = [chat.exchanges[each]["position"] for each in names]
        require(positions == list(range(branch.length)), f"9: {name} has {branch.length} exchanges at {positions}")
        parent = chat.branches.get(branch.parent_id or "")
        if parent is not None and branch.forked_after is not None:
            common = names.index(branch.forked_after) + 1
            others = [pointer.exchange_id for pointer in chat.path(branch.parent_id or "")[:common]]
            require(names[:common] == others, f"9: {name} has {names}, its parent {others}")
        for pointer in path:
            for side, number in (("user", pointer.user), ("answer", pointer.answer)):
                is_there = number is None or (pointer.exchange_id, side, number) in chat.variants
                require(is_there, f"9: {name} selects variant {number} of {pointer.exchange_id}.{side}")
                numbers = chat.exchanges[pointer.exchange_id][side]
                require(number is None or number in numbers, f"9: {number} is not in {numbers} of {pointer}")

    def _check_turn(self, chat: ChatState, turn: TurnState) -> None:
        stored = chat_turns.get(ChatRef(WORKSPACE, chat.id), turn.id)
        ledger = turn.ledger
        require(turn.is_over, f"13: {turn.id} remains {turn.status}")
        require(stored.last_seq == ledger.count, f"11: {turn.id} has {ledger.count} events and says {stored.last_seq}")
        end = ledger.end or {}
        told = end.get("status"), end.get("abortReason"), end.get("failedType")
        failed = stored.failure.type if stored.failure else None
        is_told = told == (turn.status, stored.abort_reason, failed)
        require(is_told, f"11: {turn.id} is {turn.status} {stored.abort_reason} {failed}, and {told} was told")
        self._check_operations(turn)
        self._check_main(chat, turn)
        request_id = turn.head.get("clientRequestId")
        if turn.head["trigger"] == "generate" and request_id in self._sent:
            text = chat.variants[turn.head["exchangeId"], "user", 1].content
            require(text == self._sent[request_id], f"14: {turn.id} has the message {text}")

    @staticmethod
    def _check_operations(turn: TurnState) -> None:
        records = {(each["hook"], each["operationId"]): each for each in turn.result["operations"]}
        statuses = {step: each["status"] for step, each in records.items()}
        told = {step: each["status"] for step, each in turn.ledger.finished.items()}
        require(statuses == told, f"11: the operations of {turn.id} are {statuses}, and {told} was told")

    def _check_main(self, chat: ChatState, turn: TurnState) -> None:
        main, ledger = turn.result["main"], turn.ledger
        attempt: Data = ledger.main or {}
        require(main.get("status") == attempt.get("status"), f"11: {turn.id} has {main}, and {attempt} was told")
        key = turn.head["exchangeId"], "answer", turn.head["answerVariant"]
        variant = chat.variants.get(key)
        is_answered = main.get("status") == "done"
        is_stored = variant is not None and variant.is_complete
        require(is_answered == is_stored, f"1: {turn.id} has {main}, its answer is {variant}")
        require(turn.status != "done" or is_answered, f"1: {turn.id} is done without an answer")
        if variant is None or not is_answered:
            require(ledger.report is None and not turn.result["commits"], f"16: {turn.id} commits without an answer")
            require(turn.id not in chat.artifacts, f"16: {turn.id} has no answer and stores artifacts")
            return
        require(turn.result["commits"] == ledger.report, f"11: {turn.id} commits {turn.result['commits']}")
        self._check_commit(chat, turn)

    def _check_commit(self, chat: ChatState, turn: TurnState) -> None:
        """Only what is done has effects, always in the same order."""
        records = {(each["hook"], each["operationId"]): each for each in turn.result["operations"]}
        done = [
            (hook, operation, records[hook, operation["id"]].get("value"))
            for hook in (BEFORE, AFTER)
            for operation in turn.ledger.plan[hook]
            if records[hook, operation["id"]]["status"] == "done"
        ]
        expected = [
            (operation["id"], number, effect["type"])
            for _, operation, _ in done
            for number, effect in enumerate(operation["effects"])
        ]
        rows = [(row["operationId"], row["effectIndex"], row["effectType"]) for row in turn.result["commits"]]
        wanted = [row for row in rows if row in expected]
        require(wanted == expected, f"4: {turn.id} commits {rows}, not {expected}")
        applied = {
            (row["operationId"], row["effectIndex"]) for row in turn.result["commits"] if row["status"] == "applied"
        }
        extra = applied - {row[:2] for row in expected}
        require(not extra, f"5: {extra} apply in {turn.id}, and are not done")
        notes = tuple(_values(done, "turn.assistant.annotate"))
        answer = chat.variants[turn.head["exchangeId"], "answer", turn.head["answerVariant"]]
        require(answer.annotations == notes, f"4: the answer of {turn.id} has {answer.annotations}, not {notes}")
        for side, effect in (("user", "turn.user.rewrite"), ("answer", "turn.assistant.rewrite")):
            made = [
                variant.content
                for (exchange_id, its_side, _), variant in chat.variants.items()
                if exchange_id == turn.head["exchangeId"] and its_side == side
                if variant.turn_id == turn.id and variant.kind == "rewrite"
            ]
            values = _values(done, effect)[-1:]
            require(made == values, f"4: {turn.id} has rewritten {side} as {made}, not {values}")


def _values(done: list[tuple[str, Data, str]], effect: str) -> list[str]:
    return [value for _, each, value in done if any(one["type"] == effect for one in each["effects"])]
