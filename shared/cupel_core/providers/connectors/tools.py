"""Connectors of type `tools`: a signed POST executes one call of a function."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from pydantic import ValidationError

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.conversations.tool_results import MAX_RESULT_LENGTH, ToolOutcome, as_content
from cupel_core.domain.resources.connectors import SECRET_HEADER, Connector
from cupel_core.domain.resources.webhooks import sign
from cupel_core.domain.text.storable import storable
from cupel_core.providers.connectors.agent_client import (
    AgentClient,
    agent_client,
    parse_json,
    raise_for_status,
    sanitized,
)
from cupel_core.providers.connectors.config import ToolsConfig, parse_config
from cupel_core.providers.errors import ProviderError, malformed_reply_error
from cupel_core.providers.wire_format import WireModel

MAX_ERROR_LENGTH = 10_000


class _ToolAnswer(WireModel):
    result: Any = None
    error: str | None = None


async def execute(
    connector: Connector, call_id: str, body: Mapping[str, Any], timeout_seconds: float, *, allow_private: bool
) -> ToolOutcome:
    """Make one attempt at a call. `call_id` is the same in all attempts. Raise `ProviderError` if the answer is neither
    a result nor an error of the function."""
    config = parse_config(ToolsConfig, connector)
    client = _client(connector, min(timeout_seconds, config.timeout_seconds), allow_private)
    signed = _signed(client, connector.headers, call_id, body)
    try:
        return _outcome(parse_json(raise_for_status(await signed.send("POST", config.path, body))))
    except ProviderError as error:
        raise sanitized(error, signed) from error.__cause__


def _client(connector: Connector, timeout_seconds: float, allow_private: bool) -> AgentClient:
    sent = {name: value for name, value in connector.headers.items() if name.lower() != SECRET_HEADER}
    return agent_client(replace(connector, headers=sent), {}, timeout_seconds, allow_private)


def _signed(client: AgentClient, headers: Mapping[str, str], call_id: str, body: Mapping[str, Any]) -> AgentClient:
    secret = next((value for name, value in headers.items() if name.lower() == SECRET_HEADER), None)
    now = utc_now()
    signature = (
        {"webhook-id": call_id, "webhook-timestamp": str(int(now.timestamp()))}
        if secret is None
        else sign(secret, call_id, now, orjson.dumps(body))
    )
    return replace(client, headers={**client.headers, **signature})


def _outcome(answer: object) -> ToolOutcome:
    try:
        parsed = _ToolAnswer.model_validate(answer, strict=True)
    except ValidationError as error:
        raise malformed_reply_error(error) from None
    if (parsed.error is None) == ("result" not in parsed.model_fields_set):
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, "the response must have exactly one of result and error")
    if parsed.error is not None:
        return ToolOutcome(storable(parsed.error, MAX_ERROR_LENGTH), is_error=True)
    content = as_content(parsed.result)
    if len(content) > MAX_RESULT_LENGTH:
        message = f"the result has {len(content):,} characters; at most {MAX_RESULT_LENGTH:,} are accepted"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True)
    return ToolOutcome(content)
