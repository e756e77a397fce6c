"""A request for a run of an eval is read here: its rows, the scenarios made of them, and the model."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from cupel_core import sandbox
from cupel_core.accounts.named_models import list_uncallable
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.openai_evals import (
    CreateOpenAIEvalRun,
    FileContent,
    FileId,
    ItemReference,
    JsonlDataSource,
    StoredAnswers,
    TemplateMessages,
)
from cupel_core.contract.parameters import ModelParametersInput
from cupel_core.domain.definitions.required_models import content_models
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.openai_evals.graders import uses_sample
from cupel_core.domain.openai_evals.models import from_target, to_target
from cupel_core.domain.openai_evals.parameters import run_params
from cupel_core.domain.openai_evals.rows import (
    ITEM,
    RECORDED_TARGET,
    Row,
    recorded_scenario,
    sampled_scenario,
)
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_templates import SAMPLE
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.interop.openai_evals import files, stored_answers
from cupel_core.interop.openai_evals.evals import OpenAIEval

MAX_RENDERED_LENGTH = 32_000_000
"""The messages of a run have at most so many characters: a template can repeat an item many times."""
_LIMITS = sandbox.TaskLimits(cpu_seconds=10.0, memory_mb=320, wall_seconds=20.0)
_SCHEMA_TASK = "cupel_core.scoring.schemas:violations"
_MAX_ERRORS = 5


def source_of(body: CreateOpenAIEvalRun) -> dict[str, Any]:
    data_source = body.data_source
    origin = data_source.source
    if isinstance(origin, StoredAnswers):
        reference = origin.to_json()
    else:
        reference = {"type": origin.type, "id": origin.id} if isinstance(origin, FileId) else {"type": origin.type}
    source: dict[str, Any] = {"type": data_source.type, "source": reference}
    messages = _asked_messages(body)
    return source if messages is None else {**source, "input_messages": messages.to_json()}


def _asked_messages(body: CreateOpenAIEvalRun) -> TemplateMessages | ItemReference | None:
    data_source = body.data_source
    return None if isinstance(data_source, JsonlDataSource) else data_source.asked_messages


def read_rows(workspace: str, body: CreateOpenAIEvalRun) -> list[dict[str, Any]]:
    source = body.data_source.source
    if isinstance(source, FileContent):
        return source.rows()
    return files.rows_of(workspace, source.id) if isinstance(source, FileId) else []


def target_of(body: CreateOpenAIEvalRun) -> Target:
    if isinstance(body.data_source, JsonlDataSource) or body.data_source.model is None:
        return Target(RECORDED_TARGET)
    sampling = body.data_source.sampling_params
    given = sampling.model_dump(mode="json", by_alias=True, exclude_none=True) if sampling else {}
    try:
        params = ModelParametersInput.model_validate(run_params(given))
    except ValidationError as error:
        raise Invalid.fields(
            FieldError("data_source.sampling_params", _named(each["loc"], error_message(each)))
            for each in error.errors(include_url=False)
        ) from None
    return Target(to_target(body.data_source.model), params=params.fields())


def _named(location: tuple[str | int, ...], message: str) -> str:
    return f"{'.'.join(map(str, location))}: {message}" if location else message


def check_judges(workspace: str, evaluation: OpenAIEval) -> None:
    """Check the judges before a version of the definition is written, with OpenAI's names of fields."""
    found = list_uncallable(workspace, content_models(evaluation.content))
    if found:
        raise Invalid.fields(
            FieldError("eval_id", f"has graders of {from_target(use.model)}: {why}") for use, why in found
        )


def check_rows(workspace: str, evaluation: OpenAIEval, body: CreateOpenAIEvalRun, rows: Sequence[Row]) -> None:
    schema = evaluation.record.data_source_config.get("item_schema")
    errors: list[FieldError] = []
    if schema:
        sandbox.use_workspace(workspace)
        try:
            items = [row[ITEM] for row in rows]
            found = sandbox.run_blocking(_SCHEMA_TASK, schema, items, _MAX_ERRORS, limits=_LIMITS)
        except (sandbox.ExpressionError, sandbox.LimitExceeded) as error:
            why = f"cannot be compared with the item_schema of the eval: {error}"
            raise Invalid.field(_rows_field(body), why) from None
        errors = [_row_error(body, number, ITEM, f"does not fit the item_schema: {why}") for number, why in found]
    if isinstance(body.data_source, JsonlDataSource) and uses_sample(evaluation.content.assertions):
        missing = [number for number, row in enumerate(rows) if not row.get(SAMPLE)]
        why = "is required: graders of the eval refer to {{sample.…}}, and a run of type jsonl asks no model"
        errors += [_row_error(body, number, SAMPLE, why) for number in missing[:_MAX_ERRORS]]
    if errors:
        raise Invalid.fields(errors[:_MAX_ERRORS])


def _rows_field(body: CreateOpenAIEvalRun) -> str:
    match body.data_source.source:
        case FileId():
            return "data_source.source.id"
        case StoredAnswers():
            return stored_answers.SOURCE_FIELD
    return "data_source.source.content"


def _row_error(body: CreateOpenAIEvalRun, number: int, name: str, why: str) -> FieldError:
    field = _rows_field(body)
    if not isinstance(body.data_source.source, FileContent):
        of = "of the file" if isinstance(body.data_source.source, FileId) else "of the stored answers"
        return FieldError(field, f"row {number + 1} {of}: its {name} {why}")
    return FieldError(f"{field}.{number}.{name}", why)


def build_scenarios(body: CreateOpenAIEvalRun, rows: Sequence[Row]) -> list[Scenario]:
    messages = _asked_messages(body)
    if messages is None:
        return [recorded_scenario(number, row) for number, row in enumerate(rows)]
    input_messages = messages.to_json()
    built: list[Scenario] = []
    errors: list[FieldError] = []
    left = MAX_RENDERED_LENGTH
    for number, row in enumerate(rows):
        try:
            built.append(sampled_scenario(number, row, input_messages))
        except ValueError as error:
            errors.append(_row_error(body, number, ITEM, f"cannot be asked: {error}"))
        else:
            left -= sum(len(message.content) for message in built[-1].messages)
        if left < 0:
            why = f"make messages of more than {MAX_RENDERED_LENGTH:,} characters together"
            raise Invalid.field("data_source.input_messages", why)
        if len(errors) == _MAX_ERRORS:
            break
    if errors:
        raise Invalid.fields(errors)
    return built
