"""Count files in the bucket: one per 10,000 probes and revision of a run's outcomes.

A file is written once. Whoever computes it again from the same outcomes writes the same bytes.
"""

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counts import MAX_FILE_BYTES, VERSION, Counts
from cupel_core.store import blobs, keys


def save(ref: RunRef, revision: str, first_leaf: int, counts: Counts) -> None:
    """`revision` identifies the outcomes that were counted."""
    blobs.put_bytes(keys.count_file(ref, revision, VERSION, first_leaf), counts.encode())


def find(ref: RunRef, revision: str, first_leaf: int) -> Counts | None:
    """The counts of the leaves from this one on; None if they are not stored. Raises InvalidCountFile."""
    try:
        return Counts.decode(blobs.get_bytes(keys.count_file(ref, revision, VERSION, first_leaf), MAX_FILE_BYTES))
    except NotFound:
        return None
