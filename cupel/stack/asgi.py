from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

type AsgiMessage = MutableMapping[str, Any]
type Scope = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[AsgiMessage]]
type Send = Callable[[AsgiMessage], Awaitable[None]]
type Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class BodyTooLargeError(Exception):
    """The rest of the body was not read."""


async def read_body(receive: Receive, max_bytes: int | None = None) -> bytes:
    """Read the whole body. Raises BodyTooLargeError as soon as it has more bytes."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if max_bytes is not None and size > max_bytes:
            raise BodyTooLargeError
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    bodies = [body]

    async def receive_again() -> AsgiMessage:
        return {"type": "http.request", "body": bodies.pop(), "more_body": False} if bodies else await receive()

    return receive_again
