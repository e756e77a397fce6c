import hashlib
from datetime import datetime

from cupel_core.base.clock import to_iso
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.messages import ChatRef
from cupel_core.chats.prompts import load_artifacts
from cupel_core.domain.chats.branches import ChatBranch
from cupel_core.domain.chats.sessions import ProfileSession
from cupel_core.domain.pipeline.turns import StoredArtifact
from cupel_core.store import chat_branches, chats, profiles


def get(workspace: str, chat_id: str, branch_id: str, profile_id: str | None, now: datetime) -> ProfileSession:
    """Return the session of a profile on a branch, by default the chat's. Raise Invalid for none or an unknown one."""
    ref = ChatRef(workspace, chat_id)
    chat = chats.get(ref)
    resolved_id = profile_id or chat.settings.profile_id
    if resolved_id is None:
        raise Invalid.field("profileId", "is required: the chat has no profile")
    session_id = profiles.find_session_id(workspace, resolved_id)
    if session_id is None and profile_id is not None:
        raise Invalid.field("profileId", f"there is no profile {profile_id}")
    branch = chat_branches.get(ref, branch_id)
    name = session_name(resolved_id, session_id or "", branch)
    stored = load_artifacts(ref, branch, name, branch.length)
    artifacts = {tag: artifact.at(to_iso(now)) for tag, artifact in sorted(stored.items())}
    return ProfileSession(name, resolved_id, session_id or "", artifacts)


def get_artifact(
    workspace: str, chat_id: str, branch_id: str, tag: str, profile_id: str | None, now: datetime
) -> StoredArtifact:
    """Return the artifact. Raise NotFound if there is none, and what `get` raises."""
    artifacts = get(workspace, chat_id, branch_id, profile_id, now).artifacts
    if tag not in artifacts:
        known = f"it has {', '.join(artifacts)}" if artifacts else "it has none"
        raise NotFound(f"the branch has no artifact {tag} of this profile; {known}")
    return artifacts[tag]


def session_name(profile_id: str, session_id: str, branch: ChatBranch) -> str:
    """Return the name by profile, whatever its version, so that changing a profile does not lose its artifacts."""
    return hashlib.sha256(f"{profile_id}\n{session_id}\n{branch.session_salt}".encode()).hexdigest()[:16]
