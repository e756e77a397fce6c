from collections.abc import Iterable
from typing import Annotated, Any, Literal

from cupel_core.base.errors import RetryableError
from cupel_core.contract.operation import Rendered
from cupel_core.contract.payloads import MAX_PAGE_BYTES, bounded_json, payload_bytes
from cupel_core.contract.query import Parameter

After = Annotated[str | None, Parameter(min_length=1, max_length=200)]
Limit = Annotated[int, Parameter(ge=1, le=100)]
Order = Annotated[Literal["asc", "desc"], Parameter()]
DEFAULT_LIMIT = 20


def document_page(documents: Iterable[dict[str, Any]], limit: int) -> Rendered[Any]:
    """Return at most `limit` documents, fewer if they are large, and read one more to say whether there are more.

    A RetryableError after the first document ends the page. Clients stop at an empty page, so a page may not be empty.
    """
    ids: list[str] = []
    rendered: list[bytes] = []
    size, has_more = 0, False
    try:
        for document in documents:
            json = bounded_json(document)
            size += payload_bytes(json)
            if len(rendered) == limit or (rendered and size > MAX_PAGE_BYTES):
                has_more = True
                break
            ids.append(document["id"])
            rendered.append(json)
    except RetryableError:
        if not rendered:
            raise
        has_more = True
    ends = b'"first_id":%b,"last_id":%b' % (_quoted(ids[:1]), _quoted(ids[-1:]))
    more = b"true" if has_more else b"false"
    return Rendered(b'{"object":"list","data":[%b],%b,"has_more":%b}' % (b",".join(rendered), ends, more))


def _quoted(ids: list[str]) -> bytes:
    return b'"%b"' % ids[0].encode() if ids else b"null"
