"""Serves the web page: its built files, and index.html at every other address, which the page's own router resolves.

An address that this router does not know has status 404; programs, which do not ask for HTML, get a problem document.
The files are public, since they are part of the package and have no data, so requests need no token.
"""

import base64
import hashlib
import json
import os
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent / "dist"
_ASSET = re.compile(r"/assets/([A-Za-z0-9_.-]+)")
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Encodings in order of preference; each asset was compressed when the page was built."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src {}; font-src 'self'; "
    "connect-src {}; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SECURITY = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
}
_MAX_DEPTH = 20
"""No address of the page has as many segments."""
ADDRESSES = (
    "/",
    "/chats",
    "/chats/$",
    "/compare",
    "/connectors",
    "/connectors/$",
    "/definitions",
    "/definitions/$",
    "/definitions/$/changes",
    "/definitions/$/edit",
    "/definitions/$/scenarios",
    "/definitions/$/scenarios/$",
    "/definitions/import",
    "/definitions/new",
    "/evals",
    "/evals/$",
    "/evals/$/edit",
    "/experiments",
    "/experiments/$",
    "/login",
    "/new",
    "/new/scale",
    "/personas",
    "/personas/$",
    "/playground",
    "/profiles",
    "/profiles/$",
    "/profiles/new",
    "/providers",
    "/providers/$",
    "/queue",
    "/runs",
    "/runs/$",
    "/runs/$/analysis",
    "/runs/$/history",
    "/runs/$/judge",
    "/runs/$/report",
    "/runs/$/settings",
    "/schedules",
    "/schedules/$",
    "/settings",
    "/settings/budgets",
    "/settings/tokens",
)
"""The addresses in web/src/router.tsx; `$` is any segment."""
_ADDRESS = re.compile("|".join(re.escape(each).replace(r"\$", "[^/]+") + "/?" for each in ADDRESSES))
_ELSEWHERE = {"/graphql": "GraphQL is at /v1/graphql", "/mcp": "the tools are at /v1/mcp"}


_ORIGIN = re.compile(r"https?://[A-Za-z0-9.:-]+")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")


class _File(NamedTuple):
    content: bytes
    encoding: str | None


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer a request of the HTTP API, payload 2.0, that no other route takes."""
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    response = _respond(method, path, event.get("headers") or {})
    response["headers"] |= _SECURITY | {"Content-Security-Policy": _policy(_issuer())}
    if method == "HEAD":
        response |= {"body": "", "isBase64Encoded": False}
    # The embedded cloud waits for one line per request.
    print(json.dumps({"level": "INFO", "message": "page", "method": method, "status": response["statusCode"]}))
    return response


class _Issuer(NamedTuple):
    address: str
    client_id: str
    origins: str
    """The origins of its endpoints, separated by spaces, if they differ from that of its address."""


def _issuer() -> _Issuer | None:
    """Return the issuer, or None unless both variables are set.

    They are read directly, because this function has no layer and so no `cupel_core.store.settings`.
    """
    address, client_id = os.environ.get("OIDC_ISSUER", ""), os.environ.get("OIDC_CLIENT_ID", "")
    return _Issuer(address, client_id, os.environ.get("OIDC_ORIGINS", "")) if address and client_id else None


def _policy(issuer: _Issuer | None) -> str:
    """Return the Content-Security-Policy.

    The page may call its own origin and the issuer of its tokens, and draw images of the bucket. Values that are no
    origins are left out.
    """
    named = [] if issuer is None else [issuer.address, *issuer.origins.split()]
    origins = [found[0] for each in named if (found := _ORIGIN.match(each))]
    images = ["'self'", "data:", *_image_origins()]
    return _POLICY.format(" ".join(images), " ".join(["'self'", *dict.fromkeys(origins)]))


def _image_origins() -> list[str]:
    """Return the origins from which the page loads the bucket's images by presigned URL.

    botocore puts the region into the host, except for the oldest region. On one machine, it is the origin of the
    embedded cloud's objects.
    """
    if endpoint := _ORIGIN.match(os.environ.get("AWS_ENDPOINT_URL_S3", "")):
        return [endpoint[0]]
    bucket = os.environ.get("BUCKET_NAME", "")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION", "")
    if not _BUCKET.fullmatch(bucket) or not _REGION.fullmatch(region):
        return []
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    oldest = [f"https://{bucket}.s3.{domain}"] if region == "us-east-1" else []
    return [f"https://{bucket}.s3.{region}.{domain}", *oldest]


def _respond(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    if method not in ("GET", "HEAD"):
        if not _ADDRESS.fullmatch(path) and not path.startswith("/assets/"):
            return _unknown(path, "")
        return _text(405, "only GET and HEAD are possible here", {"Allow": "GET, HEAD"})
    if asset := _ASSET.fullmatch(path):
        return _asset(asset[1], headers.get("accept-encoding", ""))
    if path == "/v1" or path.startswith("/assets/") or path.count("/") > _MAX_DEPTH:
        return _text(404, "no such file")
    if _ADDRESS.fullmatch(path):
        return _index(path, headers.get("if-none-match", ""))
    return _unknown(path, headers.get("accept", ""))


def _unknown(path: str, accepted: str) -> dict[str, Any]:
    """Answer browsers with the page, which says that it has no such address, and programs with a problem document."""
    if "text/html" in accepted:
        return _index(path, "") | {"statusCode": 404}
    detail = _ELSEWHERE.get(path.rstrip("/"), "paths of the API begin with /v1, as /v1/openapi.json says")
    problem = {"type": "urn:cupel:problem:not-found", "title": "Not found", "status": 404, "detail": detail}
    return _text(404, json.dumps(problem), {"Content-Type": "application/problem+json"})


def _asset(name: str, accepted: str) -> dict[str, Any]:
    """Answer with a file, which never changes because its name has a hash of its content.

    A missing file is never answered with HTML.
    """
    suffix = Path(name).suffix
    file = _read(name, _encoding(accepted)) if suffix in _TYPES else None
    if file is None:
        return _text(404, "no such file")
    headers = {"Content-Type": _TYPES[suffix], "Cache-Control": "public, max-age=31536000, immutable"}
    encoding = {"Content-Encoding": file.encoding} if file.encoding else {}
    return {
        "statusCode": 200,
        "headers": headers | encoding | {"Vary": "Accept-Encoding"},
        "body": base64.b64encode(file.content).decode(),
        "isBase64Encoded": True,
    }


def _encoding(accepted: str) -> str | None:
    """Return the best encoding that a browser accepts; one with a weight of 0 is refused."""
    offers = (offer.partition(";") for offer in accepted.split(","))
    weights = {name.strip().lower(): weight.strip() for name, _, weight in offers}
    return next((each for each in _ENCODINGS if not re.fullmatch(r"q=0(\.0*)?", weights.get(each, "q=0"))), None)


@cache
def _read(name: str, encoding: str | None) -> _File | None:
    """Read a file once per process, or return None if it is missing; the name has no slash."""
    folder = _FOLDER / "assets"
    path = folder / (name + _ENCODINGS[encoding]) if encoding else folder / name
    if path.is_file():
        return _File(path.read_bytes(), encoding)
    return _read(name, None) if encoding else None


def _index(path: str, known: str) -> dict[str, Any]:
    """Return the HTML, which names its base relative to the address, so that it works below any path."""
    depth = max(0, path.count("/") - 1)
    head = f'<base href="{"../" * depth or "./"}" />'
    if issuer := _issuer():
        head += f'\n    <meta name="oidc-issuer" content="{escape(issuer.address)}" />'
        head += f'\n    <meta name="oidc-client-id" content="{escape(issuer.client_id)}" />'
    if origins := _image_origins():
        head += f'\n    <meta name="image-origins" content="{" ".join(origins)}" />'
    html = _template().replace("<head>", f"<head>\n    {head}", 1)
    tag = f'"{hashlib.sha256(html.encode()).hexdigest()[:32]}"'
    headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "ETag": tag}
    if tag in (each.strip().removeprefix("W/") for each in known.split(",")):
        return {"statusCode": 304, "headers": headers, "body": "", "isBase64Encoded": False}
    return {"statusCode": 200, "headers": headers, "body": html, "isBase64Encoded": False}


@cache
def _template() -> str:
    return (_FOLDER / "index.html").read_text()


def _text(status: int, text: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    own = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
    return {"statusCode": status, "headers": own | (headers or {}), "body": f"{text}\n", "isBase64Encoded": False}
