"""The protocol of LangGraph's server: a thread holds the agent's state, and a run takes it one turn further."""

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import BaseModel, ValidationError

from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role, Thread, Usage
from cupel_core.providers.connectors.agent_client import Way, bounded, checked, failed, json_of
from cupel_core.providers.connectors.config import LangGraphConfig, read
from cupel_core.providers.errors import ProviderError, not_understood

_ROLES = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "ai"}
_BUSY = 409


async def answer(connector: Connector, conversation: Conversation, way: Way) -> Reply:
    config = read(LangGraphConfig, connector)
    thread = None if config.stateless else conversation.thread
    told = _told(conversation.messages, thread)
    run: dict[str, object] = {
        "assistant_id": config.assistant_id,
        "input": {config.input_key: told},
        "on_disconnect": "cancel",
    }
    if thread is None:
        return _read(await way.post("/runs/wait", run), config, None)
    kept = await _state_of(way, thread)
    if kept is not None and _is_answered(kept.get(config.input_key), told):
        return _read(kept, config, told)
    return _read(await _take_turn(way, thread, run), config, told)


async def _state_of(way: Way, thread: Thread) -> Mapping[str, object] | None:
    """What the thread holds while nothing runs in it. The first turn makes it; one that was lost later is an error."""
    if thread.turn:
        found = await way.get(f"/threads/{thread.id}")
    else:
        found = await way.post("/threads", {"thread_id": thread.id, "if_exists": "do_nothing"})
    state = found.get("values") if isinstance(found, dict) and found.get("status") == "idle" else None
    return state if isinstance(state, dict) else None


def _is_answered(messages: object, told: list[dict[str, object]]) -> bool:
    """Whether an earlier attempt at this turn came to its end, and only its answer was lost on the way to us.

    Were it taken again, the agent would answer its own answer.
    """
    if not told or not isinstance(messages, list):
        return False
    known = _understood(messages)
    heard = (number for number, each in enumerate(known) if each.id == told[-1]["id"])
    position = next(heard, None)
    if position is None or known[position].text != told[-1]["content"]:
        return False
    return position + 1 < len(known) and known[-1].is_answer and not known[-1].tool_calls


async def _take_turn(way: Way, thread: Thread, run: Mapping[str, object]) -> object:
    """What still runs in our thread is an earlier attempt at this turn, whose answer nobody waits for."""
    body = {**run, "multitask_strategy": "rollback"}
    answered = await way.send("POST", f"/threads/{thread.id}/runs/wait", body)
    if answered.status == _BUSY:
        raise failed("the agent is still busy with an earlier attempt in this thread")
    return json_of(checked(answered))


def _told(messages: tuple[Message, ...], thread: Thread | None) -> list[dict[str, object]]:
    """All of them at the start, later those since the last answer: the agent remembers the others.

    Their ids follow from the thread and the position, so a turn that is repeated replaces what it said before.
    """
    start = _unheard(messages) if thread is not None and thread.turn else 0
    return [
        {"type": _ROLES[message.role], "content": message.content, **_id_in(thread, start + number)}
        for number, message in enumerate(messages[start:])
    ]


def _unheard(messages: tuple[Message, ...]) -> int:
    return max((number + 1 for number, each in enumerate(messages) if each.role is Role.ASSISTANT), default=0)


def _id_in(thread: Thread | None, position: int) -> dict[str, str]:
    return {} if thread is None else {"id": str(uuid5(_space(thread.id), str(position)))}


def _space(thread_id: str) -> UUID:
    try:
        return UUID(thread_id)
    except ValueError:
        return uuid5(NAMESPACE_URL, thread_id)


class _Part(BaseModel):
    type: str = "text"
    text: str | None = None


class _Tokens(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0


class _Message(BaseModel):
    """LangChain's, which names its speaker `type`, or `role` as OpenAI does."""

    id: str | None = None
    type: str | None = None
    role: str | None = None
    content: str | list[str | _Part] = ""
    usage_metadata: _Tokens | None = None
    response_metadata: dict[str, Any] = {}
    tool_calls: list[Any] = []

    @property
    def is_answer(self) -> bool:
        return (self.type or self.role) in ("ai", "assistant", "AIMessageChunk")

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        texts = (part if isinstance(part, str) else part.text for part in self.content)
        return "".join(text or "" for text in texts)

    @property
    def usage(self) -> Usage:
        tokens = self.usage_metadata or _Tokens()
        return Usage(tokens.input_tokens, tokens.output_tokens)


def _read(state: object, config: LangGraphConfig, told: list[dict[str, object]] | None) -> Reply:
    """The last answer in the state that a run has left; the tokens are those of all answers of the turn."""
    if not isinstance(state, dict):
        raise failed("the state that the agent answered is no object")
    if "__error__" in state:
        raise failed(f"the agent failed: {_error_in(state['__error__'])}")
    answers = _answers(state.get(config.input_key), str(told[-1]["id"]) if told else None)
    if "__interrupt__" in state and not (answers and answers[-1].text):
        raise ProviderError(ErrorCode.INVALID_REQUEST, "the agent waits for a person (an interrupt)", final=True)
    if not answers:
        raise failed(f"the agent did not answer: no message of type ai in its state's {config.input_key}")
    last = answers[-1]
    version = last.response_metadata.get("model_name")
    return Reply(
        last.text,
        str(version) if version else None,
        sum((each.usage for each in answers), Usage()),
        output=bounded({name: value for name, value in state.items() if name != config.input_key}),
    )


def _error_in(error: object) -> str:
    if isinstance(error, dict):
        return f"{error.get('error', 'error')}: {error.get('message', '')}".removesuffix(": ")
    return str(error)


def _answers(messages: object, last_told: str | None) -> list[_Message]:
    """Those after the last message of ours; all where the agent keeps it under another id, or not at all."""
    known = _understood(messages) if isinstance(messages, list) else []
    start = next((number + 1 for number, each in enumerate(known) if last_told and each.id == last_told), 0)
    return [each for each in known[start:] if each.is_answer]


def _understood(messages: list[object]) -> list[_Message]:
    try:
        return [_Message.model_validate(each) for each in messages]
    except ValidationError as error:
        raise not_understood(error) from None
