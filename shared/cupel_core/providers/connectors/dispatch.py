"""One attempt at an agent's next answer, whatever its protocol."""

from collections.abc import Awaitable, Callable

from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.addresses import hide
from cupel_core.providers.connectors import http, langgraph, openai
from cupel_core.providers.connectors.agent_client import Way, way_to
from cupel_core.providers.errors import ProviderError

type Protocol = Callable[[Connector, Conversation, Way], Awaitable[Reply]]

_PROTOCOLS: dict[ConnectorType, Protocol] = {
    ConnectorType.LANGGRAPH: langgraph.answer,
    ConnectorType.OPENAI: openai.answer,
    ConnectorType.HTTP: http.answer,
}
_SHORTEST_SECRET = 4


async def answer(account: Account, conversation: Conversation, timeout_seconds: float, allow_private: bool) -> Reply:
    """Raises `ProviderError`, whose message never tells a header's value."""
    connector = account.connector
    if connector is None:
        raise ProviderError(ErrorCode.INVALID_REQUEST, "there is no such connector", final=True)
    spoken = conversation.thread.headers if conversation.thread else {}
    way = way_to(connector, spoken, timeout_seconds, allow_private)
    try:
        return await _PROTOCOLS[connector.type](connector, conversation, way)
    except ProviderError as error:
        raise _presentable(error, way) from error.__cause__


def _presentable(error: ProviderError, way: Way) -> ProviderError:
    values = [value for value in way.headers.values() if len(value) >= _SHORTEST_SECRET]
    message = hide(error.message, values)
    return ProviderError(error.code, message, error.retry_after, error.attempts, final=error.final)
