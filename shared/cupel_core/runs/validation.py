"""Whether a run can be carried out: its models, its judges, and its size."""

from collections.abc import Iterable, Iterator, Sequence

from cupel_core.accounts import model_error
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import missing_models
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.plan import MAX_PROBES, Plan
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.errors import FieldError, Invalid, NotFound
from cupel_core.providers import find_provider, queue_of, simulated_target_error
from cupel_core.resources import connectors
from cupel_core.settings import settings


def check_spec(workspace: str, spec: RunSpec, grader_config: GraderConfig, manifest: Manifest) -> None:
    """Raise Invalid, naming every invalid field."""
    errors = [
        *_range_errors(spec),
        *_target_errors(workspace, spec.models),
        *_grader_errors(workspace, grader_config),
    ]
    if not manifest.total:
        errors.append(FieldError("definitionId", "has no scenarios yet: add, generate or import some first"))
    if errors:
        raise Invalid.fields(errors)


def check_required_models(grader_config: GraderConfig, content: Content, scenarios: Iterable[Scenario]) -> None:
    """Raise Invalid if something cannot be graded, because no judge or embedding model is configured for it."""
    missing = missing_models(grader_config, content, scenarios)
    if missing:
        hint = "set it in the run, the eval or the workspace's settings"
        raise Invalid.fields(FieldError(f"config.{field}", f"{message}; {hint}") for field, message in missing)


def check_probe_count(plan: Plan) -> None:
    """Raise Invalid if a run of this plan would be too large."""
    if plan.total > MAX_PROBES:
        raise Invalid(f"the run would have {plan.total:,} probes; the maximum is {MAX_PROBES:,}")


def _range_errors(spec: RunSpec) -> Iterator[FieldError]:
    if not 1 <= spec.sample_percentage <= 100:
        yield FieldError("samplePercentage", "must be from 1 to 100")
    if not 1 <= spec.repeats <= 100:
        yield FieldError("repeats", "must be from 1 to 100")


def _target_errors(workspace: str, targets: Sequence[str]) -> Iterator[FieldError]:
    if not targets:
        yield FieldError("models", "must name at least one model, such as openai/gpt-5-mini")
    for number, target in enumerate(targets):
        message = "is a duplicate" if target in targets[:number] else _target_error(workspace, target)
        if message:
            yield FieldError(f"models.{number}", message)


def _grader_errors(workspace: str, grader_config: GraderConfig) -> Iterator[FieldError]:
    for field, model in (
        ("config.judgeModel", grader_config.judge_model),
        ("config.personaModel", grader_config.persona_model),
        ("config.embeddingModel", grader_config.embedding_model),
    ):
        message = model and model_error(workspace, model)
        if message:
            yield FieldError(field, message)


def _target_error(workspace: str, target: str) -> str | None:
    provider, _, connector_id = target.partition("/")
    if problem := _queue_error(provider):
        return problem
    if provider != PROVIDER:
        return model_error(workspace, target) or simulated_target_error(target)
    try:
        connectors.get(workspace, connector_id)
    except NotFound as error:
        return error.detail
    return None


def _queue_error(provider: str) -> str | None:
    queue = queue_of(provider)
    if find_provider(provider) is None or settings().has_queues(queue):
        return None
    return f"this stack evaluates no models of {provider}: its operator can add {queue} to its parameter Providers"
