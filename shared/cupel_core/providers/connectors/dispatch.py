"""Calls of an agent by the protocol of its connector.

An agent has OpenAI's chat completions API, a JSON format of its own that JMESPath expressions map, or LangGraph's API
(`langgraph`). For the first two, each request can contain the whole conversation.
"""

from collections.abc import Awaitable, Callable, Mapping

import orjson

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.providers import openai
from cupel_core.providers.account import Account
from cupel_core.providers.connectors import langgraph
from cupel_core.providers.connectors.agent_client import (
    AgentClient,
    agent_client,
    agent_error,
    bounded_output,
    raise_for_status,
    sanitized,
    unreadable_reply,
)
from cupel_core.providers.connectors.config import HttpConfig, OpenAIConfig, parse_config
from cupel_core.providers.connectors.expressions import Selected, evaluate_expressions
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.http import parse_response
from cupel_core.providers.token_usage import cost_in_headers
from cupel_core.sandbox import ExpressionError


async def _complete_chat(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
    """Make one attempt at the agent's next message. Parameters of the run override the connector's settings."""
    config = parse_config(OpenAIConfig, connector)
    own = request.parameters
    effective = request.with_parameters(
        temperature=config.temperature if own.temperature is None else own.temperature,
        max_output_tokens=own.max_output_tokens or config.max_tokens,
    )
    wire_request = openai.request_for(Account("connector", connector.base_url), config.model, effective)
    body = {**config.parameters, **wire_request.body}
    response = raise_for_status(await client.send("POST", "/chat/completions", body))
    return parse_response(openai, wire_request, response, utc_now())


async def _complete_mapped(connector: Connector, request: ModelRequest, client: AgentClient) -> Reply:
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
    found = selected.get(name, Selected())
    if found.error is not None:
        raise unreadable_reply(f"the expression `{name}` cannot be applied to the response: {found.error}")
    return found.value


def _text(value: object) -> str:
    try:
        return value if isinstance(value, str) else orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        raise unreadable_reply("the response is nested too deeply") from None


def _thread_id(conversation_id: object) -> str | None:
    """Return the conversation id chosen by the agent. None does not change the current one."""
    return None if conversation_id is None else _text(conversation_id)


def _output(value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    return bounded_output(value if isinstance(value, dict) else {"value": value})


type ProtocolHandler = Callable[[Connector, ModelRequest, AgentClient], Awaitable[Reply]]

_PROTOCOLS: dict[ConnectorType, ProtocolHandler] = {
    ConnectorType.LANGGRAPH: langgraph.complete,
    ConnectorType.OPENAI: _complete_chat,
    ConnectorType.HTTP: _complete_mapped,
}


async def complete(account: Account, request: ModelRequest, timeout_seconds: float, allow_private: bool) -> Reply:
    """Make one attempt at the agent's next message. Raise `ProviderError`, whose message never contains a header
    value."""
    connector = account.connector
    if connector is None:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, "the connector does not exist", final=True)
    persona_headers = request.thread.headers if request.thread else {}
    client = agent_client(connector, persona_headers, timeout_seconds, allow_private)
    protocol = _PROTOCOLS.get(connector.type)
    if protocol is None:
        message = f"a connector of type {connector.type} answers no messages"
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, message, final=True)
    try:
        return await protocol(connector, request, client)
    except ProviderError as error:
        # An agent may have done something by the time that its reply turns out to be unreadable.
        error.final |= error.is_malformed
        raise sanitized(error, client) from error.__cause__
