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
    """What is expected, and its bounds: 95% of runs like the past ones are within them if `basis` is `history`;
    otherwise they are a range that follows from assumptions and has no probability."""

    low: Annotated[_Rounded, Field(description="Lower bound")]
    expected: Annotated[_Rounded, Field(description="The likeliest figure")]
    high: Annotated[_Rounded, Field(description="Upper bound")]


StartEstimate = Annotated[
    EstimateIntervalResponse | None,
    Field(
        description="What the run was expected to cost when it started, in USD, without later retries and expansions; "
        "null if a price was unknown"
    ),
]


class CallsEstimateResponse(ResponseModel):
    model: Annotated[str, read_from("calls.model")]
    calls: Annotated[EstimateIntervalResponse, Field(description="Number of calls"), read_from("calls.calls")]
    input_tokens: Annotated[EstimateIntervalResponse, read_from("calls.input_tokens")]
    output_tokens: Annotated[EstimateIntervalResponse, read_from("calls.output_tokens")]
    usd: Annotated[
        EstimateIntervalResponse | None,
        Field(description="Null if the price of the model is unknown"),
        read_from("calls.usd"),
    ]


class TargetEstimateResponse(CallsEstimateResponse):
    target_id: TargetId
    probes: Annotated[int, Field(description="Number of its probes")]
    basis: Annotated[Basis, Field(description="What the figures rest on; see docs/costs.md")]

    samples: Annotated[int, Field(description="Conversations held before that the figures rest on")]
    file_basis: Annotated[
        FileBasis | None, Field(description="Formula for tokens of images and PDFs; null if no message has any")
    ]


class GraderEstimateResponse(CallsEstimateResponse):
    """The calls of a model that grades, simulates users or summarizes."""

    role: Annotated[ModelRole, Field(description="What the model is called for")]


class BudgetFitResponse(ResponseModel):
    """Whether the run, with a trial that it asks for, fits into its own budget and into what is left of the
    workspace's."""

    max_budget_usd: Annotated[
        float | None,
        Field(
            description="The run's own budget, in USD, of which a retry or an expansion has what is left; null "
            "without one"
        ),
    ]
    day_left_usd: Annotated[
        float | None, Field(description="What is left of the workspace's day, in USD; null without a limit")
    ]
    month_left_usd: Annotated[
        float | None, Field(description="What is left of the workspace's month, in USD; null without a limit")
    ]
    exceeds: Annotated[
        BudgetScope | None,
        Field(description="The budget that the expected cost exceeds; null if the run fits"),
        read_from("exceeded"),
    ]
    may_exceed: Annotated[
        BudgetScope | None,
        Field(description="The budget that the upper bound exceeds, if any"),
        read_from("perhaps_exceeded"),
    ]
    confirmation_required: Annotated[
        bool,
        Field(description="Whether a start is refused unless `confirmedUsd` is at least `confirmableUsd`"),
        read_from("needs_confirmation"),
    ]

    guarantee: Annotated[
        BudgetGuarantee,
        Field(description="By what budgets may be exceeded: nothing, calls in flight, or unpriced calls"),
    ]
    unlimited_targets: Annotated[
        list[str],
        Field(description="Targets without `maxOutputTokens`, whose calls in flight may cost more than was set aside"),
    ]

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
    """What an expansion of a sampled run to all scenarios would add."""

    job_count: Annotated[
        int, Field(description="Number of further probes; more or fewer if personas differ"), read_from("probes")
    ]
    usd: Annotated[EstimateIntervalResponse, Field(description="Of the models whose price is known")]


class TrialEstimateResponse(ResponseModel):
    """What the trial of the report's revised prompt adds to a scale run that asks for it, if the report offers one."""

    job_count: Annotated[
        int,
        Field(description="Number of probes of both prompts together, which are both run anew"),
        read_from("probes"),
    ]
    usd: Annotated[
        EstimateIntervalResponse,
        Field(description="Not included in `usd` of the scale run, nor limited by its `maxBudgetUsd`"),
    ]
    is_within_limit: Annotated[
        bool,
        Field(
            description="Whether it costs no more than the conversations of the scale run, which is what it may cost; "
            "otherwise it is not expected to start, and the report says why"
        ),
    ]


class MissingAccessResponse(ResponseModel):
    """A provider that the workspace cannot call yet."""

    provider: Annotated[str, Field(description="Name of the provider")]
    message: Annotated[str, Field(description="What is missing, such as an API key, and how it is set")]


class EstimateResponse(ResponseModel):
    """What a run is expected to cost, without repeated calls, embeddings and external evaluators."""

    job_count: Annotated[int, Field(description="Number of probes of the run"), read_from("probes")]
    usd: Annotated[EstimateIntervalResponse, Field(description="Of the models whose price is known")]
    seconds: Annotated[EstimateIntervalResponse, Field(description="If no other run calls the same providers")]
    basis: Annotated[Basis, Field(description="What the figures rest on; see docs/costs.md")]
    history_run_ids: Annotated[
        list[str],
        Field(description="Earlier runs whose scored conversations the figures rest on, newest first; often empty"),
    ]
    price_list: Annotated[str, Field(description="The list that prices come from, unless the workspace has its own")]
    targets: Annotated[list[TargetEstimateResponse], Field(description="Calls of the targets")]
    graders: Annotated[
        list[GraderEstimateResponse], Field(description="Calls of judges, simulated users and summarizing models")
    ]
    unpriced: Annotated[list[str], Field(description="Models whose price is unknown; they are not in `usd`")]
    expansion: Annotated[
        ExpansionEstimateResponse | None,
        Field(description="What all other scenarios would add to a sampled run; null without a sample"),
    ] = None
    trial: Annotated[
        TrialEstimateResponse | None,
        Field(description="The trial that starts by itself after the report; null unless `trial` is true"),
    ] = None
    confirmable_usd: Annotated[
        float,
        Field(
            description="The least `confirmedUsd` of a start that must be confirmed: what is expected, with a trial "
            "within its limit"
        ),
    ]
    budget: Annotated[
        BudgetFitResponse | None, Field(description="Of an estimate that was asked for; null in other answers")
    ] = None
    missing_access: Annotated[
        list[MissingAccessResponse],
        Field(description="Providers without a key or an address: the estimate holds, and a start is refused"),
    ]

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
