from time import perf_counter
from uuid import uuid4

from cupel_core.domain.conversations.model_request import AgentThread, Message, MessageRole, ModelRequest
from cupel_core.domain.resources.connectors import PROVIDER, ConnectionTestResult, Connector, ConnectorType
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt
from cupel_core.providers.connectors import tools
from cupel_core.providers.errors import ProviderError

GREETING = "Hello"


TEST_CALL = "cupel_test"
"""The test calls a connector of type `tools` with this function. It may answer with an error."""


async def test_connection(
    connector: Connector,
    allow_private: bool,
    timeout_seconds: float,
    *,
    attempt: Attempt,
    prices: tuple[ModelPrice, ...],
) -> ConnectionTestResult:
    """Send a greeting to the agent, or call a function. A failure is returned, not raised. `attempt` makes the call,
    and may charge it by `prices`. No model is called for functions."""
    if connector.type is ConnectorType.TOOLS:
        return await _test_tools(connector, allow_private, timeout_seconds)
    account = Account(PROVIDER, connector.base_url, connector=connector, allow_private=allow_private, prices=prices)
    request = ModelRequest((Message(MessageRole.USER, GREETING),), thread=AgentThread(str(uuid4())))
    started_at = perf_counter()
    try:
        reply = await attempt(account, connector.target, request, timeout_seconds)
    except ProviderError as error:
        return ConnectionTestResult(False, _milliseconds_since(started_at), error=error.message)
    return ConnectionTestResult(True, _milliseconds_since(started_at), reply=reply.text)


async def _test_tools(connector: Connector, allow_private: bool, timeout_seconds: float) -> ConnectionTestResult:
    call_id = f"call_{uuid4().hex}"
    body = {"type": "tool.test", "id": call_id, "callId": "call_1", "name": TEST_CALL, "arguments": {}}
    started_at = perf_counter()
    try:
        outcome = await tools.execute(connector, call_id, body, timeout_seconds, allow_private=allow_private)
    except ProviderError as error:
        return ConnectionTestResult(False, _milliseconds_since(started_at), error=error.message)
    return ConnectionTestResult(True, _milliseconds_since(started_at), reply=outcome.content)


def _milliseconds_since(started_at: float) -> int:
    return round((perf_counter() - started_at) * 1000)
