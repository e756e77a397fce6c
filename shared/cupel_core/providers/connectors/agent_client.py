"""The HTTP client for an agent: its address, the headers of the connector and the persona, and limits."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

import orjson

from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.resources.connectors import Connector
from cupel_core.providers.addresses import redact
from cupel_core.providers.errors import ProviderError, error_from_response
from cupel_core.providers.reply_content import read_json
from cupel_core.providers.safe_http import HttpResponse, send

MAX_OUTPUT_BYTES = 65_536
"""The limit of the output that a reply stores beside its text."""

_CREDENTIAL_HEADER = re.compile(r"auth|cookie|key|token|secret|session|password|signature", re.I)
_MIN_CREDENTIAL_LENGTH = 8
_MIN_SECRET_LENGTH = 4


@dataclass(frozen=True)
class AgentClient:
    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    timeout_seconds: float
    allow_private: bool

    async def send(self, method: str, path: str, body: object) -> HttpResponse:
        """Send one request and return the response, whatever its status, with credentials redacted from its content."""
        response = await send(
            method,
            f"{self.base_url.rstrip('/')}{path}",
            body,
            self.headers,
            timeout_seconds=self.timeout_seconds,
            allow_private=self.allow_private,
        )
        return HttpResponse(response.status, response.headers, _redact(response.content, _credentials(self.headers)))

    async def get(self, path: str) -> object:
        return parse_json(raise_for_status(await self.send("GET", path, None)))

    async def post(self, path: str, body: object) -> object:
        """Return the JSON of the response. Raise `ProviderError` for a status other than 2xx."""
        return parse_json(raise_for_status(await self.send("POST", path, body)))


def agent_client(
    connector: Connector, persona_headers: Mapping[str, str], timeout_seconds: float, allow_private: bool
) -> AgentClient:
    """Return the client for an agent. Headers of the persona override the connector's."""
    overridden = {name.lower() for name in persona_headers}
    headers = {name: value for name, value in connector.headers.items() if name.lower() not in overridden}
    return AgentClient(connector.base_url, {**headers, **persona_headers}, timeout_seconds, allow_private)


def sanitized(error: ProviderError, client: AgentClient) -> ProviderError:
    message = redact(error.message, [value for value in client.headers.values() if len(value) >= _MIN_SECRET_LENGTH])
    after, attempts = error.retry_after_seconds, error.attempts
    return ProviderError(
        error.code,
        message,
        after,
        attempts,
        final=error.final,
        refused=error.refused,
        is_malformed=error.is_malformed,
        usage=error.usage,
        cost_usd=error.cost_usd,
        repair=error.repair,
    )


def raise_for_status(response: HttpResponse) -> HttpResponse:
    """Return the response if its status is 2xx. Raise `ProviderError` otherwise."""
    if not response.ok:
        raise error_from_response(response.status, response.headers, response.content, utc_now())
    return response


def parse_json(response: HttpResponse) -> object:
    return read_json(response.content, response.headers, response.status)


def agent_error(reason: str) -> ProviderError:
    """Return the error for a failure of the agent itself, which a retry may resolve."""
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, reason)


def unreadable_reply(reason: str) -> ProviderError:
    """Return the error for a reply without an answer. It is not retried, because the agent's work may have had
    effects."""
    return ProviderError(ProbeErrorCode.PROVIDER_ERROR, reason, final=True)


def bounded_output(output: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the output that a reply stores. It is None if empty, and only a note of its size beyond the limit."""
    if not output:
        return None
    try:
        size = len(orjson.dumps(output))
    except orjson.JSONEncodeError:
        return {"omitted": "it is nested too deeply"}
    return output if size <= MAX_OUTPUT_BYTES else {"omitted": f"{size} bytes; at most {MAX_OUTPUT_BYTES} are stored"}


def _credentials(headers: Mapping[str, str]) -> Iterable[str]:
    """Yield the values of credential headers only. Others may name a language or a tenant, which an agent may
    mention."""
    values = [value for name, value in headers.items() if _CREDENTIAL_HEADER.search(name)]
    return [
        part for value in values for part in (value, value.rpartition(" ")[2]) if len(part) >= _MIN_CREDENTIAL_LENGTH
    ]


def _redact(content: bytes, secrets: Iterable[str]) -> bytes:
    if not any(secret.encode() in content for secret in secrets):
        return content
    return redact(content.decode(errors="replace"), secrets).encode()
