"""The authorizer identifies the caller and never denies a request."""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from authorize.app import handler
from cupel_core.domain.access import AccessRole
from cupel_core.runs import workspace_erasure
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.access import oidc, tokens
from tests.issuer import Issuer

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def context_of(authorization: str | None) -> dict[str, Any]:
    headers = {} if authorization is None else {"authorization": authorization}
    answer = handler({"version": "2.0", "headers": headers}, None)
    assert answer["isAuthorized"] is True
    context: dict[str, Any] = answer["context"]
    return context


def test_a_token_gives_workspace_role_and_id(cloud: Settings) -> None:
    assert cloud.table_name
    issued = tokens.issue("acme", AccessRole.VIEWER, "ci", NOW)
    expected = {"workspace": "acme", "role": "viewer", "tokenId": issued.token_id}
    assert context_of(f"Bearer {issued.secret}") == expected
    assert context_of(f"bearer  {issued.secret} ") == expected


@pytest.mark.usefixtures("cloud")
@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Basic abc", "cupel_x", "Bearer a.b.c"])
def test_anything_else_is_a_problem_and_no_workspace(authorization: str | None) -> None:
    assert list(context_of(authorization)) == ["problem"]


@pytest.fixture(scope="module")
def running_issuer() -> Iterator[Issuer]:
    with Issuer.serve() as issuer:
        yield issuer


@pytest.fixture
def issuer(running_issuer: Issuer, cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    assert cloud.oidc_issuer == ""
    monkeypatch.setenv("OIDC_ISSUER", running_issuer.url)
    monkeypatch.setenv("OIDC_AUDIENCE", "cupel")
    settings.cache_clear()
    oidc.clear_key_cache()
    yield running_issuer
    settings.cache_clear()
    oidc.clear_key_cache()


def test_a_jwt_of_the_issuer_is_identified_by_its_claims(issuer: Issuer) -> None:
    expected = {"workspace": "acme", "role": "member", "tokenId": "ada", "userName": "ada"}
    assert context_of(f"Bearer {issuer.sign()}") == expected
    assert context_of(f"Bearer {issuer.sign(issuer.ec, 'ES256', 'two')}") == expected


def test_an_id_token_of_the_pages_client_is_accepted_too(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    token = issuer.sign(aud="cupel-page")
    assert list(context_of(f"Bearer {token}")) == ["problem"]
    monkeypatch.setenv("OIDC_CLIENT_ID", "cupel-page")
    settings.cache_clear()
    for each in (token, issuer.sign()):
        assert context_of(f"Bearer {each}")["workspace"] == "acme"


def test_a_jwt_that_names_an_erased_workspace_is_a_problem(issuer: Issuer) -> None:
    workspace_erasure.erase_workspace("acme", NOW, lambda: True)
    assert context_of(f"Bearer {issuer.sign()}") == {"problem": "the workspace acme was erased"}


def test_claims_of_cognito_are_understood(issuer: Issuer) -> None:
    claims = {"cupel_workspace": None, "cupel_role": None, "custom:workspace": "acme", "custom:role": "admin"}
    assert context_of(f"Bearer {issuer.sign(**claims)}")["role"] == "admin"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": datetime(2020, 1, 1, tzinfo=UTC)},
        {"exp": None},
        {"aud": "other"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"sub": None},
        {"cupel_workspace": None},
        {"cupel_workspace": "acme#run"},
        {"cupel_workspace": 7},
        {"cupel_role": "owner"},
        {"cupel_role": None},
        {"kid": "unknown"},
    ],
)
def test_a_jwt_with_a_wrong_claim_is_a_problem(issuer: Issuer, changes: dict[str, Any]) -> None:
    assert list(context_of(f"Bearer {issuer.sign(**changes)}")) == ["problem"]


def test_a_jwt_signed_by_another_key_is_a_problem(issuer: Issuer) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert list(context_of(f"Bearer {issuer.sign(other)}")) == ["problem"]


def test_a_jwt_signed_with_the_public_key_as_a_password_is_a_problem(issuer: Issuer) -> None:
    """The classic confusion: the verifier takes the public key for the secret of HS256. PyJWT makes no such token."""
    public = issuer.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT","kid":"one"}').rstrip(b"=")
    signed = head + b"." + issuer.sign().split(".")[1].encode()
    signature = urlsafe_b64encode(hmac.digest(public, signed, "sha256")).rstrip(b"=")
    assert list(context_of(f"Bearer {(signed + b'.' + signature).decode()}")) == ["problem"]


def test_an_unsigned_jwt_is_a_problem(issuer: Issuer) -> None:
    head, body, _ = jwt.encode({"sub": "ada"}, None, "none", headers={"kid": "one"}).split(".")
    assert list(context_of(f"Bearer {head}.{body}.")) == ["problem"]
    assert issuer.url


def test_the_issuers_keys_are_read_once_for_many_tokens(issuer: Issuer) -> None:
    before = issuer.requests
    for _ in range(3):
        context_of(f"Bearer {issuer.sign()}")
    assert issuer.requests == before + 2


def test_an_unreachable_issuer_is_a_temporary_problem(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    token = issuer.sign()
    monkeypatch.setenv("OIDC_ISSUER", "http://127.0.0.1:1")
    settings.cache_clear()
    assert list(context_of(f"Bearer {token}")) == ["unavailable"]
