"""Accuracies of judges, each an object whose name follows from what it was computed from."""

from collections.abc import Mapping

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy
from cupel_core.domain.codec import decode, encode
from cupel_core.store import blobs, object_names


def save(ref: RunRef, key: str, by_column: Mapping[int, JudgeAccuracy]) -> None:
    blobs.put_json(
        object_names.judge_accuracy(ref, key), {str(column): encode(each) for column, each in by_column.items()}
    )


def find(ref: RunRef, key: str) -> dict[int, JudgeAccuracy] | None:
    try:
        stored = blobs.get_json(object_names.judge_accuracy(ref, key))
    except NotFound:
        return None
    return {int(column): decode(JudgeAccuracy, each) for column, each in stored.items()}
