"""Translation of field names in errors of a start to those of the request.

A playground run and a run of an eval have no `models`.
"""

from collections.abc import Sequence

from cupel_core.base.errors import Invalid
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target

_OF_AN_EVAL = ("definitionId", "scenarioIds", "targets")


def as_requested(invalid: Invalid, spec: RunSpec) -> Invalid:
    """Return the same errors with the fields of the request that led to this specification."""
    # A rerun has targets of its own, whatever it repeats.
    if spec.rerun_of is not None:
        return invalid
    if spec.playground:
        return as_of_playground(invalid, spec.targets[0])
    return invalid.with_fields(lambda field: _eval_field(field, spec.targets)) if spec.eval_id else invalid


def as_of_playground(invalid: Invalid, target: Target) -> Invalid:
    return invalid.with_fields(lambda field: _playground_field(field, target))


def _playground_field(field: str, target: Target) -> str:
    match field.split("."):
        case ["scenarioIds", *_]:
            return "scenarioId"
        case ["personaIds", *_]:
            return "personaId"
        case ["models", *_]:
            return _kind_of(target)
        case ["targets", _, *rest]:
            return ".".join(["target", *rest])
    return "target" if field == "targets" else field


def _eval_field(field: str, targets: Sequence[Target]) -> str:
    match field.split("."):
        case ["models", number]:
            kind = _kind_of(targets[int(number)])
            return f"eval.{kind}" if len(targets) == 1 else f"eval.targets.{number}.{kind}"
        case [first, *_] if first in _OF_AN_EVAL:
            return f"eval.{field}"
    return field


def _kind_of(target: Target) -> str:
    return "connectorId" if target.connector_id else "model"
