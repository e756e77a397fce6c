"""The invariants of chats, checked at every write and at every model call; at rest.py has those of the end."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cupel_core.base.clock import from_iso
from tests.simulation.account_pauses import AccountPauses
from tests.simulation.chats.ledger import Ledger
from tests.simulation.chats.models import MAIN, CallKey, ChatCall
from tests.simulation.chats.profiles import AFTER, BEFORE, COUNTED, commit_order, counters
from tests.simulation.chats.prompts import expected_prompt
from tests.simulation.chats.state import OVER, ChatState, Decoder, TurnState
from tests.simulation.expressions import Item
from tests.simulation.invariants import require
from tests.simulation.scheduler import START
from tests.simulation.table import Key

if TYPE_CHECKING:
    from tests.simulation.chats.cloud import ChatCloud

STOP_SECONDS = 3.5
"""After an abort was acknowledged, or the deadline: a worker looks each second, and its request takes a moment."""
_DISTURBANCE_SECONDS = 40.0
"""So long may a fault delay that look: a request is repeated four times, with pauses."""
_OPEN = ("queued", "running")
_LEGAL = {(old, new) for old in _OPEN for new in (*_OPEN, *OVER)} - {("running", "queued")}
_NO_PROFILE: Mapping[str, Any] = {"operations": []}


class ChatInvariants:
    def __init__(self, cloud: "ChatCloud") -> None:
        self._cloud = cloud
        self._decoder = Decoder(cloud)
        self.account_pauses = AccountPauses(cloud.scheduler)
        self.profiles: dict[str, Mapping[str, Any]] = {}
        """The content of each profile, by its id."""
        self.chats: dict[str, ChatState] = {}
        self.turns: dict[str, TurnState] = {}
        self._by_answer: dict[tuple[str, int], TurnState] = {}
        """By exchange, and the number that was reserved for the answer."""
        self.endings: Counter[str] = Counter()
        self._written: list[tuple[Key, Item, Item]] = []
        """By the write, or the transaction, that is being checked."""

    def add_chat(self, chat_id: str, mark: str) -> None:
        self.chats[chat_id] = ChatState(chat_id, mark)

    def mark_of(self, key: CallKey) -> str:
        turn = self._by_answer[key.exchange_id, key.answer_variant]
        return self.chats[turn.chat_id].mark

    def note_abort(self, turn_id: str) -> None:
        """Its request was answered."""
        turn = self.turns[turn_id]
        if turn.abort_told_at is None:
            turn.abort_told_at = self._cloud.scheduler.now

    # -- at every write

    def observe(self, key: Key, before: Item, after: Item) -> None:
        self._written.append((key, before, after))

    def check_writes(self) -> None:
        """Turns first, then what depends on them: a transaction's own order says nothing."""
        written, self._written = sorted(self._written, key=lambda write: _rank(write[0])), []
        for key, before, after in written:
            self._check_write(key, before, after)

    def _check_write(self, key: Key, before: Item, after: Item) -> None:
        self.account_pauses.observe(key, after)
        pk, sk = key
        _, _, name = pk.partition("#chat#")
        chat = self.chats.get(name.partition("#")[0])
        if chat is None:
            return
        if not after:
            self._observe_erasure(chat, pk, sk)
        elif pk.endswith("#turns"):
            self._observe_turn(chat, sk, before, after)
        else:
            kind, _, rest = sk.partition("#")
            observe = getattr(self, f"_observe_{kind}", None)
            if observe is not None:
                observe(chat, rest, before, after)

    def _observe_erasure(self, chat: ChatState, pk: str, sk: str) -> None:
        kind, _, name = sk.partition("#")
        if kind == "branch" and not chat.is_deleted:
            removed = chat.branches.pop(name)
            require(removed.open_turn is None, f"13: branch {name} is deleted during {removed.open_turn}")
            return
        require(chat.is_deleted, f"{pk} {sk} of a chat is erased that was not deleted")

    def _observe_chat(self, chat: ChatState, _: str, __: Item, after: Item) -> None:
        chat.is_deleted = "deletedAt" in after

    def _observe_turn(self, chat: ChatState, turn_id: str, before: Item, after: Item) -> None:
        item = self._decoder.turn(after)
        if not before:
            self._add_turn(chat, turn_id, after)
            return
        turn = self.turns[turn_id]
        if before == after:
            return
        require(not turn.is_over, f"13: {turn_id} is over and changes: {before} → {after}")
        require((turn.status, item.status) in _LEGAL, f"13: {turn_id} becomes {item.status} after {turn.status}")
        checkpoint = self._decoder.json(item.checkpoint) if item.checkpoint else {}
        turn.status = item.status
        if turn.is_over:
            turn.ended_at = self._cloud.scheduler.now
            turn.result = self._decoder.json(item.result)
            self.endings[f"{item.status} {(item.ending or {}).get('abortReason') or ''}".strip()] += 1
        else:
            self._check_recorded(turn, checkpoint)
            turn.checkpoint = checkpoint
        turn.item = after

    def _add_turn(self, chat: ChatState, turn_id: str, item: Item) -> None:
        stored = self._decoder.turn(item)
        head: Mapping[str, Any] = self._decoder.json(stored.head)
        open_turns = [each for each in self.turns.values() if each.head["branchId"] == head["branchId"]]
        require(all(each.is_over for each in open_turns), f"13: {turn_id} begins while another turn is open")
        key = head["exchangeId"], head["answerVariant"]
        require(key not in self._by_answer, f"1: {turn_id} reserves {key}, which another turn has reserved")
        content = self.profile_of(head)
        plan = {hook: commit_order(content, hook, head["trigger"]) for hook in (BEFORE, AFTER)}
        deadline = _seconds(stored.deadline_at)
        turn = TurnState(chat.id, turn_id, head, deadline, Ledger(turn_id, plan), item=item)
        self.turns[turn_id] = self._by_answer[key] = turn

    def profile_of(self, head: Mapping[str, Any]) -> Mapping[str, Any]:
        profile = head.get("profile")
        return self.profiles[profile["id"]] if profile and profile["enabled"] else _NO_PROFILE

    @staticmethod
    def _check_recorded(turn: TurnState, checkpoint: Mapping[str, Any]) -> None:
        """What was paid for and recorded stays."""
        text = checkpoint.get("main", {}).get("text")
        require(turn.answer in (None, text), f"12: the answer of {turn.id} was {turn.answer} and becomes {text}")
        for hook in (BEFORE, AFTER):
            results = checkpoint.get("turn", {}).get(hook.partition("_")[0], {})
            for name, result in turn.recorded(hook).items():
                is_kept = results.get(name) == result
                require(is_kept, f"12: {name} of {turn.id} was {result} and becomes {results.get(name)}")

    def _observe_event(self, _: ChatState, name: str, before: Item, after: Item) -> None:
        turn = self.turns[name.partition("#")[0]]
        require(not before, f"11: an event of {turn.id} is overwritten: {before} → {after}")
        turn.ledger.add(*self._decoder.event(after))

    def _observe_branch(self, chat: ChatState, name: str, before: Item, after: Item) -> None:
        new = self._decoder.branch(after)
        if before:
            old = chat.branches[name]
            require(new.revision == old.revision + 1, f"9: {name} has revision {new.revision} after {old.revision}")
            require(new.length in (old.length, old.length + 1), f"9: {name} has {new.length} after {old.length}")
            if old.open_turn is not None and new.open_turn != old.open_turn:
                is_over = new.open_turn is None and self.turns[old.open_turn].is_over
                require(is_over, f"13: {name} is free of {old.open_turn}, which is not over")
        chat.branches[name] = new

    def _observe_page(self, chat: ChatState, name: str, before: Item, after: Item) -> None:
        """A page that several branches have is never changed, and a change is one of one place."""
        new, old = self._decoder.page(after), chat.pages.get(name, ())
        chat.pages[name] = new
        if not before:
            return
        owners = [branch for branch, stored in chat.branches.items() if name in stored.pages]
        require(len(owners) == 1, f"9: page {name} is changed, which {owners} have")
        changed = [n for n, each in enumerate(new) if n >= len(old) or each != old[n]]
        require(len(new) >= len(old) and len(changed) <= 1, f"9: page {name} was {old} and becomes {new}")

    def _observe_exchange(self, chat: ChatState, name: str, before: Item, after: Item) -> None:
        new = self._decoder.exchange(after)
        if before:
            old = chat.exchanges[name]
            for side in ("user", "answer"):
                require(new[side][: len(old[side])] == old[side], f"9: the variants of {name}: {old} → {new}")
            is_reserved = new["lastAnswer"] >= old["lastAnswer"]
            require(is_reserved and new["position"] == old["position"], f"9: {name} was {old} and becomes {new}")
        chat.exchanges[name] = new

    def _observe_message(self, chat: ChatState, name: str, before: Item, after: Item) -> None:
        require(not before, f"9: the variant {name} is written again: {before} → {after}")
        exchange_id, side, number = name.split("#")
        variant = self._decoder.variant(after)
        chat.variants[exchange_id, side, int(number)] = variant
        if variant.kind == "rewrite":
            self._check_rewrite(chat, exchange_id, side, variant.turn_id or "", variant.based_on or 0)
        elif variant.kind == "main" and side == "answer":
            turn = self._by_answer[exchange_id, int(number)]
            require(variant.turn_id == turn.id, f"1: {turn.id} has reserved the answer of {variant.turn_id}")
            require(turn.is_over, f"1: the answer of {turn.id} is a message before its end")
            calls = self._cloud.models.calls[CallKey(exchange_id, int(number), MAIN)]
            if variant.is_complete:
                is_made = any(call.answer == variant.content for call in calls)
            else:
                is_made = any(call.written.startswith(variant.content) for call in calls)
            require(is_made, f"1: nobody has answered {variant.content} in {turn.id}: {calls}")

    def _check_rewrite(self, chat: ChatState, exchange_id: str, side: str, turn_id: str, based_on: int) -> None:
        turn = self.turns[turn_id]
        reserved = turn.head["answerVariant"] if side == "answer" else turn.head["userVariant"]
        require(based_on == reserved, f"9: {turn_id} rewrites variant {based_on} of {side}, not {reserved}")
        origin = chat.variants[exchange_id, side, based_on].kind
        require(origin != "rewrite", f"9: {turn_id} rewrites what an operation has written")

    def _observe_artifacts(self, chat: ChatState, turn_id: str, _: Item, after: Item) -> None:
        """A persisted artifact counts the turns that its session has in the path of the branch: those before its own
        exchange, and its own."""
        turn, new = self.turns[turn_id], self._decoder.artifacts(after)
        chat.artifacts[turn_id] = new
        earlier = chat.artifacts_before(turn)
        written = {each["artifact"]["tag"]: each for each in counters(self.profile_of(turn.head), turn.head["trigger"])}
        done = {each["tag"] for each in turn.result["operations"] if each["status"] == "done"}
        for tag in new.keys() | earlier.keys():
            values = [*earlier[tag].get("history", []), earlier[tag]["value"]] if tag in earlier else []
            expected: dict[str, Any] = {"value": values[-1] if values else None, "history": values[:-1]}
            if tag in done and tag in written:
                kept = written[tag]["artifact"].get("retention", {}).get("maxVersions", 20) - 1
                value = f"{values[-1]}\n{COUNTED}" if values else COUNTED
                expected = {"value": value, "history": values[-kept:] if kept else []}
            artifact = new.get(tag, {})
            found = {"value": artifact.get("value"), "history": artifact.get("history", [])}
            require(found == expected, f"10: {tag} of {turn_id} is {found}, not {expected}")

    # -- at every model call

    def check_call(self, call: ChatCall, earlier: Sequence[ChatCall]) -> None:
        """Ends the schedule itself, because the code under test might catch what is raised here."""
        self.account_pauses.check_call()
        try:
            self._check_call(call, earlier)
        except Exception as error:
            self._cloud.scheduler.fail(error)
            raise

    def _check_call(self, call: ChatCall, earlier: Sequence[ChatCall]) -> None:
        turn = self._by_answer.get((call.key.exchange_id, call.key.answer_variant))
        require(turn is not None, f"1: {call.key} is called for no turn")
        assert turn is not None
        if self._cloud.has_large_skew:
            return
        self._check_not_stopped(turn, call)
        if call.key.name == MAIN:
            self._check_main(turn, call)
        else:
            self._check_operation(turn, call.key.name)
        for other in earlier:
            is_alive = not other.invocation.is_dead
            may_repeat = other.is_over or not is_alive or other.invocation.last_fault_at is not None
            require(may_repeat, f"12: {call.key} is called twice at the same time")
            may_be_lost = other.answer is None or other.invocation.had_failure or not is_alive
            is_disturbed = other.invocation.last_fault_at is not None
            require(may_be_lost or is_disturbed, f"12: {call.key} was answered and is called again")

    def _check_not_stopped(self, turn: TurnState, call: ChatCall) -> None:
        now, disturbed_at = self._cloud.scheduler.now, call.invocation.last_fault_at
        if disturbed_at is not None and now - disturbed_at < _DISTURBANCE_SECONDS:
            return
        stops = {"its deadline": turn.deadline, "its abort": turn.abort_told_at, "its end": turn.ended_at}
        for what, at in stops.items():
            is_late = at is not None and now > at + STOP_SECONDS
            require(not is_late, f"15: {call.key} is called {now - (at or 0):.1f} s after {what}")

    def _check_main(self, turn: TurnState, call: ChatCall) -> None:
        require(turn.answer is None, f"12: the answer of {turn.id} is recorded and the model is called again")
        for each in turn.ledger.plan[BEFORE]:
            result = turn.recorded(BEFORE).get(each["id"])
            is_done = result is not None and (result["status"] == "done" or not each["required"])
            require(is_done, f"2: the main call of {turn.id} begins, and {each['id']} is recorded as {result}")
        expected = expected_prompt(self.chats[turn.chat_id], turn, self.profile_of(turn.head))
        require(list(call.prompt) == expected, f"4: {turn.id} is asked {call.prompt}, not {expected}")

    def _check_operation(self, turn: TurnState, name: str) -> None:
        hook = BEFORE if name.startswith("b") else AFTER
        operation = next(each for each in turn.ledger.plan[hook] if each["id"] == name)
        recorded = turn.recorded(hook)
        answers = turn.checkpoint.get("turn", {}).get("answers", {})
        require(name not in answers, f"12: the answer to {name} of {turn.id} is recorded and it is called again")
        require(name not in recorded, f"12: {name} of {turn.id} is recorded and is called again")
        require(hook == BEFORE or turn.answer is not None, f"12: {name} of {turn.id} begins, and no answer is recorded")
        paid = {each["id"] for each in turn.ledger.plan[hook] if each["kind"] == "llm"}
        for other in paid.intersection(operation["dependsOn"]):
            require(other in recorded, f"12: {name} of {turn.id} begins, and {other} is not recorded")


def _rank(key: Key) -> tuple[int, str]:
    pk, sk = key
    kinds = ("chat", "branch", "exchange", "page", "message", "event", "artifacts")
    kind = sk.partition("#")[0]
    return (0 if pk.endswith("#turns") else 1 + kinds.index(kind) if kind in kinds else 99), sk


def _seconds(time: str) -> float:
    return from_iso(time).timestamp() - START
