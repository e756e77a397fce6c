"""Operation profiles: what runs around the main call of every turn."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit, VersionFilter
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.profiles import (
    CheckProfile,
    CreateProfile,
    ProfileCheckResponse,
    ProfilePage,
    ProfileResponse,
    ProfileSummaryResponse,
    UpdateProfile,
)
from cupel_core.domain.pipeline.profiles import Profile
from cupel_core.resources import profiles

router = OperationRouter()


@router.operation("createProfile", status=201)
def create_profile(body: CreateProfile) -> ProfileResponse:
    return _tagged(profiles.create(router.workspace, body.head_fields(), body.content(), utc_now()))


@router.operation("listProfiles")
def list_profiles(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[ProfilePage]:
    listed = profiles.list_profiles(router.workspace, limit, cursor)
    return bounded_page(ProfilePage, listed.entries(), limit, ProfileSummaryResponse.of)


@router.operation("getProfile")
def get_profile(profile_id: str, version: VersionFilter = None) -> ProfileResponse:
    return _tagged(profiles.get(router.workspace, profile_id, version))


@router.operation("updateProfile")
def update_profile(profile_id: str, body: UpdateProfile, if_match: IfMatch = None) -> ProfileResponse:
    precondition = Precondition.parse(if_match)
    fields, changes = body.head_fields(), body.content()
    return _tagged(profiles.update(router.workspace, profile_id, fields, changes, utc_now(), precondition))


@router.operation("deleteProfile", status=204)
def delete_profile(profile_id: str, if_match: IfMatch = None) -> Response[None]:
    profiles.delete(router.workspace, profile_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


@router.operation("resetProfileSession")
def reset_profile_session(profile_id: str, if_match: IfMatch = None) -> ProfileResponse:
    return _tagged(profiles.reset_session(router.workspace, profile_id, utc_now(), Precondition.parse(if_match)))


@router.operation("checkProfile")
def check_profile(body: CheckProfile) -> ProfileCheckResponse:
    return ProfileCheckResponse.of(*profiles.check(router.workspace, body.content()))


def _tagged(profile: Profile) -> ProfileResponse:
    return router.tagged(ProfileResponse.of_profile(profile), etag(profile.head.revision))
