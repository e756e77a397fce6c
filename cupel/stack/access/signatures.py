"""Signs and verifies requests, and verifies addresses, by AWS signature version 4 with the standard library alone.

A signature proves that the secret is known, without sending it. The key's id proves nothing: presigned addresses
contain it.
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple, Self
from urllib.parse import parse_qsl, quote, urlsplit

MAX_EXPIRY_SECONDS = 604_800
"""S3 refuses longer ones."""
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
_ALGORITHM = "AWS4-HMAC-SHA256"
_PAYLOAD_HEADER = "x-amz-content-sha256"
_SERVICE_OF_OWN_REQUESTS = "cupel"
_SCOPE = r"(?P<scope>(?P<day>\d{8})/[^/,\s]+/(?P<service>[^/,\s]+)/aws4_request)"
_AUTHORIZATION = re.compile(
    rf"{_ALGORITHM}\s+Credential=[^/,\s]+/{_SCOPE},\s*SignedHeaders=(?P<names>[a-z0-9;_-]+),\s*"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)
_CREDENTIAL = re.compile(rf"[^/,\s]+/{_SCOPE}")
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"


class AccessKey(NamedTuple):
    key_id: str
    secret: str

    @classmethod
    def create(cls) -> Self:
        """Create a key. Its id is no number of twelve digits, which the emulator would take for an account."""
        return cls(f"CUPEL{secrets.token_hex(8).upper()}", secrets.token_hex(32))


class SignableRequest(NamedTuple):
    method: str
    path: str
    query: str
    headers: Mapping[str, str]


class Signature(NamedTuple):
    scope: str
    """The day, region and service."""
    service: str
    time: str
    signed_headers: str
    """The names are separated by semicolons."""
    text: str


def read_header_signature(headers: Mapping[str, str]) -> Signature | None:
    found = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if found is None:
        return None
    return Signature(
        found["scope"], found["service"], headers.get("x-amz-date", ""), found["names"], found["signature"]
    )


def read_presigned(query: str) -> Signature | None:
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    found = _CREDENTIAL.fullmatch(parameters.get("X-Amz-Credential", ""))
    if found is None or parameters.get("X-Amz-Algorithm") != _ALGORITHM:
        return None
    time, names = parameters.get("X-Amz-Date", ""), parameters.get("X-Amz-SignedHeaders", "")
    return Signature(found["scope"], found["service"], time, names, parameters.get("X-Amz-Signature", ""))


def is_expired(query: str, now: datetime) -> bool:
    """Return whether a presigned address is no longer valid, or does not say for how long it is."""
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    try:
        signed_at = datetime.strptime(parameters["X-Amz-Date"], _TIME_FORMAT).replace(tzinfo=UTC)
        seconds = int(parameters["X-Amz-Expires"])
    except (KeyError, ValueError):
        return True
    return not 0 < seconds <= MAX_EXPIRY_SECONDS or now > signed_at + timedelta(seconds=seconds)


def signed_payload_hash(headers: Mapping[str, str], signature: Signature) -> str | None:
    """Return the body's hash if the signature covers the header that states it, as for S3, or None to compute it."""
    claimed = headers.get(_PAYLOAD_HEADER)
    return claimed if claimed is not None and _PAYLOAD_HEADER in signature.signed_headers.split(";") else None


def is_valid(request: SignableRequest, signature: Signature, payload_hash: str, secret: str) -> bool:
    return hmac.compare_digest(_sign(request, signature, payload_hash, secret).encode(), signature.text.encode())


def sign(key: AccessKey, method: str, url: str, region: str, now: datetime) -> dict[str, str]:
    parts, time = urlsplit(url), now.strftime(_TIME_FORMAT)
    scope = f"{time[:8]}/{region}/{_SERVICE_OF_OWN_REQUESTS}/aws4_request"
    unsigned = Signature(scope, _SERVICE_OF_OWN_REQUESTS, time, "host;x-amz-date", "")
    request = SignableRequest(method, parts.path, parts.query, {"host": parts.netloc, "x-amz-date": time})
    text = _sign(request, unsigned, sha256(b"").hexdigest(), key.secret)
    credential = f"Credential={key.key_id}/{scope}, SignedHeaders={unsigned.signed_headers}, Signature={text}"
    return {"X-Amz-Date": time, "Authorization": f"{_ALGORITHM} {credential}"}


def _sign(request: SignableRequest, signature: Signature, payload_hash: str, secret: str) -> str:
    headers = request.headers
    names = signature.signed_headers
    canonical_request = "\n".join(
        (
            request.method,
            # S3 alone does not encode the path a second time.
            request.path if signature.service == "s3" else quote(request.path, safe="/~"),
            _canonical_query(request.query) if request.query else "",
            *[f"{name}:{' '.join(headers.get(name, '').split())}" for name in names.split(";")],
            "",
            names,
            payload_hash,
        )
    )
    digest = sha256(canonical_request.encode("latin-1", "replace")).hexdigest()
    text = f"{_ALGORITHM}\n{signature.time}\n{signature.scope}\n{digest}"
    return hmac.digest(_signing_key(secret, signature.scope), text.encode("latin-1", "replace"), "sha256").hex()


def _canonical_query(query: str) -> str:
    """Decode and encode the query: `+` and `%20` are the same. The signature of an address does not sign itself."""
    pairs = parse_qsl(query, keep_blank_values=True)
    encoded = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded if name != "X-Amz-Signature")


@lru_cache(maxsize=64)
def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode("latin-1", "replace"), "sha256")
    return key
