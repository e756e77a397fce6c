"""Sends requests to the HTTP API, repeats some of them, and converts their responses."""

import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

from cupel.connection_problems import connection_problem
from cupel.environment import LOCAL_FILE, find_address
from cupel.errors import ApiProblem, CupelError, NotConnected, RefusedField, UsageError
from cupel.json_types import Json, TaggedJson, unsendable_field, without_none
from cupel.pages import PAGE_SIZE, Pages

type QueryValue = str | float | Sequence[str] | Sequence[int] | None
"""A boolean is an int, too, and is sent as `true` or `false`."""

ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.2
MAX_WAIT_SECONDS = 30.0
TRANSIENT = frozenset({502, 503, 504})
LIMITED = 429
"""The request was refused before anything was done."""
_NOT_FOUND = frozenset({404, 405, 501})
IN_PROGRESS = 409
"""If it has `Retry-After`, an earlier attempt with the same Idempotency-Key has not been answered yet."""


class Transport:
    """Sends requests with a token, and repeats those that failed and may be repeated."""

    def __init__(
        self,
        api_url: str,
        token: str,
        *,
        source: str = "the caller",
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self.source = source
        """For display, it names the file or environment variable that the address and token come from."""
        self._sleep = sleep
        try:
            self._http = httpx.Client(
                base_url=f"{self.api_url}/v1",
                headers={"Authorization": f"Bearer {token}"},
                timeout=httpx.Timeout(35, connect=5),  # API Gateway answers within 30 s.
                transport=transport,
                trust_env=not _is_local(self.api_url),
            )
        except httpx.InvalidURL as error:
            raise UsageError(f"{self.api_url}: {connection_problem(error)}; the address is from {source}") from error

    @classmethod
    def from_environment(cls) -> Self:
        address = find_address()
        return cls(address.api_url, address.token, source=address.source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _pages(self, path: str, *, page_size: int = PAGE_SIZE, **filters: QueryValue) -> Pages:
        return Pages(lambda limit, cursor: self._get(path, limit=limit, cursor=cursor, **filters), page_size)

    def _get(self, path: str, **query: QueryValue) -> TaggedJson:
        return self._call(self._http.build_request("GET", path, params=without_none(**query)), is_repeatable=True)

    def _send(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        has_key: bool = False,
        is_repeatable: bool = False,
        if_match: str | None = None,
        **query: QueryValue,
    ) -> TaggedJson:
        """Send an Idempotency-Key with `has_key`; repeat the request with either of `has_key` and `is_repeatable`."""
        key = str(uuid.uuid4()) if has_key else None
        headers = without_none(**{"Idempotency-Key": key, "If-Match": if_match})
        request = self._request(method, path, body, headers, without_none(**query))
        return self._call(request, is_repeatable=has_key or is_repeatable)

    def _request(
        self,
        method: str,
        path: str,
        body: Json | None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx.Request:
        try:
            return self._http.build_request(method, path, json=body, headers=headers, params=query or None)
        except ValueError:
            if (refused := unsendable_field(body)) is None:
                raise
            raise UsageError(f"{refused.field}: {refused.message}") from None

    def _put(self, url: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Upload to the bucket without the token: the address is the permission."""
        request = httpx.Request("PUT", url, content=content, headers=dict(headers))
        response = self._respond(request, is_repeatable=True)
        if not response.is_success:
            reason = re.search(r"<Message>([^<]{1,300})", response.text)
            raise CupelError(
                f"the upload was refused with status {response.status_code}{f': {reason[1]}' if reason else ''}"
            )

    def _call(self, request: httpx.Request, *, is_repeatable: bool) -> TaggedJson:
        return body_or_problem(self._respond(request, is_repeatable=is_repeatable))

    def _respond(self, request: httpx.Request, *, is_repeatable: bool) -> httpx.Response:
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            retry_after = 0.0
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                if last or not is_repeatable:
                    reason = f"{self.api_url} cannot be reached: {connection_problem(error)}"
                    raise NotConnected(f"{reason}{self._remedy(error)}") from error
            else:
                if last or not _is_to_be_repeated(response, is_repeatable=is_repeatable):
                    return response
                retry_after = retry_after_seconds(response)
            self._sleep(max(retry_after, FIRST_WAIT_SECONDS * 2 ** (attempt - 1)))
        raise AssertionError("the last attempt returns or raises")

    def _remedy(self, error: httpx.TransportError) -> str:
        """Return a remedy: a local stack does not survive a reboot, or a kill of its processes."""
        if not isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol):
            return ""
        if Path(self.source).match(str(LOCAL_FILE)):
            return "; the local stack has stopped, start it with `cupel up`"
        return f"; the address is from {self.source}"


def _is_to_be_repeated(response: httpx.Response, *, is_repeatable: bool) -> bool:
    """Return whether to repeat a request: any above the limit, and repeatable ones while the API is busy."""
    is_in_progress = response.status_code == IN_PROGRESS and "Retry-After" in response.headers
    is_busy = is_in_progress or response.status_code in TRANSIENT
    return response.status_code == LIMITED or (is_repeatable and is_busy)


def retry_after_seconds(response: httpx.Response) -> float:
    value = response.headers.get("Retry-After", "")
    return min(float(value), MAX_WAIT_SECONDS) if value.isdecimal() else 0.0


def segment(text: str) -> str:
    """Return an id or a name as one segment of a path: `../tokens/tok_1` would call another operation."""
    if not re.fullmatch(r"[\w.:-]+", text, re.ASCII) or not text.strip("."):
        raise UsageError(f"{text!r} is not a valid id: use letters, digits, '_', '-', '.' and ':'")
    return text


def _is_local(url: str) -> bool:
    """Return whether it is local: local addresses bypass the environment's proxy, which cannot reach them."""
    return httpx.URL(url).host in ("127.0.0.1", "::1", "localhost")


def body_or_problem(response: httpx.Response) -> TaggedJson:
    body = json_of(response)
    if response.is_success:
        return TaggedJson(body, response.headers.get("ETag"))
    raise ApiProblem(
        response.status_code,
        str(body.get("title") or response.reason_phrase),
        str(body.get("detail") or body.get("message") or _remedy_of_other_server(response)),
        tuple(RefusedField(str(error.get("field")), str(error.get("message"))) for error in body.get("errors") or ()),
        response.headers.get("ETag"),
        body.get("estimate"),
    )


def _remedy_of_other_server(response: httpx.Response) -> str:
    """Return what to check if the response is not one of the Cupel API, whose errors have a text."""
    url = str(response.request.url).partition("/v1/")[0]
    is_other = response.status_code in _NOT_FOUND
    return f"{url} does not answer like the Cupel API; check CUPEL_API_URL" if is_other else ""


def json_of(response: httpx.Response) -> Json:
    """Return the body, which must be a JSON object; an error may come from a gateway that answers in other formats."""
    if not response.content:
        return {}
    try:
        body = orjson.loads(response.content)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    if response.is_success:
        raise ApiProblem(502, "Not a response of the Cupel API", f"{response.request.url} did not return a JSON object")
    return {}
