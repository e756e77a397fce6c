"""Attacks by tokens of strangers, and by an issuer that misbehaves: a problem each, soon, and never a workspace."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from authorize import app
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.access import oidc
from tests.issuer import Issuer
from tests.lambda_context import Context


def context_of(token: str) -> dict[str, Any]:
    event = {"headers": {"authorization": f"Bearer {token}"}}
    return dict(app.handler(event, Context())["context"])


@pytest.fixture(scope="module")
def running_issuer() -> Iterator[Issuer]:
    with Issuer.serve() as issuer:
        yield issuer


@pytest.fixture
def trust(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes an address the issuer's."""
    assert cloud.oidc_issuer == ""

    def configure(url: str) -> None:
        monkeypatch.setenv("OIDC_ISSUER", url)
        monkeypatch.setenv("OIDC_AUDIENCE", "cupel")
        settings.cache_clear()
        oidc.clear_key_cache()

    yield configure
    settings.cache_clear()
    oidc.clear_key_cache()


@pytest.fixture
def issuer(running_issuer: Issuer, trust: Callable[[str], None]) -> Issuer:
    trust(running_issuer.url)
    assert context_of(running_issuer.sign())["workspace"] == "acme"
    return running_issuer


def encoded(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def claims_of(issuer: Issuer) -> dict[str, Any]:
    now = int(time.time())
    return {
        "iss": issuer.url, "aud": "cupel", "sub": "eve", "exp": now + 3600, "cupel_workspace": "acme",
        "cupel_role": "operator",
    }  # fmt: skip


def public_pem(issuer: Issuer) -> bytes:
    return bytes(issuer.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def signed_with_the_public_key(issuer: Issuer, key: bytes) -> str:
    signed = f"{encoded({'alg': 'HS256', 'kid': 'one', 'typ': 'JWT'})}.{encoded(claims_of(issuer))}"
    mac = hmac.new(key, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"


OWN = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OWN_JWK = RSAAlgorithm.to_jwk(OWN.public_key(), as_dict=True) | {"kid": "one"}


def own(issuer: Issuer, **headers: Any) -> str:
    return jwt.encode(claims_of(issuer), OWN, "RS256", headers={"kid": "one", **headers})


def unsigned(issuer: Issuer, algorithm: str) -> str:
    return f"{encoded({'alg': algorithm, 'kid': 'one'})}.{encoded(claims_of(issuer))}."


def with_header(issuer: Issuer, header: Any) -> str:
    return f"{encoded(header)}.{issuer.sign().split('.')[1]}.{issuer.sign().split('.')[2]}"


PAST = datetime.now(UTC) - timedelta(minutes=2)
NESTED = "[" * 4_000
FORGED: dict[str, Callable[[Issuer], str]] = {
    "alg none": lambda issuer: unsigned(issuer, "none"),
    "alg None": lambda issuer: unsigned(issuer, "None"),
    "alg nOnE": lambda issuer: unsigned(issuer, "nOnE"),
    "no alg": lambda issuer: f"{encoded({'kid': 'one'})}.{encoded(claims_of(issuer))}.",
    "alg that is a list": lambda issuer: with_header(issuer, {"alg": ["RS256"], "kid": "one"}),
    "HS256 with the PEM of the public key": lambda issuer: signed_with_the_public_key(issuer, public_pem(issuer)),
    "HS256 with the public key in DER": lambda issuer: signed_with_the_public_key(
        issuer, issuer.rsa.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ),
    "HS256 with the JWK of the public key": lambda issuer: signed_with_the_public_key(
        issuer, json.dumps(RSAAlgorithm.to_jwk(issuer.rsa.public_key(), as_dict=True)).encode()
    ),
    "HS256 with nothing": lambda issuer: signed_with_the_public_key(issuer, b""),
    "own key": own,
    "own key in the header": lambda issuer: own(issuer, jwk=OWN_JWK),
    "own key at an address": lambda issuer: own(issuer, jku="http://127.0.0.1:1/keys", x5u="http://127.0.0.1:1/x"),
    "own key of another id": lambda issuer: own(issuer, kid="two"),
    "kid that is a path": lambda issuer: own(issuer, kid="../../../../dev/null"),
    "kid that is SQL": lambda issuer: own(issuer, kid="x' UNION SELECT 'key'; --"),
    "kid that is an address": lambda issuer: own(issuer, kid="http://169.254.169.254/latest"),
    "kid with half a character": lambda issuer: with_header(issuer, '{"alg": "RS256", "kid": "\\ud800"}'),
    "kid with control characters": lambda issuer: with_header(issuer, {"alg": "RS256", "kid": "\x00\x1b[2J\r\nx: y"}),
    "kid of 6 KB": lambda issuer: with_header(issuer, {"alg": "RS256", "kid": "k" * 6_000}),
    "kid that is a number": lambda issuer: with_header(issuer, {"alg": "RS256", "kid": 1}),
    "kid that is an object": lambda issuer: with_header(issuer, {"alg": "RS256", "kid": {"a": 1}}),
    "kid that is null": lambda issuer: with_header(issuer, {"alg": "RS256", "kid": None}),
    "unknown critical header": lambda issuer: own(issuer, crit=["exp"]),
    "a header that is nested deeply": lambda issuer: with_header(issuer, NESTED),
    "a header that is a list": lambda issuer: with_header(issuer, []),
    "a header of Infinity": lambda issuer: with_header(issuer, '{"alg": "RS256", "kid": Infinity}'),
    "claims that are nested deeply": lambda _: f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{encoded(NESTED)}.eA",
    "claims that are no object": lambda _: f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{encoded([])}.eA",
    "not base64": lambda _: "a.b.c",
    "three dots of nothing": lambda _: "..",
    "not ASCII": lambda _: "é.é.é",
    "another audience": lambda issuer: issuer.sign(aud="another"),
    "an audience that contains ours": lambda issuer: issuer.sign(aud="cupel-other"),
    "no audience": lambda issuer: issuer.sign(aud=None),
    "an empty list of audiences": lambda issuer: issuer.sign(aud=[]),
    "another issuer": lambda issuer: issuer.sign(iss="http://127.0.0.1:1"),
    "the issuer with a slash": lambda issuer: issuer.sign(iss=f"{issuer.url}/"),
    "no issuer": lambda issuer: issuer.sign(iss=None),
    "expired": lambda issuer: issuer.sign(exp=PAST),
    "without expiry": lambda issuer: issuer.sign(exp=None),
    "not valid yet": lambda issuer: issuer.sign(nbf=datetime.now(UTC) + timedelta(minutes=5)),
    "without subject": lambda issuer: issuer.sign(sub=None),
    "workspace that is a path": lambda issuer: issuer.sign(cupel_workspace="acme/../other"),
    "workspace that is a list": lambda issuer: issuer.sign(cupel_workspace=["acme"]),
    "role that is a list": lambda issuer: issuer.sign(cupel_role=["admin"]),
    "role in capitals": lambda issuer: issuer.sign(cupel_role="ADMIN"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_token_that_was_not_issued_so_is_refused(issuer: Issuer, forge: Callable[[Issuer], str]) -> None:
    context = context_of(forge(issuer))
    assert list(context) == ["problem"]
    assert len(context["problem"]) < 500
    json.dumps(context).encode()
    context["problem"].encode()


def test_tokens_with_invented_key_ids_do_not_call_the_issuer_again_and_again(issuer: Issuer) -> None:
    before = issuer.requests
    for number in range(20):
        context_of(own(issuer, kid=f"invented-{number}"))
    assert issuer.requests - before <= 1


class HostileIssuer(ThreadingHTTPServer):
    """Answers its discovery document, and its keys with what `send` writes."""

    daemon_threads = True

    def __init__(self, send: Callable[[Callable[[bytes], object]], None], *, at_discovery: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.send, self.at_discovery, self.is_closing = send, at_discovery, threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: HostileIssuer

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        if self.path.endswith("openid-configuration") and not self.server.at_discovery:
            document = {"issuer": self.server.url, "jwks_uri": f"{self.server.url}/keys"}
            self.wfile.write(json.dumps(document).encode())
            return
        try:
            self.server.send(self.wfile.write)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        return


def _endless(write: Callable[[bytes], object]) -> None:
    write(b'{"keys": [')
    while True:
        write(b" " * 100_000)


REPLIES: dict[str, Callable[[Callable[[bytes], object]], object]] = {
    "endless": _endless,
    "nested deeply": lambda write: write(b"[" * 200_000),
    "no JSON": lambda write: write(b"<html>"),
    "half of it": lambda write: write(b'{"keys": [{"kty"'),
    "no keys": lambda write: write(b'{"keys": []}'),
    "another type": lambda write: write(b'{"keys": "RSA"}'),
    "a list": lambda write: write(b"[]"),
    "not UTF-8": lambda write: write(b"\xff\xfe\x00"),
    "nothing": lambda write: write(b""),
    "a password for a key": lambda write: write(b'{"keys": [{"kty": "oct", "kid": "one", "k": "c2VjcmV0"}]}'),
}


@pytest.mark.parametrize("at_discovery", [True, False], ids=["discovery", "keys"])
@pytest.mark.parametrize("send", REPLIES.values(), ids=REPLIES)
def test_an_issuer_that_misbehaves_is_a_problem_within_seconds(
    running_issuer: Issuer, trust: Callable[[str], None], send: Any, at_discovery: bool
) -> None:
    with HostileIssuer(send, at_discovery=at_discovery) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        trust(server.url)
        started = time.monotonic()
        try:
            context = context_of(running_issuer.sign(iss=server.url))
        finally:
            server.shutdown()
            thread.join()
    assert list(context) in (["problem"], ["unavailable"])
    assert time.monotonic() - started < 2 * oidc.TIMEOUT_SECONDS + 2


class DrippingReply:
    """Sends a byte now and then, without an end."""

    seconds = 0.0

    def read1(self, _: int) -> bytes:
        self.seconds += 0.5
        return b" "


def test_a_document_that_drips_in_is_given_up_on() -> None:
    reply = DrippingReply()
    with pytest.raises(TimeoutError):
        oidc.read_bounded(reply, lambda: reply.seconds)
    assert reply.seconds <= oidc.TIMEOUT_SECONDS + 0.5
