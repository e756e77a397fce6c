"""Provider keys, in Secrets Manager and nowhere else."""

from shared.settings import settings
from shared.store.clients import secretsmanager


def put(workspace: str, provider: str, secret: str) -> None:
    client, name = secretsmanager(), _name(workspace, provider)
    try:
        client.put_secret_value(SecretId=name, SecretString=secret)
    except client.exceptions.ResourceNotFoundException:
        client.create_secret(Name=name, SecretString=secret)


def get(workspace: str, provider: str) -> str | None:
    client = secretsmanager()
    try:
        return client.get_secret_value(SecretId=_name(workspace, provider))["SecretString"]
    except client.exceptions.ResourceNotFoundException:
        return None


def delete(workspace: str, provider: str) -> None:
    """At once: within the usual recovery window the name could not be used again."""
    client = secretsmanager()
    try:
        client.delete_secret(SecretId=_name(workspace, provider), ForceDeleteWithoutRecovery=True)
    except client.exceptions.ResourceNotFoundException:
        return


def _name(workspace: str, provider: str) -> str:
    return f"{settings().stack_name}/{workspace}/{provider}"
