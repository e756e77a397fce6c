"""Agents with a JSON format of their own, mapped by JMESPath expressions."""

from collections.abc import Mapping

import orjson

from cupel_core.domain.conversations.model_request import MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.resources.connectors import Connector
from cupel_core.providers.connectors.agent_client import (
    AgentClient,
    agent_error,
    bounded_output,
    raise_for_status,
    unreadable_reply,
)
from cupel_core.providers.connectors.config import HttpConfig, parse_config
from cupel_core.providers.connectors.expressions import Selected, evaluate_expressions
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.token_usage import cost_in_headers
from cupel_core.sandbox import ExpressionError


async def complete(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    config = parse_config(HttpConfig, connector)
    response = raise_for_status(await client.send(config.method, config.path, await _request(config, request)))
    expressions = {
        "error": config.error,
        "reply": config.reply,
        "conversationId": config.conversation_id,
        "output": config.output,
    }
    present = {name: expression for name, expression in expressions.items() if expression}
    selected = await _evaluate(present, response.body, len(response.content))
    if error := _value(selected, "error"):
        raise agent_error(f"the agent failed: {_text(error)}")
    reply = _value(selected, "reply")
    if reply is None:
        raise unreadable_reply("the expression `reply` selects nothing in the response")
    return Reply(
        _text(reply),
        cost_usd=cost_in_headers(response.headers),
        thread_id=_thread_id(_value(selected, "conversationId")),
        output=_output(_value(selected, "output")),
    )


async def _request(config: HttpConfig, request: ModelRequest) -> object:
    thread = request.thread
    user_messages = [message.content for message in request.messages if message.role is MessageRole.USER]
    context = {
        "message": user_messages[-1] if user_messages else None,
        "messages": [{"role": str(message.role), "content": message.content} for message in request.messages],
        "conversationId": thread.id if thread else None,
        "turn": thread.turn if thread else 0,
        "persona": thread.persona if thread else None,
        "vars": dict(thread.variables) if thread else {},
    }
    size = sum(len(message.content) for message in request.messages) + len(str(context["vars"]))
    selected = (await _evaluate({"request": config.request}, context, size))["request"]
    if selected.error is not None:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"the expression `request`: {selected.error}", final=True)
    if selected.value is None:
        raise ProviderError(
            ProbeErrorCode.INVALID_REQUEST, "the expression `request` selects nothing to send", final=True
        )
    return selected.value


async def _evaluate(expressions: Mapping[str, str], value: object, size: int) -> dict[str, Selected]:
    try:
        return await evaluate_expressions(expressions, value, size)
    except ExpressionError as error:
        names = ", ".join(f"`{name}`" for name in expressions)
        message = f"computing the connector's expressions ({names}) {error}"
        raise ProviderError(ProbeErrorCode.EXPRESSION_LIMIT, message, final=True) from None


def _value(selected: Mapping[str, Selected], name: str) -> object:
    """What the expression selects; None if the connector has none."""
    found = selected.get(name, Selected())
    if found.error is not None:
        raise unreadable_reply(f"the expression `{name}` cannot be applied to the response: {found.error}")
    return found.value


def _text(value: object) -> str:
    """Text unchanged, any other value as JSON."""
    try:
        return value if isinstance(value, str) else orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        raise unreadable_reply("the response is nested too deeply") from None


def _thread_id(conversation_id: object) -> str | None:
    """The conversation id chosen by the agent; None keeps the current one."""
    return None if conversation_id is None else _text(conversation_id)


def _output(value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    return bounded_output(value if isinstance(value, dict) else {"value": value})
