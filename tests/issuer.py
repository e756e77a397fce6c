"""An OpenID Connect issuer on loopback: signs JWTs, and signs people in by its authorization code flow with PKCE."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm


@dataclass
class Issuer:
    """With one RSA and one EC key."""

    url: str = ""
    rsa: Any = field(default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048))
    ec: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    requests: int = 0
    lifetime: timedelta = timedelta(hours=1)
    """Of ID tokens that are issued by a sign-in."""
    signed_in: list[dict[str, str]] = field(default_factory=list)
    """The parameters of each sign-in."""
    refreshed: int = 0
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def serve(cls) -> Iterator["Issuer"]:
        issuer = cls()
        with ThreadingHTTPServer(("127.0.0.1", 0), _handler(issuer)) as server:
            issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            yield issuer
            server.shutdown()
            thread.join()

    def answer(self, path: str) -> dict[str, Any]:
        self.requests += 1
        if path.endswith("openid-configuration"):
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "scopes_supported": ["openid", "offline_access"],
            }
        first = RSAAlgorithm.to_jwk(self.rsa.public_key(), as_dict=True)
        second = ECAlgorithm.to_jwk(self.ec.public_key(), as_dict=True)
        return {"keys": [first | {"kid": "one", "use": "sig"}, second | {"kid": "two", "use": "sig"}]}

    def authorize(self, parameters: dict[str, str]) -> str:
        """The address that a browser is led back to: nobody is asked who they are."""
        self.signed_in.append(parameters)
        code = secrets.token_urlsafe(16)
        self._codes[code] = parameters
        return f"{parameters['redirect_uri']}?{urlencode({'code': code, 'state': parameters['state']})}"

    def exchange(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Tokens for a code, once and only with its verifier, or for a refresh token; else None."""
        if form["grant_type"] == "refresh_token":
            self.refreshed += 1
            return self._tokens(form["client_id"], {}) if form["refresh_token"] == "refresh" else None
        asked = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return None
        return self._tokens(form["client_id"], {"nonce": asked["nonce"]})

    def _tokens(self, client_id: str, claims: dict[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC)
        token = self.sign(aud=client_id, iat=now, exp=now + self.lifetime, **claims)
        return {"access_token": "unused", "token_type": "bearer", "id_token": token, "refresh_token": "refresh"}

    def sign(self, key: Any = None, algorithm: str = "RS256", kid: str = "one", **changes: Any) -> str:
        claims = {
            "iss": self.url,
            "aud": "cupel",
            "sub": "ada",
            "exp": datetime.now(UTC) + timedelta(hours=1),
            "cupel_workspace": "acme",
            "cupel_role": "member",
        } | changes
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, key or self.rsa, algorithm, headers={"kid": kid})


def _handler(issuer: Issuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", issuer.authorize(dict(parse_qsl(url.query))))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self._send(200, issuer.answer(self.path))

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            tokens = issuer.exchange(form)
            self._send(400 if tokens is None else 200, tokens or {"error": "invalid_grant"})

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Handler
