"""Streamed Converse. botocore decodes the frames, in the thread that reads them."""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import bedrock
from cupel_core.providers.account import Account
from cupel_core.providers.bedrock import ClientFor
from cupel_core.providers.errors import ErrorDetail, ProviderError, refusal_error
from cupel_core.providers.reply_fields import content_of, label, mapping
from cupel_core.providers.streams.reply_stream import OnText, TextReader, check_parts

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_STATUSES = {"throttlingException": 429, "validationException": 400, "serviceUnavailableException": 503}
"""Errors within a stream have no status of their own. All others count as failures of the server."""


async def complete(
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    on_text: OnText,
    client_for: ClientFor = bedrock.client_for,
) -> Reply:
    """Make one attempt at the next message. Raise `ProviderError`. An abandoned stream ends at its next event, or when
    boto3's own timeout expires."""
    loop, is_abandoned = asyncio.get_running_loop(), threading.Event()
    reader = TextReader(ConverseReply(), lambda text: _pass_on(loop, is_abandoned, on_text, text))
    arguments = bedrock.converse_arguments(model_name, request)

    def read(client: "BedrockRuntimeClient") -> None:
        with closing(client.converse_stream(**arguments)["stream"]) as stream:
            _read(stream, reader, is_abandoned)

    try:
        await bedrock.call(read, account, timeout_seconds, now, client_for)
    finally:
        is_abandoned.set()
    return bedrock.parse(reader.body())


def _pass_on(loop: asyncio.AbstractEventLoop, is_abandoned: threading.Event, on_text: OnText, text: str) -> None:
    if not is_abandoned.is_set():
        loop.call_soon_threadsafe(on_text, text)


def _read(stream: Any, reader: TextReader, is_abandoned: threading.Event) -> None:
    from botocore.eventstream import ParserError
    from botocore.exceptions import EventStreamError
    from botocore.parsers import ResponseParserError
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    try:
        for event in stream:
            if is_abandoned.is_set():
                return
            reader.take(event)
    except EventStreamError as error:
        details = error.response.get("Error", {})
        name = details.get("Code", "")
        message = f"{name}: {details.get('Message')}"
        detail = ErrorDetail(frozenset({name}), message)
        raise refusal_error(_STATUSES.get(name, 500), detail, refused=False) from None
    except (ParserError, ResponseParserError) as error:
        message = f"malformed stream: {type(error).__name__}"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message) from None
    except HTTPError as error:
        is_timeout = isinstance(error, ReadTimeoutError)
        code = ProbeErrorCode.TIMEOUT if is_timeout else ProbeErrorCode.NETWORK
        raise ProviderError(code, f"the stream was interrupted: {type(error).__name__}") from None


class _ConverseBlock:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.call: Mapping[str, object] | None = None
        self.arguments: list[str] = []

    def body(self) -> dict[str, object]:
        """Return the block with a tool's input as text, which is parsed where the answer is read."""
        if self.call is None:
            thoughts = "".join(self.thoughts)
            if thoughts:
                return {"reasoningContent": {"reasoningText": {"text": thoughts}}}
            return {"text": "".join(self.texts)}
        return {"toolUse": {**self.call, "input": "".join(self.arguments).strip() or {}}}


class ConverseReply:
    is_over = False
    """The reply ends with the end of the stream."""

    def __init__(self) -> None:
        self._blocks: dict[int, _ConverseBlock] = {}
        self._stop_reason: str | None = None
        self._usage: Mapping[str, object] = {}

    @property
    def has_finished(self) -> bool:
        return self._stop_reason is not None

    def add(self, event: object) -> str:
        read = mapping(event)
        if "messageStop" in read:
            self._stop_reason = label(mapping(read["messageStop"]).get("stopReason")) or "unknown"
        self._usage = mapping(mapping(read.get("metadata")).get("usage")) or self._usage
        if "contentBlockStart" in read:
            started = mapping(read["contentBlockStart"])
            block = self._block(started)
            block.call = mapping(mapping(started.get("start")).get("toolUse")) or block.call
        if "contentBlockDelta" not in read:
            return ""
        piece = mapping(read["contentBlockDelta"])
        block, delta = self._block(piece), mapping(piece.get("delta"))
        text = content_of(delta.get("text")).text or ""
        block.texts.append(text)
        block.thoughts.append(content_of(mapping(delta.get("reasoningContent")).get("text")).text or "")
        block.arguments.append(content_of(mapping(delta.get("toolUse")).get("input")).text or "")
        return text

    def _block(self, piece: Mapping[str, object]) -> _ConverseBlock:
        index = piece.get("contentBlockIndex")
        block = self._blocks.setdefault(index if isinstance(index, int) else 0, _ConverseBlock())
        check_parts(len(self._blocks))
        return block

    def body(self) -> object:
        content = [block.body() for _, block in sorted(self._blocks.items())]
        return {"output": {"message": {"content": content}}, "stopReason": self._stop_reason, "usage": self._usage}
