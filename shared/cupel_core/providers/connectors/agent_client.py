"""The way to an agent: its address, the headers of the connector and of the persona, and the limits."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from cupel_core.clock import utc_now
from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers.addresses import hide
from cupel_core.providers.errors import ProviderError, error_of_response, not_understood
from cupel_core.providers.safe_http import Answer, send

MAX_OUTPUT_BYTES = 65_536
"""Of what a reply keeps beside its text."""

_CREDENTIAL = re.compile(r"auth|cookie|key|token|secret|session|password|signature", re.I)
_SHORTEST = 8


@dataclass(frozen=True)
class Way:
    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    timeout_seconds: float
    allow_private: bool

    async def send(self, method: str, path: str, body: object) -> Answer:
        """Any status is an answer, in which the agent may not repeat what it was trusted with."""
        answer = await send(
            method,
            f"{self.base_url.rstrip('/')}{path}",
            body,
            self.headers,
            timeout_seconds=self.timeout_seconds,
            allow_private=self.allow_private,
        )
        return Answer(answer.status, answer.headers, _without(answer.content, _credentials(self.headers)))

    async def get(self, path: str) -> object:
        """The JSON of a 2xx."""
        return json_of(checked(await self.send("GET", path, None)))

    async def post(self, path: str, body: object) -> object:
        """The JSON of a 2xx."""
        return json_of(checked(await self.send("POST", path, body)))


def way_to(connector: Connector, spoken: Mapping[str, str], timeout_seconds: float, allow_private: bool) -> Way:
    """`spoken` are the headers of the persona that speaks; they go over the connector's."""
    over = {name.lower() for name in spoken}
    headers = {name: value for name, value in connector.headers.items() if name.lower() not in over}
    return Way(connector.base_url, {**headers, **spoken}, timeout_seconds, allow_private)


def checked(answer: Answer) -> Answer:
    if not answer.ok:
        raise error_of_response(answer.status, answer.headers, answer.content, utc_now())
    return answer


def json_of(answer: Answer) -> object:
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError as error:
        raise not_understood(error) from None


def failed(why: str) -> ProviderError:
    """The agent's own failure: another try may go better."""
    return ProviderError(ErrorCode.PROVIDER_ERROR, why)


def bounded(output: Mapping[str, object]) -> Mapping[str, object] | None:
    """What a reply keeps beside its text; None for nothing, a note in place of too much."""
    if not output:
        return None
    size = len(orjson.dumps(output))
    return output if size <= MAX_OUTPUT_BYTES else {"omitted": f"{size} bytes; at most {MAX_OUTPUT_BYTES} are kept"}


def _credentials(headers: Mapping[str, str]) -> Iterable[str]:
    """Not every value: a header may also name a language or a tenant, of which an agent may well speak."""
    values = [value for name, value in headers.items() if _CREDENTIAL.search(name)]
    return [each for value in values for each in (value, value.rpartition(" ")[2]) if len(each) >= _SHORTEST]


def _without(content: bytes, secrets: Iterable[str]) -> bytes:
    if not any(secret.encode() in content for secret in secrets):
        return content
    return hide(content.decode(errors="replace"), secrets).encode()
