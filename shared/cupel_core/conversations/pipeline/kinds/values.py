from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.conversations.pipeline.rendering import render_template
from cupel_core.domain.conversations.model_request import SimulationKey
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.pipeline.params import ModelCall
from cupel_core.domain.pipeline.results import CallSummary, PaidAnswer, StepErrorCode
from cupel_core.sandbox.templating.errors import RenderError
from cupel_core.scoring.grading.grader import Grader
from cupel_core.scoring.grading.graders import GraderFactory

type Context = Mapping[str, Any]
_NOTHING = Spend()


def _ignore(_: PaidAnswer) -> None: ...


class OperationFailed(Exception):
    """An operation has no value. Its calls have cost `spend`."""

    def __init__(self, code: str, message: str, spend: Spend = _NOTHING, call: CallSummary | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.spend = spend
        self.call = call or {}


class MadeValue(NamedTuple):
    """The value of an operation and its cost. An operation whose value is None is skipped."""

    value: Any
    spend: Spend = _NOTHING
    call: CallSummary = MappingProxyType({})


@dataclass(frozen=True)
class ModelCaller:
    graders: GraderFactory
    simulation_key: SimulationKey
    answer: PaidAnswer | None = None
    """The model's answer to an earlier attempt of the operation, so it is not called again. It is None if there is
    none."""
    on_answer: Callable[[PaidAnswer], None] = _ignore
    """Called as soon as a model has answered, because the operation may be interrupted afterwards."""
    is_debugged: bool = False

    def grader(self, call: ModelCall) -> Grader:
        target = call.target
        grader = replace(self.graders.grader(target.model), model_role=ModelRole.OPERATION)
        return replace(
            grader,
            timeout_seconds=target.call_timeout_seconds or grader.timeout_seconds,
            max_attempts=target.max_attempts or grader.max_attempts,
        )


async def rendered(template: str, context: Context, *, strict: bool) -> str:
    try:
        return await render_template(template, context, strict=strict)
    except RenderError as error:
        raise OperationFailed(StepErrorCode.TEMPLATE_RENDER_ERROR, str(error)) from None
