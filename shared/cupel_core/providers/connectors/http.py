"""Agents with a JSON format of their own, mapped by JMESPath expressions."""

from collections.abc import Mapping

import orjson

from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers.connectors.agent_client import AgentClient, agent_error, bounded_output, raise_for_status
from cupel_core.providers.connectors.config import HttpConfig, parse_config
from cupel_core.providers.connectors.expressions import evaluate_expression
from cupel_core.providers.errors import ProviderError


async def complete(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    config = parse_config(HttpConfig, connector)
    body = raise_for_status(await client.send(config.method, config.path, _request(config, request))).body
    if config.error and (error := _read("error", config.error, body)):
        raise agent_error(f"the agent failed: {_text(error)}")
    reply = _read("reply", config.reply, body)
    if reply is None:
        raise agent_error("the expression `reply` selects nothing in the response")
    return Reply(
        _text(reply),
        thread_id=_thread_id(config, body),
        output=_output(_read("output", config.output, body) if config.output else None),
    )


def _request(config: HttpConfig, request: ModelRequest) -> object:
    thread = request.thread
    user_messages = [message.content for message in request.messages if message.role is MessageRole.USER]
    context = {
        "message": user_messages[-1] if user_messages else None,
        "messages": [{"role": str(message.role), "content": message.content} for message in request.messages],
        "conversationId": thread.id if thread else None,
        "turn": thread.turn if thread else 0,
        "persona": thread.persona if thread else None,
    }
    try:
        body = evaluate_expression(config.request, context)
    except ValueError as error:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"the expression `request`: {error}", final=True) from error
    if body is None:
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST, "the expression `request` selects nothing to send", final=True
        )
    return body


def _read(name: str, expression: str, body: object) -> object:
    try:
        return evaluate_expression(expression, body)
    except ValueError as error:
        raise agent_error(f"the expression `{name}` cannot be applied to the response: {error}") from error


def _text(value: object) -> str:
    """Text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _thread_id(config: HttpConfig, body: object) -> str | None:
    """The conversation id chosen by the agent; None keeps the current one."""
    conversation_id = _read("conversationId", config.conversation_id, body) if config.conversation_id else None
    return None if conversation_id is None else _text(conversation_id)


def _output(value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    return bounded_output(value if isinstance(value, dict) else {"value": value})
