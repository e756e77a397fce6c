"""Estimates of a run's cost and duration."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field

from cupel_core.contract.columns import TargetId
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.budgets.confirmation import BudgetFit, BudgetGuarantee, confirmable_usd
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.file_tokens import FileBasis
from cupel_core.domain.estimates.run_estimate import Basis, RunEstimate

_Rounded = Annotated[float, AfterValidator(lambda figure: round(figure, 6))]


class EstimateIntervalResponse(ResponseModel):
    """Expected value and bounds: 95% of runs like the past ones are within them if `basis` is `history`; otherwise they
    follow from assumptions and have no probability."""

    low: _Rounded
    """Lower bound. Example: 0.2"""
    expected: _Rounded
    """The likeliest figure. Example: 0.74"""
    high: _Rounded
    """Upper bound. Example: 2.9"""


StartEstimate = Annotated[
    EstimateIntervalResponse | None,
    Field(
        description="Expected cost in USD at the start, without later retries and expansions; "
        "null if a price was unknown"
    ),
]


class CallsEstimateResponse(ResponseModel):
    model: Annotated[str, read_from("calls.model")]
    calls: Annotated[EstimateIntervalResponse, read_from("calls.calls")]
    """Number of calls."""
    input_tokens: Annotated[EstimateIntervalResponse, read_from("calls.input_tokens")]
    """Tokens of prompts."""
    output_tokens: Annotated[EstimateIntervalResponse, read_from("calls.output_tokens")]
    """Tokens of answers."""
    usd: Annotated[EstimateIntervalResponse | None, read_from("calls.usd")]
    """Null if the price of the model is unknown."""


class TargetEstimateResponse(CallsEstimateResponse):
    target_id: TargetId
    probes: int
    """Number of its probes."""
    basis: Basis
    """Source of the figures; see docs/costs.md."""

    samples: int
    """Conversations held before that the figures rest on. Example: 0"""
    file_basis: FileBasis | None
    """Formula for tokens of images and PDFs; null if no message has any."""


class GraderEstimateResponse(CallsEstimateResponse):
    """The calls of a model that grades, simulates users or summarizes."""

    role: ModelRole
    """Role of the model. Example: judge"""


class BudgetFitResponse(ResponseModel):
    """Fit of the run, with any trial, to its own budget and what is left of the workspace's."""

    max_budget_usd: float | None
    """The run's own budget, in USD, of which a retry or an expansion has what is left; null without one."""
    day_left_usd: float | None
    """Rest of the workspace's day in USD; null without a limit. Example: 12.4"""
    month_left_usd: float | None
    """Rest of the workspace's month in USD; null without a limit. Example: 180.0"""
    exceeds: Annotated[BudgetScope | None, read_from("exceeded")]
    """The budget that the expected cost exceeds; null if the run fits."""
    may_exceed: Annotated[BudgetScope | None, read_from("perhaps_exceeded")]
    """The budget that the upper bound exceeds, if any."""
    confirmation_required: Annotated[bool, read_from("needs_confirmation")]
    """True if a start is refused unless `confirmedUsd` is at least `confirmableUsd`. Example: true"""

    guarantee: BudgetGuarantee
    """Possible excess over budgets: none, calls in flight or unpriced calls."""
    unlimited_targets: list[str]
    """Targets without `maxOutputTokens`, whose calls in flight may cost more than was set aside.

    Example: ["openai/gpt-6.1-terra"]
    """

    @classmethod
    def of(cls, fit: BudgetFit, estimate: RunEstimate) -> "BudgetFitResponse":
        return cls.from_value(
            fit,
            max_budget_usd=fit.left_usd.get(BudgetScope.RUN),
            day_left_usd=fit.left_usd.get(BudgetScope.DAY),
            month_left_usd=fit.left_usd.get(BudgetScope.MONTH),
            guarantee=estimate.guarantee,
            unlimited_targets=estimate.unlimited_targets,
        )


class ExpansionEstimateResponse(ResponseModel):
    """Further probes of a sampled run expanded to all scenarios."""

    job_count: Annotated[int, read_from("probes")]
    """Number of further probes; more or fewer if personas differ."""
    usd: EstimateIntervalResponse
    """Cost of the models whose price is known."""


class TrialEstimateResponse(ResponseModel):
    """What a trial of the report's revised prompt, if there is one, adds to a scale run."""

    job_count: Annotated[int, read_from("probes")]
    """Number of probes of both prompts together, which are both run anew."""
    usd: EstimateIntervalResponse
    """Not included in `usd` of the scale run, nor limited by its `maxBudgetUsd`."""
    is_within_limit: bool
    """True if it costs at most as much as the scale run's conversations; otherwise it is not expected to start, and the
    report says why.

    Example: true
    """


class MissingAccessResponse(ResponseModel):
    """A provider that the workspace cannot call yet."""

    provider: str
    """Name of the provider."""
    message: str
    """What is missing, such as an API key, and how it is set."""


class EstimateResponse(ResponseModel):
    """Expected cost of a run, without repeated calls, embeddings and external evaluators."""

    job_count: Annotated[int, read_from("probes")]
    """Number of probes of the run."""
    usd: EstimateIntervalResponse
    """Cost of the models whose price is known."""
    seconds: EstimateIntervalResponse
    """Duration if no other run calls the same providers."""
    basis: Basis
    """Source of the figures; see docs/costs.md. Example: default"""
    history_run_ids: list[str]
    """Earlier runs whose scored conversations the figures rest on, newest first; often empty.

    Example: ["run_01k1f0aa"]
    """
    price_list: str
    """The list that prices come from, unless the workspace has its own. Example: genai-prices 0.2.3"""
    targets: list[TargetEstimateResponse]
    """Calls of the targets."""
    graders: list[GraderEstimateResponse]
    """Calls of judges, simulated users and summarizing models."""
    unpriced: list[str]
    """Models whose price is unknown; they are not in `usd`. Example: []"""
    expansion: ExpansionEstimateResponse | None = None
    """Addition by all other scenarios to a sampled run; null without a sample."""
    trial: TrialEstimateResponse | None = None
    """The trial that starts by itself after the report; null unless `trial` is true."""
    confirmable_usd: float
    """The least `confirmedUsd` of a start that must be confirmed: what is expected, with a trial within its limit.

    Example: 6.5
    """
    budget: BudgetFitResponse | None = None
    """Cover of a requested estimate by budgets; null in other answers."""
    missing_access: list[MissingAccessResponse]
    """Providers without a key or an address: the estimate holds, and a start is refused."""

    @classmethod
    def of(
        cls,
        estimate: RunEstimate,
        price_list: str,
        fit: BudgetFit | None = None,
        missing_access: Mapping[str, str] = MappingProxyType({}),
    ) -> "EstimateResponse":
        return cls.from_value(
            estimate,
            price_list=price_list,
            confirmable_usd=confirmable_usd(estimate.total_usd),
            budget=None if fit is None else BudgetFitResponse.of(fit, estimate),
            missing_access=[
                MissingAccessResponse(provider=provider, message=message)
                for provider, message in sorted(missing_access.items())
            ],
        )
