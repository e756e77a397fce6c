"""Starting a run: everything is checked before anything is written, and what is written is one transaction."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from secrets import randbelow
from typing import NamedTuple, Self

import orjson

from shared.accounts import account
from shared.definitions import Resolved, resolve
from shared.domain.plan import MAX_PROBES, Plan
from shared.domain.runs import Priority, Run
from shared.domain.sampling import sample
from shared.domain.scenarios import Manifest
from shared.errors import Conflict, FieldError, Invalid
from shared.ids import new_id
from shared.messages import RunRef
from shared.providers import PROVIDERS
from shared.runs import dispatch
from shared.store import keys, runs, scenarios, snapshots, starts
from shared.store.snapshots import Snapshot
from shared.store.starts import Stand

_SEEDS = 2**31


@dataclass(frozen=True)
class RunSpec:
    """What a person, a schedule or a program asks for."""

    definition_id: str
    models: tuple[str, ...]
    sample_percentage: int = 100
    sample_seed: int | None = None
    """Drawn, and recorded in the run, when not given."""
    priority: Priority = Priority.NORMAL
    experiment_id: str | None = None
    schedule_id: str | None = None
    repeats: int = 1
    temperature: float | None = None
    max_turns: int | None = None

    def to_text(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def from_text(cls, text: str) -> Self:
        told = orjson.loads(text)
        return cls(**{**told, "models": tuple(told["models"]), "priority": Priority(told["priority"])})


class Started(NamedTuple):
    run: Run
    job_count: int


def start(workspace: str, spec: RunSpec, idempotency_key: str | None, now: datetime) -> Started:
    """Creates the run and asks for its dispatch.

    Raises Invalid for a spec that cannot run, NotFound for an unknown definition, Conflict while the same key is being
    answered, and Invalid when the key was used with another body.
    """
    if idempotency_key is not None and (answered := _answered(workspace, spec, idempotency_key, now)):
        return answered
    run, snapshot = _plan(workspace, spec, now)
    reservation = None
    if idempotency_key is not None:
        reservation = starts.reserve(workspace, idempotency_key, spec.to_text(), run.id, now)
        if reservation is None:
            raise _in_flight()
    snapshots.put(run.snapshot_key, snapshot)
    created = runs.create(run, {"total": run.plan.total}, reservation)
    dispatch.ask(created)
    return Started(created, created.plan.total)


def check(workspace: str, spec: RunSpec, now: datetime) -> None:
    """Raises what `start` would raise for this spec now."""
    _plan(workspace, spec, now)


def _answered(workspace: str, spec: RunSpec, idempotency_key: str, now: datetime) -> Started | None:
    """The answer this key has had; None when the key is free."""
    stand, held = starts.stand(workspace, idempotency_key, spec.to_text(), now)
    if stand is Stand.IN_FLIGHT:
        raise _in_flight()
    if stand is Stand.OTHER_BODY:
        raise Invalid.field("Idempotency-Key", "was used with another request body; use a new key for a new run")
    if stand is Stand.FREE or held is None:
        return None
    run = runs.answered(held)
    return Started(run, run.plan.total)


def _in_flight() -> Conflict:
    return Conflict("a request with this Idempotency-Key is being answered; ask again in a few seconds")


def _plan(workspace: str, spec: RunSpec, now: datetime) -> tuple[Run, Snapshot]:
    definition = resolve(workspace, spec.definition_id)
    manifest = scenarios.manifest(workspace, spec.definition_id)
    _check(workspace, spec, manifest)
    seed = randbelow(_SEEDS) if spec.sample_seed is None else spec.sample_seed
    selection = sample(manifest.total, spec.sample_percentage, seed)
    plan = Plan(spec.models, (len(selection),), repeats=spec.repeats)
    if plan.total > MAX_PROBES:
        raise Invalid(f"this run would have {plan.total:,} probes; at most {MAX_PROBES:,} are possible")
    snapshot = Snapshot(definition.content.to_json(), manifest, tuple(selection))
    return _run(workspace, spec, definition, plan, seed, now), snapshot


def _run(workspace: str, spec: RunSpec, definition: Resolved, plan: Plan, seed: int, now: datetime) -> Run:
    run_id = new_id("run")
    return Run(
        workspace=workspace,
        id=run_id,
        definition_id=definition.definition_id,
        definition_version=definition.version,
        plan=plan,
        sample_percentage=spec.sample_percentage,
        sample_seed=seed,
        snapshot_key=keys.snapshot_blob(RunRef(workspace, run_id), run_id),
        created_at=now,
        updated_at=now,
        priority=spec.priority,
        experiment_id=spec.experiment_id,
        schedule_id=spec.schedule_id,
        temperature=spec.temperature,
        max_turns=spec.max_turns,
    )


def _check(workspace: str, spec: RunSpec, manifest: Manifest) -> None:
    errors = [*_range_errors(spec), *_model_errors(workspace, spec.models)]
    if not manifest.total:
        errors.append(FieldError("definitionId", "has no scenarios yet: add, generate or import some first"))
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors), tuple(errors))


def _range_errors(spec: RunSpec) -> list[FieldError]:
    errors = []
    if not 1 <= spec.sample_percentage <= 100:
        errors.append(FieldError("samplePercentage", "must be from 1 to 100"))
    if not 1 <= spec.repeats <= 100:
        errors.append(FieldError("repeats", "must be from 1 to 100"))
    return errors


def _model_errors(workspace: str, models: Sequence[str]) -> list[FieldError]:
    if not models:
        return [FieldError("models", "must name at least one model, such as openai/gpt-5-mini")]
    errors = []
    for number, model in enumerate(models):
        message = "is named twice" if model in models[:number] else _model_error(workspace, model)
        if message:
            errors.append(FieldError(f"models.{number}", message))
    return errors


def _model_error(workspace: str, model: str) -> str | None:
    name, slash, rest = model.partition("/")
    provider = PROVIDERS.get(name)
    if provider is None or not slash or not rest:
        return f"must be provider/name with one of the providers {', '.join(PROVIDERS)}"
    access = account(workspace, name)
    if not access.enabled:
        return f"provider {name} is disabled"
    if provider.needs_key and not access.api_key:
        return f"provider {name} has no API key: PUT /v1/providers/{name} sets it"
    if not access.base_url and name == "custom":
        return "provider custom has no baseUrl: PUT /v1/providers/custom sets it"
    return None
