"""Stores each eval as a definition whose assertions are the graders. The data comes with the runs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import batched
from typing import Any, NamedTuple

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.ids import new_id
from cupel_core.contract.openai_evals import CreateOpenAIEval, UpdateOpenAIEval
from cupel_core.definitions import catalog
from cupel_core.domain.definitions.definitions import Content, Definition, Labels
from cupel_core.domain.openai_evals.graders import to_assertion
from cupel_core.runs import erasure
from cupel_core.store import definitions, openai_evals
from cupel_core.store.openai_evals import EvalRecord

UNNAMED = "Untitled eval"
_BATCH = 20


class OpenAIEval(NamedTuple):
    record: EvalRecord
    name: str
    version: int
    content: Content

    @property
    def id(self) -> str:
        return self.record.definition_id


def create(workspace: str, body: CreateOpenAIEval, now: datetime) -> OpenAIEval:
    """Create an eval. Raises Invalid, naming the invalid fields."""
    config = body.data_source_config.model_dump(mode="json")
    record = EvalRecord(new_id("def"), now, config, body.metadata)
    assertions = [to_assertion(grader) for grader in body.graders()]
    try:
        created = catalog.create(
            workspace,
            Labels(name=body.name or UNNAMED),
            {"assertions": assertions},
            now,
            definition_id=record.definition_id,
            extra=openai_evals.creation(workspace, record),
        )
    except Invalid as error:
        raise _with_grader_fields(error) from None
    return _eval(record, created)


def get(workspace: str, eval_id: str) -> OpenAIEval:
    """Return an eval. Raises NotFound if it is unknown or deleted, or the definition was not created as an eval."""
    record = openai_evals.get(workspace, eval_id)
    try:
        return _eval(record, catalog.get(workspace, eval_id))
    except NotFound:
        raise NotFound(f"there is no eval {eval_id}") from None


def update(workspace: str, eval_id: str, body: UpdateOpenAIEval, now: datetime) -> OpenAIEval:
    """Change the given fields; null removes metadata. Raises Conflict if the eval was changed at the same time."""
    record, before = get(workspace, eval_id).record, definitions.get(workspace, eval_id)
    if "metadata" in body.model_fields_set:
        record = replace(record, metadata=body.metadata)
    after = replace(before, name=body.name or before.name, updated_at=now)
    definitions.update(workspace, before, after, extra=openai_evals.replacement(workspace, record))
    return get(workspace, eval_id)


def delete(workspace: str, eval_id: str, now: datetime, has_time: Callable[[], bool]) -> None:
    """Erase the eval with its data, its runs and their conversations."""
    get(workspace, eval_id)
    erasure.erase_definition(workspace, eval_id, now, has_time)


def list_evals(workspace: str, after: str | None, *, oldest_first: bool, by_update: bool) -> Iterator[OpenAIEval]:
    """Yield the evals after `after`, read lazily. Raises NotFound for an unknown `after`."""
    if by_update:
        return _by_update(workspace, after, oldest_first=oldest_first)
    start = None if after is None else openai_evals.get(workspace, after)
    return _existing(workspace, openai_evals.list_evals(workspace, start, _BATCH, oldest_first=oldest_first))


def _by_update(workspace: str, after: str | None, *, oldest_first: bool) -> Iterator[OpenAIEval]:
    """Yield evals by their update. No index has these times, so the heads of all evals are read."""
    records = {each.definition_id: each for each in openai_evals.list_evals(workspace, None, 100, oldest_first=True)}
    heads = definitions.get_heads(workspace, records)
    ordered = sorted(heads.values(), key=lambda head: (head.updated_at, head.id), reverse=not oldest_first)
    ids = [head.id for head in ordered]
    if after is not None:
        if after not in ids:
            raise NotFound(f"there is no eval {after}")
        ids = ids[ids.index(after) + 1 :]
    return (_eval(records[each], catalog.get(workspace, each)) for each in ids)


def _existing(workspace: str, records: Iterator[EvalRecord]) -> Iterator[OpenAIEval]:
    for batch in batched(records, _BATCH):
        heads = definitions.get_heads(workspace, [record.definition_id for record in batch])
        yield from (
            _eval(record, catalog.get(workspace, record.definition_id))
            for record in batch
            if record.definition_id in heads
        )


def _eval(record: EvalRecord, definition: Definition) -> OpenAIEval:
    return OpenAIEval(record, definition.head.name, definition.version, definition.content)


def _with_grader_fields(error: Invalid) -> Invalid:
    prefix = "content.assertions."
    return Invalid.fields(
        replace(each, field=_grader_field(each.field.removeprefix(prefix))) if each.field.startswith(prefix) else each
        for each in error.errors
    )


def _grader_field(path: str) -> str:
    number, _, name = path.partition(".")
    names: Mapping[str, Any] = {"threshold": "pass_threshold", "provider": "model", "metric": "name"}
    return ".".join(filter(None, ("testing_criteria", number, names.get(name, ""))))
