"""Stores an evaluation's outcomes in a file, from which an interrupted evaluation continues.

Every line is a JSON object: first a header with digests of the plan, then one line for each finished probe, and one for
each continuation. A line is written at once, so that a crash loses the probes in flight and at most the line that was
being written, which is dropped. A later line about a probe replaces an earlier one.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import TypeAdapter

from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.private_folder import make_folder_of
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript

try:
    import fcntl
except ImportError:  # Evaluations cannot lock a file on Windows, where they must not share one.
    fcntl = None  # type: ignore[assignment]

_FORMAT = 2


class FileHeader(NamedTuple):
    """Identifies the evaluation that was planned when a file was begun.

    `digests` has a digest of each part of the plan.
    """

    id: str
    seed: int
    digests: Mapping[str, str]


@dataclass(frozen=True)
class SavedEvaluation:
    """Holds the contents of a file.

    Only completed probes are restored: errored ones have no answer, and are repeated.
    """

    id: str
    seed: int
    digests: Mapping[str, str]
    transcripts: Mapping[int, Transcript]
    compared: frozenset[int]
    spending: tuple[Spending, ...]
    """An entry for each recorded conversation, also for those that ended with an error and were repeated."""
    continuations: int
    size: int

    @property
    def next_round(self) -> int:
        """Return the retry round of the following conversations, so that an agent does not take them for earlier
        ones."""
        return self.continuations + 2


def read_saved(path: Path) -> SavedEvaluation | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"resume: {path}: {error.strerror or error}") from error
    if not content:
        return None
    try:
        return _parse(content.split(b"\n")[:-1], len(content))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, why: object) -> UsageError:
    return UsageError(f"resume: {path} is not the file of an evaluation, or is damaged: {why}")


def _parse(lines: Sequence[bytes], size: int) -> SavedEvaluation:
    header, *records = map(json.loads, lines)
    if header.get("format") != _FORMAT:
        raise ValueError(f"its format is {header.get('format')}, expected {_FORMAT}")
    transcripts: dict[int, Transcript] = {}
    compared: set[int] = set()
    spending: dict[tuple[int, int], Spending] = {}
    for record in records:
        outcome = _outcome(record)
        if outcome is None:
            continue
        # Comparing answers adds to the cost of their conversations; in each round, a probe has one.
        spending[outcome.probe_index, outcome.retry_round] = outcome.spending
        if isinstance(outcome, Transcript):
            transcripts[outcome.probe_index] = outcome
            compared |= {outcome.probe_index} if record.get("compared") else set()
    continuations = sum("continued" in record for record in records)
    digests = {name: str(digest) for name, digest in header["digests"].items()}
    spent = tuple(spending.values())
    return SavedEvaluation(
        header["id"], header["seed"], digests, transcripts, frozenset(compared), spent, continuations, size
    )


def _outcome(record: Json) -> Outcome | None:
    if "transcript" in record:
        return _transcripts().validate_python(record["transcript"])
    return _errors().validate_python(record["error"]) if "error" in record else None


@dataclass
class OutcomeFile:
    """Appends outcomes to the file. One evaluation at a time may use it: it is locked until it is closed."""

    path: Path
    _file: IO[bytes]
    count: int = field(default=0, init=False)

    @classmethod
    def open(cls, path: Path, header: FileHeader, saved: SavedEvaluation | None) -> "OutcomeFile":
        """Begin the file with this header, or continue the one in which `saved` was found.

        Raises UsageError if another evaluation uses it, or has since then.
        """
        file = cls(path, _open_locked(path, saved.size if saved else 0))
        if saved is None:
            file._append({"format": _FORMAT, **header._asdict()})
        else:
            _drop_unfinished_line(path)
            file._append({"continued": saved.next_round})
        return file

    def close(self) -> None:
        with suppress(OSError):  # Errors of writing were reported when outcomes were recorded.
            self._file.close()

    def record(self, outcome: Outcome) -> None:
        self._append(_record(outcome))
        self.count += isinstance(outcome, Transcript)

    def record_comparison(self, outcomes: Sequence[Outcome]) -> None:
        self._append(*(_record(outcome) | {"compared": True} for outcome in outcomes))

    def _append(self, *records: Json) -> None:
        try:
            self._file.write(b"".join(json.dumps(record).encode() + b"\n" for record in records))
            self._file.flush()
        except OSError as error:
            raise UsageError(f"resume: {self.path}: {error.strerror or error}") from error


def check_same_plan(path: Path, saved: SavedEvaluation, digests: Mapping[str, str], probes: int) -> None:
    different = [name for name, digest in digests.items() if saved.digests.get(name) != digest]
    if different:
        raise UsageError(
            f"resume: {path} is of an evaluation with different {' and '.join(different)}; "
            "repeat the same evaluation, or use another file"
        )
    if not all(0 <= index < probes for index in saved.transcripts):
        raise _damaged(path, "it has a probe that the evaluation does not have")


def _record(outcome: Outcome) -> Json:
    if isinstance(outcome, ProbeError):
        return {"error": _errors().dump_python(outcome, mode="json")}
    # Parts of an agent's structured output that JSON cannot represent are saved as text.
    return {"transcript": _transcripts().dump_python(outcome, mode="json", fallback=str)}


def _open_locked(path: Path, size: int) -> IO[bytes]:
    """Open the file to append. Raises UsageError if another evaluation uses it, or has since it was read with this
    size.

    Only the owner can read it: it contains conversations.
    """
    try:
        make_folder_of(path)
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
    except OSError as error:
        raise UsageError(f"resume: {path}: {error.strerror or error}") from error
    if not _is_locked(file) or os.fstat(file.fileno()).st_size != size:
        file.close()
        raise UsageError(f"resume: {path}: another evaluation is using this file; use another one")
    return file


def _is_locked(file: IO[bytes]) -> bool:
    """Return whether the file could be locked.

    Some file systems have no locks; there, and on Windows, it counts as locked.
    """
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _drop_unfinished_line(path: Path) -> None:
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        os.truncate(path, content.rfind(b"\n") + 1)


@cache
def _transcripts() -> TypeAdapter[Transcript]:
    return TypeAdapter(Transcript)


@cache
def _errors() -> TypeAdapter[ProbeError]:
    return TypeAdapter(ProbeError)
