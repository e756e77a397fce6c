"""Streamed Converse: botocore decodes the frames, in the thread that reads them."""

import asyncio
import threading
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import ValidationError

from cupel_core.domain.turns.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import bedrock
from cupel_core.providers.account import Account
from cupel_core.providers.bedrock import ClientFor
from cupel_core.providers.errors import ErrorDetail, ProviderError, malformed_reply_error, refusal_error
from cupel_core.providers.streams.reply_stream import OnText, TextReader, check_parts
from cupel_core.providers.wire_format import CamelModel

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_STATUSES = {"throttlingException": 429, "validationException": 400, "serviceUnavailableException": 503}
"""Of errors within a stream, which have none; the others are failures of the server."""


async def complete(
    account: Account,
    model_name: str,
    request: ModelRequest,
    timeout_seconds: float,
    now: datetime,
    on_text: OnText,
    client_for: ClientFor = bedrock.client_for,
) -> Reply:
    """Make one attempt at the next message. Raises `ProviderError`.

    An abandoned stream is left at its next event, or when boto3's own timeout expires.
    """
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
    try:
        return bedrock.parse(reader.body())
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise malformed_reply_error(error) from None


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


class _ToolUsePiece(CamelModel):
    tool_use_id: str = ""
    name: str = ""
    input: str = ""


class _BlockPiece(CamelModel):
    text: str = ""
    tool_use: _ToolUsePiece | None = None


class _Block(CamelModel):
    content_block_index: int = 0
    start: _BlockPiece = _BlockPiece()
    delta: _BlockPiece = _BlockPiece()


class _MessageStop(CamelModel):
    stop_reason: str | None = None


class _StreamMetadata(CamelModel):
    usage: dict[str, object] | None = None


class _ConverseEvent(CamelModel):
    content_block_start: _Block | None = None
    content_block_delta: _Block | None = None
    message_stop: _MessageStop | None = None
    metadata: _StreamMetadata | None = None


class _ConverseBlock:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.call: _ToolUsePiece | None = None
        self.arguments: list[str] = []

    def body(self) -> dict[str, object]:
        if self.call is None:
            return {"text": "".join(self.texts)}
        written = "".join(self.arguments)
        arguments = orjson.loads(written) if written.strip() else {}
        return {"toolUse": {"toolUseId": self.call.tool_use_id, "name": self.call.name, "input": arguments}}


class ConverseReply:
    is_over = False
    """The end of the stream ends it."""

    def __init__(self) -> None:
        self._blocks: dict[int, _ConverseBlock] = {}
        self._stop_reason: str | None = None
        self._usage: dict[str, object] = {}

    @property
    def has_finished(self) -> bool:
        return self._stop_reason is not None

    def add(self, event: object) -> str:
        read = _ConverseEvent.model_validate(event)
        if read.message_stop is not None:
            self._stop_reason = read.message_stop.stop_reason or "unknown"
        if read.metadata is not None:
            self._usage = read.metadata.usage or self._usage
        if read.content_block_start is not None:
            block = self._block(read.content_block_start.content_block_index)
            block.call = read.content_block_start.start.tool_use or block.call
        if read.content_block_delta is None:
            return ""
        delta = read.content_block_delta.delta
        block = self._block(read.content_block_delta.content_block_index)
        block.texts.append(delta.text)
        block.arguments.append(delta.tool_use.input if delta.tool_use is not None else "")
        return delta.text

    def _block(self, index: int) -> _ConverseBlock:
        block = self._blocks.setdefault(index, _ConverseBlock())
        check_parts(len(self._blocks))
        return block

    def body(self) -> object:
        content = [block.body() for _, block in sorted(self._blocks.items())]
        return {"output": {"message": {"content": content}}, "stopReason": self._stop_reason, "usage": self._usage}
