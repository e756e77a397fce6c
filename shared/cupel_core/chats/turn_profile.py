from cupel_core.domain.chats.turns import TurnHead
from cupel_core.domain.pipeline.profiles import ExecutionMode, Pipeline
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.store import profiles

_NOTHING = Pipeline(ExecutionMode.CONCURRENT, ())


def load_profile(workspace: str, head: TurnHead) -> RunProfile:
    """Return the profile, without operations if the turn has none or it is not enabled. Versions outlast their
    profile."""
    if head.profile is None or not head.profile.enabled:
        return RunProfile("", "", 0, _NOTHING, head.trigger)
    version = profiles.get_version(workspace, head.profile.id, head.profile.version)
    return RunProfile(head.profile.id, "", version.number, version.pipeline, head.trigger)
