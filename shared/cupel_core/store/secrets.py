"""Provider keys and header values, in Secrets Manager and nowhere else.

A secret is named by its purpose: a provider's name, `persona/<id>`, `connector/<id>` or `evaluator`. An item names the
headers and the version of its secret, by which the values are read. So a refused change changes nothing, and a run
keeps the values that it started with. A secret belongs to an address: when the address changes, the secret must be sent
again, as the permission to change an address would otherwise reveal it.
"""

from cupel_core.base.errors import RetryableError
from cupel_core.store.clients import secretsmanager
from cupel_core.store.settings import settings

_DELETION_SECONDS = 5.0


def put(workspace: str, owner: str, secret: str) -> str:
    """Store a secret. Return the version to read it by, which later writes do not change. Raise RetryableError shortly
    after the deletion of a secret with the same name."""
    client, name = secretsmanager(), _name(workspace, owner)
    try:
        return _put_or_create(name, secret)
    except client.exceptions.InvalidRequestException as error:  # The earlier secret's deletion has not finished.
        raise RetryableError("a secret of this name is being deleted", _DELETION_SECONDS) from error


def _put_or_create(name: str, secret: str) -> str:
    client = secretsmanager()
    try:
        return client.put_secret_value(SecretId=name, SecretString=secret)["VersionId"]
    except client.exceptions.ResourceNotFoundException:
        if key := settings().kms_key_arn:
            return client.create_secret(Name=name, SecretString=secret, KmsKeyId=key)["VersionId"]
        return client.create_secret(Name=name, SecretString=secret)["VersionId"]


def get(workspace: str, owner: str, version: str | None = None) -> str | None:
    """Return a version of the secret, by default the newest, or None if there is none or it is being deleted. Secrets
    Manager keeps every version for a day, and the last hundred permanently."""
    client, name = secretsmanager(), _name(workspace, owner)
    try:
        if version is None:
            return client.get_secret_value(SecretId=name)["SecretString"]
        return client.get_secret_value(SecretId=name, VersionId=version)["SecretString"]
    except (client.exceptions.ResourceNotFoundException, client.exceptions.InvalidRequestException):
        return None


def delete(workspace: str, owner: str) -> None:
    """Delete a secret in all its versions immediately: within the recovery window its name could not be used again. A
    version that is put at the same time may be deleted too. The caller then calls `is_lost` for the version in use, and
    stops using it if it is lost: the removal takes precedence."""
    client = secretsmanager()
    try:
        client.delete_secret(SecretId=_name(workspace, owner), ForceDeleteWithoutRecovery=True)
    except client.exceptions.ResourceNotFoundException:
        return


def is_lost(workspace: str, owner: str, version: str | None) -> bool:
    """Return whether this version, which an item still names, has been deleted."""
    return version is not None and get(workspace, owner, version) is None


def _name(workspace: str, owner: str) -> str:
    return f"{settings().stack_name}/{workspace}/{owner}"
