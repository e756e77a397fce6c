"""The protocol of the LangGraph server: a thread stores the agent's state, and a run advances it by one turn."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    Usage,
)
from cupel_core.domain.resources.connectors import Connector
from cupel_core.providers import openai
from cupel_core.providers.connectors.agent_client import (
    AgentClient,
    agent_error,
    bounded_output,
    parse_json,
    raise_for_status,
    unreadable_reply,
)
from cupel_core.providers.connectors.config import LangGraphConfig, parse_config
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_fields import Content, content_of, label, mapping, mappings
from cupel_core.providers.token_usage import langchain_usage

_ROLES = {MessageRole.SYSTEM: "system", MessageRole.USER: "human", MessageRole.ASSISTANT: "ai"}
_BUSY = 409


async def complete(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    config = parse_config(LangGraphConfig, connector)
    thread = None if config.stateless else request.thread
    new_messages = _new_messages(request.messages, thread)
    run: dict[str, object] = {
        "assistant_id": config.assistant_id,
        "input": {config.input_key: new_messages},
        "on_disconnect": "cancel",
    }
    if thread is None:
        return _read(await client.post("/runs/wait", run), config, None)
    state = await _idle_state(client, thread)
    if state is not None and _is_answered(state.get(config.input_key), new_messages):
        return _read(state, config, new_messages)
    return _read(await _run_turn(client, thread, run), config, new_messages)


async def _idle_state(client: AgentClient, thread: AgentThread) -> Mapping[str, object] | None:
    """Return the state of the thread, or None while a run is active in it. The first turn creates the thread. On a
    later turn a missing thread is an error."""
    if thread.turn:
        response = await client.get(f"/threads/{thread.id}")
    else:
        response = await client.post("/threads", {"thread_id": thread.id, "if_exists": "do_nothing"})
    state = response.get("values") if isinstance(response, dict) and response.get("status") == "idle" else None
    return state if isinstance(state, dict) else None


def _is_answered(messages: object, new_messages: list[dict[str, object]]) -> bool:
    """Return whether an earlier attempt at this turn finished and only its response was lost. Repeating such a turn
    would make the agent respond to its own answer."""
    if not new_messages or not isinstance(messages, list):
        return False
    parsed = _parse_messages(messages)
    last = new_messages[-1]
    position = next((index for index, message in enumerate(parsed) if message.id == last["id"]), None)
    if position is None or parsed[position].text != last["content"]:
        return False
    return position + 1 < len(parsed) and parsed[-1].is_answer and not parsed[-1].has_calls


async def _run_turn(client: AgentClient, thread: AgentThread, run: Mapping[str, object]) -> object:
    """Run the turn. It replaces an earlier attempt that still runs in the thread and has no caller any more."""
    body = {**run, "multitask_strategy": "rollback"}
    response = await client.send("POST", f"/threads/{thread.id}/runs/wait", body)
    if response.status == _BUSY:
        raise agent_error("the agent is still busy with an earlier attempt in this thread")
    return parse_json(raise_for_status(response))


def _new_messages(messages: tuple[Message, ...], thread: AgentThread | None) -> list[dict[str, object]]:
    """Return the messages to send: all on the first turn, later those since the last answer, as the thread has the
    others. Message ids are derived from the thread and the position, so a repeated turn replaces its earlier
    messages."""
    start = _index_after_last_answer(messages) if thread is not None and thread.turn else 0
    return [
        {"type": _ROLES[message.role], "content": message.content, **_message_id(thread, start + number)}
        for number, message in enumerate(messages[start:])
    ]


def _index_after_last_answer(messages: tuple[Message, ...]) -> int:
    return max(
        (index + 1 for index, message in enumerate(messages) if message.role is MessageRole.ASSISTANT), default=0
    )


def _message_id(thread: AgentThread | None, position: int) -> dict[str, str]:
    return {} if thread is None else {"id": str(uuid5(_namespace(thread.id), str(position)))}


def _namespace(thread_id: str) -> UUID:
    try:
        return UUID(thread_id)
    except ValueError:
        return uuid5(NAMESPACE_URL, thread_id)


class _Message(NamedTuple):
    """A LangChain message. Its role is in `type`, or in `role` as in OpenAI's format."""

    id: str | None
    role: str | None
    content: Content
    usage: Usage | None
    has_calls: bool
    model: str | None

    @property
    def is_answer(self) -> bool:
        return self.role in ("ai", "assistant", "AIMessageChunk")

    @property
    def text(self) -> str:
        return self.content.text or ""


def _message(value: object) -> _Message:
    fields = mapping(value)
    more, metadata = mapping(fields.get("additional_kwargs")), mapping(fields.get("response_metadata"))
    content = content_of(fields.get("content"))
    return _Message(
        id=label(fields.get("id")),
        role=label(fields.get("type")) or label(fields.get("role")),
        content=Content(content.text, content.reasoning or openai.reasoning_of(more)),
        usage=langchain_usage(fields.get("usage_metadata")),
        has_calls=bool(mappings(fields.get("tool_calls"))),
        model=label(metadata.get("model_name")),
    )


def _read(state: object, config: LangGraphConfig, new_messages: list[dict[str, object]] | None) -> Reply:
    """Read the reply of a run from the state it returned: the last answer, with the tokens of all answers of the
    turn."""
    if not isinstance(state, dict):
        raise unreadable_reply("the state returned by the agent is not an object")
    if "__error__" in state:
        raise agent_error(f"the agent failed: {_error_text(state['__error__'])}")
    answers = _answers(state.get(config.input_key), str(new_messages[-1]["id"]) if new_messages else None)
    if "__interrupt__" in state and not (answers and answers[-1].text):
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST, "the agent waits for human input (an interrupt)", final=True
        )
    if not answers:
        message = f"the agent did not answer: {config.input_key} in its state has no new message of type ai"
        raise unreadable_reply(message)
    last = answers[-1]
    return Reply(
        last.text,
        last.model,
        _usage(answers),
        reasoning=last.content.reasoning,
        output=bounded_output({name: value for name, value in state.items() if name != config.input_key}),
    )


def _usage(answers: list[_Message]) -> Usage | None:
    reported = [answer.usage for answer in answers if answer.usage is not None]
    return sum(reported, Usage()) if len(reported) == len(answers) else None


def _error_text(error: object) -> str:
    if isinstance(error, dict):
        return f"{error.get('error', 'error')}: {error.get('message', '')}".removesuffix(": ")
    return str(error)


def _answers(messages: object, last_sent_id: str | None) -> list[_Message]:
    """Return the answers after the last sent message, or all if that message is not in the state under its id."""
    parsed = _parse_messages(messages) if isinstance(messages, list) else []
    start = next((n + 1 for n, message in enumerate(parsed) if last_sent_id and message.id == last_sent_id), 0)
    return [message for message in parsed[start:] if message.is_answer]


def _parse_messages(messages: list[object]) -> list[_Message]:
    return list(map(_message, messages))
