"""What the main call of a turn must be asked, told from what is stored."""

from collections.abc import Iterator, Mapping
from typing import Any

from cupel_core.domain.chats.chats import DEFAULT_HISTORY_LIMIT
from tests.simulation.chats.profiles import BEFORE, Operation
from tests.simulation.chats.state import ChatState, TurnState


def expected_prompt(chat: ChatState, turn: TurnState, content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Roles and texts."""
    results, head = turn.recorded(BEFORE), turn.head
    done = [(each, results[each["id"]]["value"]) for each in turn.ledger.plan[BEFORE] if _is_done(results, each)]
    system = [
        head["settings"].get("system") or "",
        *_included(chat, turn, content),
        *_inserted(done, "prompt.system_update"),
    ]
    leading = "\n\n".join(text for text in system if text)
    user = chat.variants[head["exchangeId"], "user", head["userVariant"]].content
    user = next(reversed([user, *_inserted(done, "turn.user.rewrite")]))
    after = [("system", text) for text in _inserted(done, "prompt.append_after_last_user")]
    return [*([("system", leading)] if leading else []), *_history(chat, turn), ("user", user), *after]


def _history(chat: ChatState, turn: TurnState) -> Iterator[tuple[str, str]]:
    path = chat.path(turn.head["branchId"])[: turn.head["position"]]
    for pointer in path[-turn.head["settings"].get("historyLimit", DEFAULT_HISTORY_LIMIT) :]:
        for side, role in (("user", "user"), ("answer", "assistant")):
            if (number := pointer.shows(side)) is not None:
                yield role, chat.variants[pointer.exchange_id, side, number].content


def _included(chat: ChatState, turn: TurnState, content: Mapping[str, Any]) -> Iterator[str]:
    """Of persisted artifacts what there is, of others what this turn has made."""
    stored, results = chat.artifacts_before(turn), turn.recorded(BEFORE)
    enabled = (each for each in content["operations"] if each["enabled"] and "inclusion" in each["artifact"])
    for each in sorted(enabled, key=lambda operation: (operation["order"], operation["id"])):
        value = results[each["id"]]["value"] if _is_done(results, each) else None
        if value is None and each["artifact"]["tag"] in stored:
            value = stored[each["artifact"]["tag"]]["value"]
        if value is not None:
            yield value


def _inserted(done: list[tuple[Operation, str]], effect: str) -> list[str]:
    return [value for operation, value in done if any(each["type"] == effect for each in operation["effects"])]


def _is_done(results: Mapping[str, Any], operation: Operation) -> bool:
    return bool(results.get(operation["id"], {}).get("status") == "done")
