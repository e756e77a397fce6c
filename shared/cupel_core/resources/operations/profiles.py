from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, Tagged, ToolGroup, operation
from cupel_core.contract.profiles import (
    CheckProfile,
    CreateProfile,
    ProfileCheckResponse,
    ProfilePage,
    ProfileResponse,
    ProfileSummaryResponse,
    UpdateProfile,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    VersionFilter,
)
from cupel_core.domain.pipeline.profiles import Profile
from cupel_core.resources import profiles


@operation(
    "POST /v1/profiles",
    "Create an operation profile",
    role=MEMBER,
    returns="The profile, at version 1",
    status=201,
    location="/v1/profiles/{id}",
    replay=Replay.CREATED,
)
def create_profile(call: Call, body: CreateProfile) -> Tagged[ProfileResponse]:
    """All rules that it breaks are named together."""
    return _tagged(profiles.create(call.workspace, body.head_fields(), body.content(), call.now))


@operation(
    "GET /v1/profiles",
    "List the operation profiles, newest first",
    role=VIEWER,
    returns="A page of profiles, without their operations",
    tool=AsTool(ToolGroup.READ, "id name description version enabled"),
)
def list_profiles(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[ProfilePage]:
    listed = profiles.list_profiles(call.workspace, limit, cursor)
    return Listed(listed, ProfileSummaryResponse.from_value)


@operation(
    "GET /v1/profiles/{profile_id}",
    "Get an operation profile",
    role=VIEWER,
    returns="The profile, at the newest version unless another is named",
)
def get_profile(call: Call, profile_id: str, version: VersionFilter = None) -> Tagged[ProfileResponse]:
    return _tagged(profiles.get(call.workspace, profile_id, version))


@operation(
    "PATCH /v1/profiles/{profile_id}",
    "Update an operation profile",
    role=MEMBER,
    returns="The updated profile",
    if_match=True,
)
def update_profile(call: Call, profile_id: str, body: UpdateProfile) -> Tagged[ProfileResponse]:
    """Other operations, or another mode, make the next version."""
    fields, changes = body.head_fields(), body.content()
    return _tagged(profiles.update(call.workspace, profile_id, fields, changes, call.now, call.precondition))


@operation(
    "DELETE /v1/profiles/{profile_id}", "Delete an operation profile", role=MEMBER, returns="Deleted", if_match=True
)
def delete_profile(call: Call, profile_id: str) -> None:
    profiles.delete(call.workspace, profile_id, call.now, call.precondition)


@operation(
    "POST /v1/profiles/{profile_id}/reset-session",
    "Forget the artifacts that a profile's operations have stored in chats",
    role=MEMBER,
    returns="The profile with its new session id; later turns of all chats begin without artifacts",
    if_match=True,
)
def reset_profile_session(call: Call, profile_id: str) -> Tagged[ProfileResponse]:
    return _tagged(profiles.reset_session(call.workspace, profile_id, call.now, call.precondition))


@operation(
    "POST /v1/profiles/check",
    "Check an operation profile without storing it",
    role=VIEWER,
    returns="Its errors and warnings, and what its turns would run",
    is_repeatable=True,
)
def check_profile(call: Call, body: CheckProfile) -> ProfileCheckResponse:
    return ProfileCheckResponse.of(*profiles.check(call.workspace, body.content()))


def _tagged(profile: Profile) -> Tagged[ProfileResponse]:
    return Tagged(ProfileResponse.of_profile(profile), etag(profile.head.revision))
