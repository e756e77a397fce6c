"""Operation profiles: a named resource each, with immutable versions in its partition."""

from datetime import datetime

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.domain.pipeline.profiles import ProfileHead, ProfileVersion
from cupel_core.store import keys, resources
from cupel_core.store.resources import Resource, ResourceKind
from cupel_core.store.table import ExtraWrite, Item

_KIND = ResourceKind.PROFILE


class ProfileVersionItem(Item):
    content = JSONAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")


def create(workspace: str, head: ProfileHead, version: ProfileVersion) -> None:
    """Create a profile. Raise Conflict (field `name`) if another profile has the name."""
    resources.create(workspace, _resource(head), _version_write(workspace, head.id, version))


def update(
    workspace: str, before: ProfileHead, after: ProfileHead, version: ProfileVersion | None = None
) -> ProfileHead:
    """Replace `before` with `after`, together with a new version. Raise Conflict if it was changed since it was
    read."""
    extra = _version_write(workspace, after.id, version) if version is not None else None
    return _head(resources.update(workspace, _resource(before), _resource(after), extra))


def delete(workspace: str, before: ProfileHead, now: datetime) -> None:
    """Hide the profile. Its versions stay for the runs that were started with them."""
    resources.delete(workspace, _resource(before), now)


def get(workspace: str, profile_id: str) -> ProfileHead:
    """Return the profile. Raise NotFound if there is none or it is deleted."""
    return _head(resources.get(workspace, _KIND, profile_id))


def find_session_id(workspace: str, profile_id: str) -> str | None:
    """Return the id, also of a deleted profile, or None if there was none."""
    resource = resources.find(workspace, _KIND, profile_id)
    return _head(resource).session_id if resource is not None else None


def get_version(workspace: str, profile_id: str, number: int) -> ProfileVersion:
    try:
        item = ProfileVersionItem.get(
            keys.resource(workspace, _KIND, profile_id), keys.version(number), consistent_read=True
        )
    except ProfileVersionItem.DoesNotExist:
        raise NotFound(f"profile {profile_id} has no version {number}") from None
    return ProfileVersion(number, item.content, from_iso(item.created_at))


def list_profiles(workspace: str, limit: int, cursor: str | None) -> Page[ProfileHead]:
    return resources.list_resources(workspace, _KIND, limit, cursor).map(_head)


def _version_write(workspace: str, profile_id: str, version: ProfileVersion) -> ExtraWrite:
    item = ProfileVersionItem(
        keys.resource(workspace, _KIND, profile_id),
        keys.version(version.number),
        content=dict(version.content),
        created_at=to_iso(version.created_at),
    )
    return ExtraWrite(item, ProfileVersionItem.pk.does_not_exist())


def _resource(head: ProfileHead) -> Resource:
    body = {
        "description": head.description,
        "enabled": head.enabled,
        "version": head.version,
        "sessionId": head.session_id,
    }
    return Resource(_KIND, head.id, head.name, body, head.created_at, head.updated_at, head.revision)


def _head(resource: Resource) -> ProfileHead:
    return ProfileHead(
        id=resource.id,
        name=resource.name,
        version=int(resource.body["version"]),
        enabled=resource.body["enabled"],
        created_at=resource.created_at,
        updated_at=resource.updated_at,
        description=resource.body["description"],
        session_id=resource.body["sessionId"],
        revision=resource.revision,
    )
