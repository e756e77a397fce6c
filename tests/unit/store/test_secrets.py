"""Provider keys and header values in Secrets Manager."""

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from cupel_core.base.errors import RetryableError
from cupel_core.store import secrets
from cupel_core.store.clients import secretsmanager
from cupel_core.store.settings import Settings, settings


def test_a_stored_secret_is_read_by_its_version(cloud: Settings) -> None:
    first = secrets.put("w", "openai", "one")
    secrets.put("w", "openai", "two")
    assert secrets.get("w", "openai", first) == "one"
    assert secrets.get("w", "openai") == "two"


def test_a_secret_that_is_marked_for_deletion_is_none(cloud: Settings) -> None:
    secrets.put("w", "openai", "key")
    secretsmanager().delete_secret(SecretId=f"{cloud.stack_name}/w/openai", RecoveryWindowInDays=7)
    assert secrets.get("w", "openai") is None


def test_a_name_whose_deletion_has_not_finished_is_retryable(cloud: Settings) -> None:
    """Secrets Manager deletes asynchronously; moto and the emulator do it at once."""
    with Stubber(secretsmanager()) as stub:
        stub.add_client_error("put_secret_value", "ResourceNotFoundException")
        stub.add_client_error("create_secret", "InvalidRequestException")
        with pytest.raises(RetryableError) as raised:
            secrets.put("w", "openai", "key")
    assert raised.value.retry_after == 5
    assert isinstance(raised.value.__cause__, ClientError)


def test_a_new_secret_is_encrypted_with_the_stacks_key(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMS_KEY_ARN", "alias/cupel")
    settings.cache_clear()
    secrets.put("w", "openai", "one")
    assert secretsmanager().describe_secret(SecretId="cupel-test/w/openai")["KmsKeyId"] == "alias/cupel"
