import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.errors import ClientError, Forbidden, TooLarge
from cupel_core.interfaces.gateway.problems import UnsupportedContentEncoding, UnsupportedContentType
from cupel_core.store.settings import settings

EDGE_HEADER = "x-cupel-edge"
VIEWER_HOST_HEADER = "x-cupel-host"
"""`deploy/edge.yaml` sends the host that the caller knows."""


def check_edge(headers: Mapping[str, str]) -> None:
    digest = hashlib.sha256(headers.get(EDGE_HEADER, "").encode()).hexdigest()
    expected = settings().edge_secret_sha256
    if expected and not hmac.compare_digest(digest, expected):
        raise Forbidden("requests must be sent to the address of the stack's CloudFront distribution")


def host_of(headers: Mapping[str, str]) -> str:
    """Return the host of the address that the caller knows. Only requests through `deploy/edge.yaml` may name another
    one."""
    viewer_host = headers.get(VIEWER_HOST_HEADER) if settings().edge_secret_sha256 else None
    return viewer_host or headers.get("host", "")


def check_form(request: APIGatewayProxyEventV2, max_bytes: int, advice: str) -> None:
    """Refuse a body that is not a form with files or exceeds the size; `advice` says what to do instead."""
    _check_size(request, max_bytes, advice)
    if not request.headers.get("content-type", "").strip().lower().startswith("multipart/form-data"):
        raise UnsupportedContentType("send the body as multipart/form-data")


def check_body(request: APIGatewayProxyEventV2, max_bytes: int, advice: str) -> None:
    """Refuse a body that is not plain JSON or exceeds the size; `advice` says what to do instead."""
    body = request.body or ""
    _check_size(request, max_bytes, advice)
    content_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise UnsupportedContentType("send the body as application/json")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedContentEncoding("send the body without Content-Encoding; compressed bodies are not accepted")
    if request.is_base64_encoded:
        _check_encoding(body)


def _check_size(request: APIGatewayProxyEventV2, max_bytes: int, advice: str) -> None:
    body = request.body or ""
    size = len(body) * 3 // 4 if request.is_base64_encoded else len(body.encode(errors="replace"))
    if size > max_bytes:
        raise TooLarge(f"the body must have at most {max_bytes} bytes; {advice}")


def _check_encoding(body: str) -> None:
    try:
        base64.b64decode(body).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ClientError("the body is not valid UTF-8") from error
