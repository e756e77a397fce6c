"""Whether an agent can be talked to: one message, and what comes back."""

from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

from cupel_core.domain.resources.connectors import PROVIDER, Connector
from cupel_core.domain.turns.model_request import Conversation, Message, Role, Thread
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError

GREETING = "Hello"


@dataclass(frozen=True)
class Tried:
    """`reply` when it is ok, else `error`."""

    ok: bool
    latency_ms: int
    reply: str | None = None
    error: str | None = None


async def try_out(connector: Connector, allow_private: bool, timeout_seconds: float) -> Tried:
    account = Account(PROVIDER, connector.base_url, connector=connector, allow_private=allow_private)
    conversation = Conversation((Message(Role.USER, GREETING),), thread=Thread(str(uuid4())))
    started = perf_counter()
    try:
        reply = await complete(account, connector.target, conversation, timeout_seconds)
    except ProviderError as error:
        return Tried(False, _milliseconds_since(started), error=error.message)
    return Tried(True, _milliseconds_since(started), reply=reply.text)


def _milliseconds_since(started: float) -> int:
    return round((perf_counter() - started) * 1000)
