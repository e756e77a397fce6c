"""Operation profiles: what runs around the main call of every turn."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.profiles import (
    CheckProfile,
    CreateProfile,
    ProfileCheckResponse,
    ProfileResponse,
    ProfileSummaryResponse,
    UpdateProfile,
)
from cupel_core.domain.pipeline.profiles import Profile
from cupel_core.interfaces.graphql.inputs import check_limit, check_version, parse
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.resources import profiles


@resolves("Query.profile", "getProfile", 2)
def profile(request: Request, _: None, profile_id: str, version: int | None = None) -> Loaded | None:
    try:
        return _loaded(profiles.get(request.workspace, profile_id, check_version(version)))
    except NotFound:
        return None


@resolves("Query.profiles", "listProfiles")
def list_profiles(request: Request, _: None, limit: int) -> Page[Loaded]:
    page = profiles.list_profiles(request.workspace, check_limit(limit), None)
    return page.map(lambda each: Loaded(ProfileSummaryResponse.of(each)))


@resolves("Query.checkProfile", "checkProfile", 5)
def check_profile(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(CheckProfile, body)
    return Loaded(ProfileCheckResponse.of(*profiles.check(request.workspace, wanted.content())))


@resolves("Mutation.createProfile", "createProfile", 5)
def create_profile(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(CreateProfile, body)
    return _loaded(profiles.create(request.workspace, wanted.head_fields(), wanted.content(), request.now))


@resolves("Mutation.updateProfile", "updateProfile", 5)
def update_profile(request: Request, _: None, profile_id: str, body: dict[str, Any]) -> Loaded:
    wanted = parse(UpdateProfile, body)
    fields, content = wanted.head_fields(), wanted.content()
    return _loaded(profiles.update(request.workspace, profile_id, fields, content, request.now, UNCONDITIONAL))


@resolves("Mutation.deleteProfile", "deleteProfile", 5)
def delete_profile(request: Request, _: None, profile_id: str) -> bool:
    profiles.delete(request.workspace, profile_id, request.now, UNCONDITIONAL)
    return True


@resolves("Mutation.resetProfileSession", "resetProfileSession", 5)
def reset_profile_session(request: Request, _: None, profile_id: str) -> Loaded:
    return _loaded(profiles.reset_session(request.workspace, profile_id, request.now, UNCONDITIONAL))


def _loaded(profile: Profile) -> Loaded:
    return Loaded(ProfileResponse.of_profile(profile))
