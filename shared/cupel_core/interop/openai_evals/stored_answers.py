"""Makes data of an eval from answers of the workspace's runs: OpenAI's stored completions and logs.

Rows are copies, so they are in a separate definition, made for one run of the eval. It is erased with its run and their
conversations when one of the copied answers is deleted, and before the first of them expires.

No copy outlives its answer: the definition is created and noted in the runs of the answers before these are read.
Deleting an answer looks for such notes afterwards and deletes the definition, which then accepts no rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import orjson

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import MAX_LIMIT, Creation
from cupel_core.contract.openai_evals import MAX_ROWS, StoredAnswers
from cupel_core.definitions import catalog
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.openai_evals.models import from_target, to_target
from cupel_core.domain.openai_evals.rows import Row, answer_row
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.labels import metadata_entry
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.interop.openai_evals.evals import OpenAIEval
from cupel_core.store import answer_copies, erasures, openai_evals, outcomes, runs
from cupel_core.store.erasures import Erasure, ErasureKind
from cupel_core.store.outcome_items import digest

SOURCE_FIELD = "data_source.source"
MAX_EXAMINED = 50_000
MAX_RUNS = 300
_MAX_PAGES = 30
MAX_DATA_BYTES = 16_000_000
"""An uploaded file may have about as many bytes."""
ERASED_BEFORE = timedelta(hours=1)
"""The copies are erased this long before the first answer expires."""


class AnswersOfRun(NamedTuple):
    run: Run
    indexes: list[int]

    @property
    def ref(self) -> RunRef:
        return RunRef(self.run.workspace, self.run.id)


class AnswerSelection(NamedTuple):
    answers: Sequence[AnswersOfRun]
    expires_at: datetime | None
    """The first of the answers expires at this time; None if none does."""


def select(evaluation: OpenAIEval, workspace: str, source: StoredAnswers, now: datetime) -> AnswerSelection:
    """Return the stored answers that the source describes, those of the newest runs first.

    Raises Invalid if there are none, and if too many must be examined.
    """
    metadata = {**(evaluation.record.data_source_config.get("metadata") or {}), **(source.metadata or {})}
    left, examined, expiries = source.limit or MAX_ROWS, 0, list[datetime]()
    answers: list[AnswersOfRun] = []
    for run in _runs(workspace, evaluation.id, metadata, source):
        indexes: list[int] = []
        for transcript in _transcripts(run, source, now):
            examined += 1
            if examined > MAX_EXAMINED:
                raise _too_many(f"more than {MAX_EXAMINED:,} answers would have to be examined")
            if transcript is None:
                continue
            indexes.append(transcript.probe_index)
            if transcript.content_expires_at is not None:
                expiries.append(transcript.content_expires_at)
            if len(indexes) == left:
                break
        if indexes:
            answers.append(AnswersOfRun(run, indexes))
            left -= len(indexes)
        if not left:
            break
    if not answers:
        raise no_data(metadata, source)
    return AnswerSelection(answers, min(expiries, default=None))


def make_definition(evaluation: OpenAIEval, workspace: str, selection: AnswerSelection, now: datetime) -> str:
    definition_id = new_id("def")
    name = f"{evaluation.name[:150]}: answers of {now:%Y-%m-%d %H:%M:%S}"
    catalog.create(workspace, Labels(name=name), evaluation.content.to_json(), now, definition_id=definition_id)
    answer_copies.add((each.ref for each in selection.answers), definition_id)
    if selection.expires_at is not None:
        ref, due = RunRef(workspace, definition_id), selection.expires_at - ERASED_BEFORE
        erasures.request(Erasure(ref, ErasureKind.DEFINITION, due))
    return definition_id


def read_rows(selection: AnswerSelection) -> list[Row]:
    """Return the rows of the answers that still exist. Raises Invalid above MAX_DATA_BYTES."""
    rows: list[Row] = []
    size = 0
    for row in _rows(selection):
        size += len(orjson.dumps(row))
        if size > MAX_DATA_BYTES:
            raise _too_many(f"the answers have more than {MAX_DATA_BYTES:,} bytes")
        rows.append(row)
    return rows


def no_data(metadata: Mapping[str, str], source: StoredAnswers) -> Invalid:
    wanted = [f"the metadata {metadata_entry(key, value)}" for key, value in metadata.items()]
    wanted += [f"the model {source.model}"] if source.model is not None else []
    times = ("created_after", "created_before")
    wanted += [f"{name} {value}" for name in times if (value := getattr(source, name)) is not None]
    described = f" with {' and '.join(wanted)}" if wanted else ""
    return Invalid.field(
        SOURCE_FIELD, f"has no data: no run of this workspace has stored answers{described}; metadata is that of runs"
    )


def _too_many(why: str) -> Invalid:
    return Invalid.field(SOURCE_FIELD, f"matches too much: {why}; choose less by metadata, created_after or limit")


def _runs(workspace: str, eval_id: str, metadata: Mapping[str, str], source: StoredAnswers) -> Iterator[Run]:
    """Yield the runs, newest first, without those of the eval itself and those whose answers are their data."""
    entries = [metadata_entry(key, value) for key, value in metadata.items()]
    before = None if source.created_before is None else _moment(source.created_before + 1)
    cursor = None
    examined = 0
    for _ in range(_MAX_PAGES):
        page = runs.list_runs(
            workspace, metadata=entries, limit=MAX_LIMIT, cursor=cursor, created=Creation(before=before)
        )
        for run in page.items:
            examined += 1
            if examined > MAX_RUNS:
                raise _too_many(f"more than {MAX_RUNS} runs would have to be examined")
            data = openai_evals.find_data(workspace, run.definition_id, run.definition_version)
            of_eval = eval_id in (run.definition_id, data and data.eval_id)
            if not of_eval and not (data and data.is_recorded):
                yield run
        if page.next_cursor is None:
            return
        cursor = page.next_cursor
    raise _too_many("the workspace has too many runs")


def _transcripts(run: Run, source: StoredAnswers, now: datetime) -> Iterator[Transcript | None]:
    target = None if source.model is None else to_target(source.model)
    after, before = source.created_after, source.created_before
    for indexes in run.plan.ranges(run.plan.columns_of(target)):
        for stored in outcomes.list_stored(RunRef(run.workspace, run.id), indexes):
            outcome = digest(stored) if stored.completed and stored.erased_at is None else None
            if not isinstance(outcome, Transcript):
                yield None
                continue
            created = int(outcome.created_at.timestamp())
            expires = outcome.content_expires_at
            is_wanted = (after is None or after <= created) and (before is None or created <= before)
            yield outcome if is_wanted and (expires is None or expires - ERASED_BEFORE > now) else None


def _rows(selection: AnswerSelection) -> Iterator[Row]:
    for each in selection.answers:
        metadata = {key: str(value) for key, value in each.run.labels.metadata.items()}
        for outcome in outcomes.list_outcomes(each.ref, each.indexes):
            if isinstance(outcome, Transcript) and outcome.conversation.is_answered:
                answer_id = transcript_id(each.run.id, outcome.probe_index)
                yield answer_row(answer_id, outcome.messages, from_target(outcome.model_id), metadata)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
