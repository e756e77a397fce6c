"""One streamed reply: its text as it arrives, and in the end the body that the provider would have returned.

So every wire format has one parser, and a streamed reply equals one that was not streamed.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError, malformed_reply
from cupel_core.providers.reply_content import is_plain, loads
from cupel_core.providers.reply_limits import MAX_TEXT_LENGTH, check_length
from cupel_core.providers.streams.sse import EventDecoder

MAX_PARTS = 1_000
_DONE = b"[DONE]"
_CONTENT_TYPE = "text/event-stream"

type OnText = Callable[[str], None]


class StreamedReply(Protocol):
    """The events of one reply in a wire format. `add` raises ProviderError."""

    @property
    def has_finished(self) -> bool:
        """Return whether the answer is complete. Its usage may follow."""
        ...

    @property
    def is_over(self) -> bool:
        """Return whether the rest of the stream can be ignored."""
        ...

    def add(self, event: object) -> str:
        """Take the next event. Return the text that it adds to the answer."""
        ...

    def body(self) -> object:
        """Return the body that the provider would have returned without streaming."""
        ...


class TextReader:
    def __init__(self, reply: StreamedReply, on_text: OnText) -> None:
        self.reply = reply
        self.has_begun = False
        self._on_text = on_text
        self._length = 0

    def take(self, event: object) -> None:
        """Take an event. Raise ProviderError for one that is an error, is malformed, or makes the answer too long."""
        try:
            text = self.reply.add(event)
        except ProviderError as error:
            error.refused = error.refused and not self.has_begun
            raise
        self.has_begun = True
        if text:
            self._length += len(text)
            check_length("the answer", self._length, MAX_TEXT_LENGTH)
            self._on_text(text)

    def body(self) -> object:
        """Return the body. Raise ProviderError if the stream has ended before the answer was complete."""
        if not self.reply.has_finished:
            raise ProviderError(ProbeErrorCode.NETWORK, "the stream ended before the answer was complete")
        return self.reply.body()


class ReplyStream:
    def __init__(self, reply: StreamedReply, on_text: OnText) -> None:
        self._reader = TextReader(reply, on_text)
        self._decoder = EventDecoder()
        self._is_done = False
        self.is_used = False
        """False for a response that is not a stream: some servers ignore the request to stream."""

    def reads(self, headers: Mapping[str, str]) -> bool:
        """Return whether a response with these headers is a stream, whose content must then be passed to `feed`."""
        self.is_used = is_plain(headers) and headers.get("content-type", "").lower().startswith(_CONTENT_TYPE)
        return self.is_used

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes. Return whether more should be read."""
        return self._take(self._decoder.feed(chunk))

    def body(self) -> object:
        if not self._is_done:
            self._take(self._decoder.finish())
        return self._reader.body()

    def _take(self, events: list[bytes]) -> bool:
        for data in events:
            if self._is_done:
                break
            if data.strip() == _DONE:
                self._is_done = True
            elif data.strip():
                self._reader.take(_parse(data))
                self._is_done = self._reader.reply.is_over
        return not self._is_done


def _parse(data: bytes) -> object:
    try:
        return loads(data.decode(errors="replace"))
    except ValueError as error:
        raise malformed_reply(f"an event of the stream is not JSON: {error}") from None


def check_parts(count: int) -> None:
    """Raise ProviderError for more parts than a reply may have."""
    if count > MAX_PARTS:
        message = f"the answer has more than {MAX_PARTS:,} parts"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True)
