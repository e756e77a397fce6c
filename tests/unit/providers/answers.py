"""What stands in for `http.send_request` in tests: it records requests and answers each with the same response."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from multidict import CIMultiDict

from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireRequest


@dataclass
class Answering:
    """Its address, headers and body are in `requests`."""

    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=CIMultiDict[str])
    requests: list[WireRequest] = field(default_factory=list)

    async def __call__(self, request: WireRequest) -> HttpResponse:
        self.requests.append(request)
        return HttpResponse(self.status, self.headers, self.content)


def answering(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answering:
    return Answering(status, orjson.dumps(body), CIMultiDict(headers or {}))
