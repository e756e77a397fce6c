"""The names of the objects in the bucket. Each is below a folder of its kind and of its workspace."""

from cupel_core.base.messages import ChatRef, RunRef
from cupel_core.store.keys import PROBES_PER_BLOCK, barrier_node, probe

_WORKSPACE_BLOBS = (
    "scenarios",
    "generations",
    "runs",
    "transcripts",
    "analyses",
    "comparisons",
    "files",
    "openai-files",
    "uploads",
    "chats",
)


def report_document(ref: RunRef, report_id: str) -> str:
    """The figures; nothing that was said."""
    return f"{analysis_blobs(ref)}reports/{report_id}.json.gz"


def report_texts(ref: RunRef, report_id: str = "") -> str:
    """The texts that quote conversations expire like transcripts. Without an id, the prefix of all of the run's."""
    return f"{conversation_blobs(ref)}report-{report_id}{'.json.gz' if report_id else ''}"


def transcript_blob(ref: RunRef, index: int, unique: str) -> str:
    """Starts with `transcripts/`, because the bucket's lifecycle rule can only match prefixes."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.json.gz"


def checkpoint_blob(ref: RunRef, index: int, unique: str) -> str:
    """Expires like transcripts, because it has the same content."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.turn.json.gz"


def conversation_blobs(ref: RunRef, index: int | None = None) -> str:
    """The prefix of all objects with conversations of a probe, or of all of the run's."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{'' if index is None else f'{probe(index)}-'}"


def block_blobs(ref: RunRef, block: int) -> str:
    """The prefix of all objects with conversations of a block of probes: the indexes without their last digits."""
    return f"{conversation_blobs(ref)}{probe(block * PROBES_PER_BLOCK)[:-3]}"


def analysis_blobs(ref: RunRef) -> str:
    """The prefix of all count files and analyses of a run. They have nothing that was said, so they do not expire."""
    return f"analyses/{ref.workspace}/{ref.run_id}/"


def analysis_document(ref: RunRef, analysis_id: str) -> str:
    return f"{analysis_blobs(ref)}{analysis_id}.json.gz"


def narrative_reply(ref: RunRef, key: str) -> str:
    return f"{analysis_blobs(ref)}narratives/{key}.json.gz"


def count_file(ref: RunRef, revision: str, version: int, first_leaf: int) -> str:
    """`revision` identifies the outcomes that are counted, and `version` the format of the file."""
    return f"{analysis_blobs(ref)}{revision}/counts-{version}-{barrier_node(first_leaf)}.bin.gz"


def snapshot_blobs(ref: RunRef) -> str:
    """The prefix of all snapshots of a run."""
    return f"runs/{ref.workspace}/{ref.run_id}/"


def deletion_blob(ref: RunRef, what: int | str) -> str:
    """The record of a deletion by a user: of a probe's content, or of something whole."""
    return f"{DELETIONS}{ref.workspace}/{ref.run_id}/{probe(what) if isinstance(what, int) else what}.json.gz"


def scenario_blobs(workspace: str, definition_id: str) -> str:
    """The prefix of all pages of scenarios of a definition."""
    return f"scenarios/{workspace}/{definition_id}/"


def generation_blobs(workspace: str, generation_id: str) -> str:
    """The prefix of all texts of a generation."""
    return f"generations/{workspace}/{generation_id}/"


def score_blob(ref: RunRef, index: int, unique: str) -> str:
    """Expires like transcripts, because judges quote them."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.score.json.gz"


def snapshot_blob(ref: RunRef, unique: str) -> str:
    """An expansion gets its own snapshot: two concurrent ones must not overwrite each other."""
    return f"runs/{ref.workspace}/{ref.run_id}/{unique}.json.gz"


def workspace_blobs(workspace: str) -> tuple[str, ...]:
    """The prefixes of all objects of a workspace, but for the records of deletions."""
    return tuple(f"{kind}/{workspace}/" for kind in _WORKSPACE_BLOBS)


def comparison_blobs(workspace: str, comparison_id: str) -> str:
    """The prefix of the figures of a comparison, and of its changed scenarios."""
    return f"comparisons/{workspace}/{comparison_id}/"


def chat_blobs(ref: ChatRef) -> str:
    """The prefix of all long texts of a chat."""
    return f"chats/{ref.workspace}/{ref.chat_id}/"


def chat_blob(ref: ChatRef, unique: str) -> str:
    return f"{chat_blobs(ref)}{unique}.json.gz"


def file_blob(workspace: str, file_id: str) -> str:
    return f"files/{workspace}/{file_id}"


def data_file_blob(workspace: str, file_id: str) -> str:
    return f"openai-files/{workspace}/{file_id}"


def data_part_blob(workspace: str, upload_id: str, part_id: str) -> str:
    """The bucket's lifecycle rule removes abandoned ones. Without a part, the prefix of all of the upload's."""
    return f"uploads/{workspace}/{upload_id}/{part_id}"


def upload_blob(workspace: str, file_id: str) -> str:
    """The content of a file is here until it was checked; the bucket's lifecycle rule removes abandoned ones."""
    return f"uploads/{workspace}/{file_id}"


DELETIONS = "deletions/"
