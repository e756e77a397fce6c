"""Operation profiles as resources of a workspace: their names are unique, and their versions immutable."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from cupel_core.accounts.keys import load_account
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.codec import decode
from cupel_core.domain.pipeline.operations import Trigger
from cupel_core.domain.pipeline.planning import PipelinePlan, plan_turn
from cupel_core.domain.pipeline.profiles import (
    Pipeline,
    Profile,
    ProfileHead,
    ProfileIssue,
    ProfileVersion,
    profile_warnings,
)
from cupel_core.resources.profile_validation import profile_issues
from cupel_core.store import profiles


class ProfileCheck(NamedTuple):
    """The errors that creating a profile would raise, and the plans of its turns. With errors, there are no plans."""

    errors: tuple[ProfileIssue, ...]
    warnings: tuple[ProfileIssue, ...]
    plans: dict[Trigger, PipelinePlan]


def create(workspace: str, fields: Mapping[str, Any], content: Mapping[str, Any], now: datetime) -> Profile:
    """Create a profile with the head's `fields`. Raise Invalid, naming each invalid field, and Conflict for a name in
    use."""
    _check(workspace, content)
    version = ProfileVersion(1, content, now)
    head = ProfileHead(
        id=new_id("prof"),
        name=fields["name"],
        version=1,
        enabled=True,
        created_at=now,
        updated_at=now,
        session_id=new_id("session"),
    )
    head = replace(head, **fields)
    profiles.create(workspace, head, version)
    return _profile(head, version)


def get(workspace: str, profile_id: str, version: int | None = None) -> Profile:
    """Return the profile at this version, by default the newest. Raise NotFound for an unknown one."""
    head = profiles.get(workspace, profile_id)
    return _profile(head, profiles.get_version(workspace, profile_id, version or head.version))


def list_profiles(workspace: str, limit: int, cursor: str | None) -> Page[ProfileHead]:
    """Return a page of profiles, newest first, without their operations."""
    return profiles.list_profiles(workspace, limit, cursor)


def update(
    workspace: str,
    profile_id: str,
    fields: Mapping[str, Any],
    changes: Mapping[str, Any],
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Profile:
    """Update a profile. If the requested content fields in `changes` change the content, they make the next version.
    Raise Conflict if the profile was changed concurrently, or another has the new name."""
    before = profiles.get(workspace, profile_id)
    precondition.check(etag(before.revision))
    version = profiles.get_version(workspace, profile_id, before.version)
    after, next_version = replace(before, **fields, updated_at=now), None
    content = {**version.content, **changes}
    if content != version.content:
        _check(workspace, content)
        version = next_version = ProfileVersion(before.version + 1, content, now)
        after = replace(after, version=version.number)
    with precondition.guard_write():
        return _profile(profiles.update(workspace, before, after, next_version), version)


def reset_session(
    workspace: str, profile_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> Profile:
    """Set another session id, so that later turns of all chats begin without artifacts."""
    before = profiles.get(workspace, profile_id)
    precondition.check(etag(before.revision))
    version = profiles.get_version(workspace, profile_id, before.version)
    after = replace(before, session_id=new_id("session"), updated_at=now)
    with precondition.guard_write():
        return _profile(profiles.update(workspace, before, after), version)


def delete(workspace: str, profile_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the profile. Its versions stay for the runs and chats that use them."""
    before = profiles.get(workspace, profile_id)
    precondition.check(etag(before.revision))
    with precondition.guard_write():
        profiles.delete(workspace, before, now)


def check(workspace: str, content: Mapping[str, Any]) -> ProfileCheck:
    if errors := profile_issues(workspace, content, partial(load_account, workspace)):
        return ProfileCheck(errors, (), {})
    pipeline = decode(Pipeline, content)
    plans = {trigger: plan_turn(pipeline, trigger) for trigger in Trigger}
    return ProfileCheck((), profile_warnings(pipeline), plans)


def _check(workspace: str, content: Mapping[str, Any]) -> None:
    if errors := profile_issues(workspace, content, partial(load_account, workspace)):
        raise Invalid.fields(FieldError(*error) for error in errors)


def _profile(head: ProfileHead, version: ProfileVersion) -> Profile:
    return Profile(head, version, profile_warnings(version.pipeline))
