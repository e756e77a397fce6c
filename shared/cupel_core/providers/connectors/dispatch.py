"""Calls an agent by the protocol of its connector."""

from collections.abc import Awaitable, Callable

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.providers.account import Account
from cupel_core.providers.connectors import http, langgraph, openai
from cupel_core.providers.connectors.agent_client import AgentClient, agent_client, sanitized
from cupel_core.providers.errors import ProviderError

type ProtocolHandler = Callable[[Connector, ModelRequest, AgentClient], Awaitable[Reply]]

_PROTOCOLS: dict[ConnectorType, ProtocolHandler] = {
    ConnectorType.LANGGRAPH: langgraph.complete,
    ConnectorType.OPENAI: openai.complete,
    ConnectorType.HTTP: http.complete,
}


async def complete(account: Account, request: ModelRequest, timeout_seconds: float, allow_private: bool) -> Reply:
    """Make one attempt at the agent's next message.

    Raises `ProviderError`, whose message never contains a header value.
    """
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
