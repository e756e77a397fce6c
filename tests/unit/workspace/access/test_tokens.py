from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from cupel_core.base.errors import Invalid, NotFound, Unauthorized
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.store import clients
from cupel_core.store import tokens as token_store
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import tokens

NOW = datetime(2026, 1, 1, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("cloud")


def test_a_secret_identifies_its_workspace_and_role() -> None:
    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW)
    assert tokens.identify(issued.secret, NOW) == Caller("acme", AccessRole.MEMBER, issued.token_id)


def test_a_secret_is_stored_only_as_its_hash(cloud: Settings) -> None:
    secret = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW).secret
    items = clients.dynamodb().scan(TableName=cloud.table_name)["Items"]
    assert len(items) == 2
    assert secret.removeprefix("cupel_") not in str(items)


def test_a_secret_has_256_random_bits_after_its_prefix() -> None:
    secrets = {tokens.issue("acme", AccessRole.ADMIN, "ci", NOW).secret for _ in range(3)}
    assert {len(secret) for secret in secrets} == {len("cupel_") + 43}
    assert len(secrets) == 3


@pytest.mark.parametrize("secret", ["", "cupel_", "Bearer", f"cupel_{'x' * 43}", f"CUPEL_{'x' * 43}", "ü" * 49])
def test_an_unknown_secret_identifies_nobody(secret: str) -> None:
    assert tokens.identify(secret, NOW) is None


def test_a_revoked_secret_identifies_nobody() -> None:
    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW)
    tokens.revoke("acme", issued.token_id, NOW)
    assert tokens.identify(issued.secret, NOW) is None
    assert tokens.list_tokens("acme").items[0].revoked_at == NOW


def test_a_token_of_another_workspace_cannot_be_revoked() -> None:
    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW)
    with pytest.raises(NotFound):
        tokens.revoke("other", issued.token_id, NOW)
    assert tokens.identify(issued.secret, NOW) is not None


@pytest.mark.parametrize("workspace", ["", "a#b", "Acme", "x" * 64, "a/b", "a\n"])
def test_a_workspace_that_could_reach_across_keys_is_refused(workspace: str) -> None:
    with pytest.raises(Invalid):
        tokens.issue(workspace, AccessRole.ADMIN, "ci", NOW)


def test_an_expired_secret_is_refused() -> None:
    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW, NOW + timedelta(days=1))
    assert tokens.identify(issued.secret, NOW + timedelta(hours=23)) is not None
    with pytest.raises(Unauthorized, match=r"expired at 2026-01-02T00:00:00.000Z"):
        tokens.identify(issued.secret, NOW + timedelta(days=1))


def test_a_token_cannot_expire_before_it_is_created() -> None:
    with pytest.raises(Invalid):
        tokens.issue("acme", AccessRole.MEMBER, "ci", NOW, NOW)


def test_a_use_is_noted_once_an_hour() -> None:
    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW)
    noted = []
    for minutes in (0, 59, 60, 61):
        tokens.identify(issued.secret, NOW + timedelta(minutes=minutes))
        noted.append(tokens.list_tokens("acme").items[0].last_used_at)
    assert noted == [NOW, NOW, NOW + timedelta(hours=1), NOW + timedelta(hours=1)]


def test_a_use_that_cannot_be_noted_is_no_reason_to_refuse_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "UpdateItem")

    issued = tokens.issue("acme", AccessRole.MEMBER, "ci", NOW)
    monkeypatch.setattr(token_store, "note_use", refuse)
    assert tokens.identify(issued.secret, NOW) is not None
