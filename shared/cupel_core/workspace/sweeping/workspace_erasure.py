"""Erasure of the data of an erased workspace, continued by each sweep until nothing is left.

Records of Idempotency-Keys and tickets for events are left: they expire within a day.
"""

from collections.abc import Callable
from datetime import datetime

from cupel_core.base.messages import ChatRef
from cupel_core.chats.catalog import erase_content
from cupel_core.resources import evaluation_settings
from cupel_core.resources.named_resource import owner
from cupel_core.runs.workspace_erasure import close_workspace
from cupel_core.store import (
    blobs,
    chats,
    definitions,
    keys,
    object_names,
    partitions,
    providers,
    resources,
    runs,
    secrets,
    workspaces,
)
from cupel_core.store.resources import ResourceKind
from cupel_core.workspace.webhooks import configuration

_WITH_HEADERS = (ResourceKind.PERSONA, ResourceKind.CONNECTOR)


def erase_workspace(workspace: str, now: datetime, has_time: Callable[[], bool]) -> bool:
    """Erase the data of the workspace. Return whether nothing is left. Its deleted runs are erased one by one, by
    erasures of their own."""
    if not close_workspace(workspace, now, has_time) or runs.has_any(workspace):
        return False
    return (
        _erase_definitions(workspace, has_time)
        and _erase_resources(workspace, has_time)
        and _erase_chats(workspace, has_time)
        and _erase_secrets(workspace)
        and all(partitions.erase(each, has_time=has_time) for each in keys.workspace_partitions(workspace))
        and all(partitions.erase(each, prefix=f"{workspace}#", has_time=has_time) for each in keys.SHARED_PARTITIONS)
        and all(blobs.delete_prefix(prefix, has_time) for prefix in object_names.workspace_blobs(workspace))
    )


def is_being_erased(workspace: str) -> bool:
    """Return whether the workspace is being erased. Afterwards it is False: the name may belong to a new workspace."""
    known = workspaces.find(workspace)
    return known is not None and known.is_being_erased


def _erase_definitions(workspace: str, has_time: Callable[[], bool]) -> bool:
    for definition_id in definitions.list_ids(workspace):
        if not has_time():
            return False
        definitions.erase(workspace, definition_id)
    return True


def _erase_resources(workspace: str, has_time: Callable[[], bool]) -> bool:
    for kind in ResourceKind:
        for resource_id in resources.list_ids(workspace, kind):
            if not has_time():
                return False
            if kind in _WITH_HEADERS:
                secrets.delete(workspace, owner(kind, resource_id))
            partitions.erase(keys.resource(workspace, kind, resource_id))
        if not partitions.erase(keys.resource_names(workspace, kind), has_time=has_time):
            return False
    return True


def _erase_chats(workspace: str, has_time: Callable[[], bool]) -> bool:
    return all(erase_content(ChatRef(workspace, chat_id), has_time) for chat_id in chats.list_ids(workspace))


def _erase_secrets(workspace: str) -> bool:
    """Delete the secrets, some dozens at most, before the items that name their owners."""
    for name in providers.list_providers(workspace):
        secrets.delete(workspace, name)
    for name in (evaluation_settings.SECRET_OWNER, configuration.SECRET_OWNER):
        secrets.delete(workspace, name)
    return True
