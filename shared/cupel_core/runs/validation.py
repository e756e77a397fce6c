"""Whether a run can be carried out: its models, its judges and its numbers."""

from collections.abc import Iterator, Sequence

from cupel_core.accounts import model_error
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.errors import FieldError, Invalid, NotFound
from cupel_core.resources import connectors
from cupel_core.runs.spec import RunSpec


def check_spec(workspace: str, spec: RunSpec, evaluation: Evaluation, manifest: Manifest) -> None:
    """Raises Invalid that names everything that is wrong."""
    errors = [
        *_range_errors(spec),
        *_target_errors(workspace, spec.models),
        *_judge_errors(workspace, evaluation),
    ]
    if not manifest.total:
        errors.append(FieldError("definitionId", "has no scenarios yet: add, generate or import some first"))
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors), tuple(errors))


def _range_errors(spec: RunSpec) -> Iterator[FieldError]:
    if not 1 <= spec.sample_percentage <= 100:
        yield FieldError("samplePercentage", "must be from 1 to 100")
    if not 1 <= spec.repeats <= 100:
        yield FieldError("repeats", "must be from 1 to 100")


def _target_errors(workspace: str, targets: Sequence[str]) -> Iterator[FieldError]:
    if not targets:
        yield FieldError("models", "must name at least one model, such as openai/gpt-5-mini")
    for number, target in enumerate(targets):
        message = "is named twice" if target in targets[:number] else _target_error(workspace, target)
        if message:
            yield FieldError(f"models.{number}", message)


def _judge_errors(workspace: str, evaluation: Evaluation) -> Iterator[FieldError]:
    for name, model in (
        ("config.judgeModel", evaluation.judge_model),
        ("config.personaModel", evaluation.persona_model),
        ("config.embeddingModel", evaluation.embedding_model),
    ):
        message = model and model_error(workspace, model)
        if message:
            yield FieldError(name, message)


def _target_error(workspace: str, target: str) -> str | None:
    provider, _, name = target.partition("/")
    if provider != PROVIDER:
        return model_error(workspace, target)
    try:
        connectors.get(workspace, name)
    except NotFound as error:
        return error.detail
    return None
