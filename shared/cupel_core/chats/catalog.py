from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import FieldError, Invalid, NotFound, named_in_body
from cupel_core.base.ids import new_id
from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.domain.chats.branches import ChatBranch
from cupel_core.domain.chats.chats import Chat, ChatSettings
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.limits.quotas import Quota
from cupel_core.domain.pipeline.profiles import Profile
from cupel_core.providers.parameters import parameter_errors
from cupel_core.resources import profiles
from cupel_core.resources.target_validation import target_error, timeout_errors
from cupel_core.store import (
    blobs,
    chat_branches,
    chat_turns,
    chats,
    deletion_log,
    erasures,
    idempotency_keys,
    keys,
    object_names,
    partitions,
    quotas,
)
from cupel_core.store.deletion_log import DeletedWhole, Deletion
from cupel_core.store.erasures import LAST_WRITE_AFTER, Erasure, ErasureKind

_FIRST_BRANCH = "main"


def create(workspace: str, settings: ChatSettings, created_by: str, now: datetime, *, playground: bool = False) -> Chat:
    """Create a chat with one empty branch. Raise Invalid for an uncallable target or unknown profile, and
    QuotaExceeded."""
    _raise([*_new_target_errors(workspace, settings, before={}), *_find_profile(workspace, settings)[1]])
    branch = ChatBranch(new_id("br"), _FIRST_BRANCH, now)
    chat = Chat(
        workspace,
        new_id("chat"),
        settings,
        branch.id,
        created_by,
        now,
        now,
        expires_at=chats.expiry(now, playground=playground),
        playground=playground,
    )
    quotas.take(workspace, Quota.CHATS)
    with idempotency_keys.transaction() as transaction:
        chats.add(transaction, chat)
        chat_branches.add(transaction, ChatRef(workspace, chat.id), branch)
    return chat


def get(workspace: str, chat_id: str) -> Chat:
    return chats.get(ChatRef(workspace, chat_id))


def list_chats(workspace: str, limit: int, cursor: str | None, *, playground: bool) -> Page[Chat]:
    return chats.list_chats(workspace, limit, cursor, playground=playground)


def update(
    workspace: str,
    chat_id: str,
    fields: Mapping[str, Any],
    active_branch_id: str | None,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> Chat:
    """Change these settings, and the active branch if one is given. Raise Invalid for those that cannot be used.
    Unchanged settings may have become invalid since. They only prevent turns."""
    ref = ChatRef(workspace, chat_id)
    before = chats.get(ref)
    precondition.check(etag(before.revision))
    settings = replace(before.settings, **fields)
    if "target" in fields:
        _raise(_new_target_errors(workspace, settings, before.settings.parsed_target.params))
    if "profile_id" in fields:
        _raise(_find_profile(workspace, settings)[1])
    if active_branch_id is not None:
        _check_branch(ref, active_branch_id)
    after = replace(before, settings=settings, active_branch_id=active_branch_id or before.active_branch_id)
    with precondition.guard_write():
        return chats.update(before, after, now)


def delete(workspace: str, chat_id: str, now: datetime) -> None:
    """Hide a chat at once and have the sweeper erase it. Raise NotFound if it was deleted before."""
    ref = ChatRef(workspace, chat_id)
    chats.get(ref)
    deletion_log.record(Deletion(RunRef(*ref), DeletedWhole.CHAT), now)
    chats.request_erasure(ref, now + LAST_WRITE_AFTER)
    if not chats.delete(ref, now):
        raise NotFound(f"there is no chat {chat_id}")
    for branch in chat_branches.list_branches(ref):  # No turn can begin any more.
        if branch.open_turn is not None:
            chat_turns.request_abort(ref, branch.open_turn, now)


def erase(erasure: Erasure, now: datetime, has_time: Callable[[], bool]) -> bool:
    """Erase a deleted chat, or one that has expired. Return whether nothing is left to do."""
    ref = ChatRef(*erasure.ref)
    chat = chats.find(ref)
    if chat is None:
        return True
    if erasure.kind is ErasureKind.EXPIRED_CHAT:
        entry = chats.expired_chat(chat)
        if entry.due > now:
            erasures.request(entry)
            return True
        chats.delete(ref, now)
    return erase_content(ref, has_time)


def erase_content(ref: ChatRef, has_time: Callable[[], bool]) -> bool:
    """Erase everything of a chat, its own item last."""
    return (
        blobs.delete_prefix(object_names.chat_blobs(ref), has_time)
        and partitions.erase(keys.chat_turns(ref), has_time=has_time)
        and partitions.erase(keys.chat(ref), except_sort_key="chat", has_time=has_time)
        and partitions.erase(keys.chat(ref))
    )


def check_settings(workspace: str, settings: ChatSettings, model_field: str | None = None) -> Profile | None:
    """Return the profile, if the settings have one. Raise Invalid, naming each field. The check is repeated, because
    keys and providers change after a chat was created. `model_field` replaces the fields of the target's model and
    connector."""
    profile, profile_errors = _find_profile(workspace, settings)
    _raise([*_target_errors(workspace, settings, model_field), *profile_errors])
    return profile


def _raise(errors: Iterable[FieldError]) -> None:
    if found := tuple(errors):
        raise Invalid.fields(found)


def _new_target_errors(workspace: str, settings: ChatSettings, before: ParameterFields) -> Iterator[FieldError]:
    """Yield the errors of a new target, including parameters that its provider does not know. Turns leave such
    parameters out, so those that the chat had `before` may stay."""
    yield from _target_errors(workspace, settings)
    target = settings.parsed_target
    new = {name: value for name, value in target.params.items() if name not in before or before[name] != value}
    yield from parameter_errors(replace(target, params=new), "target.params")


def _target_errors(workspace: str, settings: ChatSettings, model_field: str | None = None) -> Iterator[FieldError]:
    target = settings.parsed_target
    if problem := target_error(workspace, target, ModelChecks(workspace)):
        field = "target.connectorId" if target.connector_id else "target.model"
        yield FieldError(model_field or field, problem)
    yield from timeout_errors(target.call_timeout_seconds, "target.callTimeoutSeconds")


def _find_profile(workspace: str, settings: ChatSettings) -> tuple[Profile | None, list[FieldError]]:
    if settings.profile_id is None:
        return None, []
    try:
        return profiles.get(workspace, settings.profile_id), []
    except NotFound as unknown:
        return None, [FieldError("profileId", unknown.detail)]


def _check_branch(ref: ChatRef, branch_id: str) -> None:
    with named_in_body("activeBranchId"):
        chat_branches.get(ref, branch_id)
