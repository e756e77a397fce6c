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
    return f"{analysis_blobs(ref)}reports/{report_id}.json.gz"


def report_texts(ref: RunRef, report_id: str = "") -> str:
    """Return the key of a report's texts, or without an id their prefix. They quote conversations and expire with
    them."""
    return f"{conversation_blobs(ref)}report-{report_id}{'.json.gz' if report_id else ''}"


def transcript_blob(ref: RunRef, index: int, unique: str) -> str:
    """Return the key. It starts with `transcripts/`, because the bucket's lifecycle rule can only match prefixes."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.json.gz"


def checkpoint_blob(ref: RunRef, index: int, unique: str) -> str:
    """Return the key. Checkpoints expire like transcripts, because they have the same content."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.turn.json.gz"


def conversation_blobs(ref: RunRef, index: int | None = None) -> str:
    return f"transcripts/{ref.workspace}/{ref.run_id}/{'' if index is None else f'{probe(index)}-'}"


def block_blobs(ref: RunRef, block: int) -> str:
    """Return the prefix of all objects with conversations of a block of probes, whose indexes share all but the last
    digits."""
    return f"{conversation_blobs(ref)}{probe(block * PROBES_PER_BLOCK)[:-3]}"


def analysis_blobs(ref: RunRef) -> str:
    """Return the prefix of a run's count files and analyses. They quote no conversation, so they do not expire."""
    return f"analyses/{ref.workspace}/{ref.run_id}/"


def analysis_document(ref: RunRef, analysis_id: str) -> str:
    return f"{analysis_blobs(ref)}{analysis_id}.json.gz"


def narrative_reply(ref: RunRef, key: str) -> str:
    return f"{analysis_blobs(ref)}narratives/{key}.json.gz"


def judge_accuracy(ref: RunRef, key: str) -> str:
    return f"{analysis_blobs(ref)}judges/{key}.json.gz"


def count_file(ref: RunRef, revision: str, version: int, first_leaf: int) -> str:
    """Return the key. `revision` identifies the outcomes that are counted, and `version` the format of the file."""
    return f"{analysis_blobs(ref)}{revision}/counts-{version}-{barrier_node(first_leaf)}.bin.gz"


def snapshot_blobs(ref: RunRef) -> str:
    return f"runs/{ref.workspace}/{ref.run_id}/"


def deletion_blob(ref: RunRef, what: int | str) -> str:
    return f"{DELETIONS}{ref.workspace}/{ref.run_id}/{probe(what) if isinstance(what, int) else what}.json.gz"


def scenario_blobs(workspace: str, definition_id: str) -> str:
    return f"scenarios/{workspace}/{definition_id}/"


def generation_blobs(workspace: str, generation_id: str) -> str:
    return f"generations/{workspace}/{generation_id}/"


def score_blob(ref: RunRef, index: int, unique: str) -> str:
    """Return the key. Scores expire like transcripts, because judges quote them."""
    return f"transcripts/{ref.workspace}/{ref.run_id}/{probe(index)}-{unique}.score.json.gz"


def snapshot_blob(ref: RunRef, unique: str) -> str:
    """Return the key. Each expansion has its own snapshot, so that two concurrent ones do not overwrite each other."""
    return f"runs/{ref.workspace}/{ref.run_id}/{unique}.json.gz"


def workspace_blobs(workspace: str) -> tuple[str, ...]:
    return tuple(f"{kind}/{workspace}/" for kind in _WORKSPACE_BLOBS)


def comparison_blobs(workspace: str, comparison_id: str) -> str:
    return f"comparisons/{workspace}/{comparison_id}/"


def chat_blobs(ref: ChatRef) -> str:
    return f"chats/{ref.workspace}/{ref.chat_id}/"


def chat_blob(ref: ChatRef, unique: str) -> str:
    return f"{chat_blobs(ref)}{unique}.json.gz"


def file_blob(workspace: str, file_id: str) -> str:
    return f"files/{workspace}/{file_id}"


def data_file_blob(workspace: str, file_id: str) -> str:
    return f"openai-files/{workspace}/{file_id}"


def data_part_blob(workspace: str, upload_id: str, part_id: str) -> str:
    """Return the key of a part, or without an id the prefix of all parts. A lifecycle rule removes abandoned ones."""
    return f"uploads/{workspace}/{upload_id}/{part_id}"


def upload_blob(workspace: str, file_id: str) -> str:
    """Return the key of an uploaded file until it is checked. A lifecycle rule removes abandoned ones."""
    return f"uploads/{workspace}/{file_id}"


DELETIONS = "deletions/"
