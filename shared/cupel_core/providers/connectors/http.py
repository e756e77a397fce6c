"""Agents with a JSON format of their own, mapped by JMESPath expressions."""

from collections.abc import Mapping

import orjson

from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply, Role
from cupel_core.providers.connectors.agent_client import Way, bounded, checked, failed
from cupel_core.providers.connectors.config import HttpConfig, read
from cupel_core.providers.connectors.expressions import found
from cupel_core.providers.errors import ProviderError


async def answer(connector: Connector, conversation: Conversation, way: Way) -> Reply:
    config = read(HttpConfig, connector)
    answered = checked(await way.send(config.method, config.path, _request(config, conversation))).body
    if config.error and (error := _read("error", config.error, answered)):
        raise failed(f"the agent failed: {_text(error)}")
    said = _read("reply", config.reply, answered)
    if said is None:
        raise failed("the expression `reply` finds nothing in the answer")
    return Reply(
        _text(said),
        thread_id=_thread_id(config, answered),
        output=_output(_read("output", config.output, answered) if config.output else None),
    )


def _request(config: HttpConfig, conversation: Conversation) -> object:
    thread = conversation.thread
    spoken = [message.content for message in conversation.messages if message.role is Role.USER]
    known = {
        "message": spoken[-1] if spoken else None,
        "messages": [{"role": str(each.role), "content": each.content} for each in conversation.messages],
        "conversationId": thread.id if thread else None,
        "turn": thread.turn if thread else 0,
        "persona": thread.persona if thread else None,
    }
    try:
        body = found(config.request, known)
    except ValueError as error:
        raise ProviderError(ErrorCode.INVALID_REQUEST, f"the expression `request`: {error}", final=True) from error
    if body is None:
        raise ProviderError(ErrorCode.INVALID_REQUEST, "the expression `request` makes nothing to send", final=True)
    return body


def _read(name: str, expression: str, answered: object) -> object:
    try:
        return found(expression, answered)
    except ValueError as error:
        raise failed(f"the expression `{name}` does not fit the answer: {error}") from error


def _text(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _thread_id(config: HttpConfig, answered: object) -> str | None:
    """None leaves the conversation the id that it has."""
    named = _read("conversationId", config.conversation_id, answered) if config.conversation_id else None
    return None if named is None else _text(named)


def _output(value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    return bounded(value if isinstance(value, dict) else {"value": value})
