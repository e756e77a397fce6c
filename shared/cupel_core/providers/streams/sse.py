"""Server-sent events, decoded from bytes that arrive in any pieces."""

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError

MAX_EVENT_BYTES = 4_000_000
"""An event may be as large as a whole answer that is not streamed."""
MAX_STREAM_BYTES = 64_000_000
"""A token takes some 300 bytes of a stream."""
_DATA = b"data"


class EventDecoder:
    """Returns the data of each event once it is complete. Names and ids of events are ignored."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES, max_stream_bytes: int = MAX_STREAM_BYTES) -> None:
        self._max_event_bytes, self._max_stream_bytes = max_event_bytes, max_stream_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._event_bytes = 0
        self._stream_bytes = 0
        self._follows_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of the events that end in this piece. Raise ProviderError if it is too large."""
        self._stream_bytes += len(chunk)
        _check_size(self._stream_bytes, self._max_stream_bytes)
        if not chunk:
            return []
        if self._follows_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._follows_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[bytes] = []
        for part in ended:
            self._line += part
            self._end_line(events)
        self._line += rest
        _check_size(self._event_bytes + len(self._line), self._max_event_bytes)
        return events

    def finish(self) -> list[bytes]:
        """Return the last event, which some servers do not end by a blank line."""
        events: list[bytes] = []
        self._end_line(events)
        self._end_event(events)
        return events

    def _end_line(self, events: list[bytes]) -> None:
        line = bytes(self._line)
        self._line.clear()
        if not line:
            self._end_event(events)
            return
        self._event_bytes += len(line)
        _check_size(self._event_bytes, self._max_event_bytes)
        name, _, value = line.partition(b":")
        if name == _DATA:
            self._data.append(value.removeprefix(b" "))

    def _end_event(self, events: list[bytes]) -> None:
        if self._data:
            events.append(b"\n".join(self._data))
        self._data.clear()
        self._event_bytes = 0


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        message = f"the streamed response is larger than {limit} bytes"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True)
