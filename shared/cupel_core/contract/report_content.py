"""Figures, conversations and comparisons of a report, which are counted and not written by a model."""

from typing import Annotated, Literal

from pydantic import Field

from cupel_core.contract.analyzed_columns import QuantilesResponse, ShareEstimateResponse
from cupel_core.contract.budgets import MaxUsd, SpentUsd, UncertainUsd
from cupel_core.contract.calibrations import CorrectedRateResponse, JudgeAccuracyResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, Time
from cupel_core.contract.compared_figures import LeftOutScenarios
from cupel_core.contract.estimates import EstimateIntervalResponse
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus
from cupel_core.domain.scoring.unscored import UnscoredCode

ConversationId = Annotated[str, Field(description="Id of the transcript, and of its probe")]


class RoleCostResponse(ResponseModel):
    """Calls of one kind."""

    role: Literal["target", "judge", "persona", "summary", "operation"]
    """Role of the called models. Example: target"""
    calls: int
    """Number of calls."""
    usd: float | None
    """Null if a price is unknown. Example: 0.0042"""
    priced_usd: float
    """The part of it whose price is known."""
    input_tokens: int
    """Input tokens of all calls. Example: 412"""
    output_tokens: int
    """Output tokens of all calls. Example: 96"""


class ReportFiguresResponse(ResponseModel):
    """Figures of a target and prompt, or of all together."""

    completed: int
    """Conversations with a transcript."""
    errored: int
    """Infrastructure errors; they never count against the target."""
    unscored: int
    """Completed ones of which a weighted assertion could not be computed."""
    win_rate: ShareEstimateResponse
    """Passed conversations among the judged."""
    turns: QuantilesResponse | None
    """Answers of the target per conversation."""
    duration_ms: QuantilesResponse | None
    """Time in the target's calls per conversation."""
    mean_turn_ms: float | None
    """Time in the target's calls per answer, on average. Example: 840.0"""
    turn_ms: QuantilesResponse | None
    """Time in the target's calls per answer."""
    input_tokens: QuantilesResponse | None
    """Input tokens of the target per conversation."""
    output_tokens: QuantilesResponse | None
    """Output tokens of the target per conversation."""
    tokens: QuantilesResponse | None
    """Input and output together, of the target's calls per conversation."""
    total_input_tokens: int
    """Input tokens of all conversations. Example: 24000"""
    total_output_tokens: int
    """Output tokens of all conversations. Example: 5760"""
    costs: list[RoleCostResponse]
    """Costs by purpose of the calls."""


class ReportColumnResponse(ColumnFields):
    name: str
    """Name of target and prompt."""
    figures: ReportFiguresResponse
    """Figures of this target and prompt."""
    judge_accuracy: JudgeAccuracyResponse | None = None
    """Null unless people have labelled transcripts of it."""
    corrected_pass_rate: CorrectedRateResponse | None = None
    """Null if `judgeAccuracy` is."""


class ReportBudgetResponse(ResponseModel):
    """The budget of the run when the report was made."""

    max_budget_usd: MaxUsd
    spent_usd: SpentUsd
    uncertain_usd: UncertainUsd


class UnpricedModelResponse(ResponseModel):
    """A model whose calls are not in the cost, because its price is unknown."""

    model: str
    """Model as `provider/name`. Example: custom/llama"""
    roles: list[str]
    """Roles of the model. Example: ["target"]"""
    calls: int | None
    """Calls that are not in the cost; null if that is not known. Example: 24"""


class ReportCostResponse(ResponseModel):
    """Cost of the run, against the estimate."""

    usd: float | None
    """Cost of all calls; null if a price is unknown. Example: 0.04"""
    priced_usd: float
    """The part of it whose price is known."""
    estimated_usd: EstimateIntervalResponse | None
    """What an estimate of this run says, at its own prices; null if it cannot be made."""
    difference_usd: float | None
    """Spent less expected. Example: -0.01"""
    difference_share: float | None
    """`differenceUsd` divided by the expected cost; null if that is 0. Example: -0.2"""
    price_list: str
    """The price list of the estimate. Example: genai-prices 0.2.3"""
    budget: ReportBudgetResponse | None
    """Used part of the run's budget; null if it has none."""
    unpriced: list[UnpricedModelResponse]
    """Models without a price, whose calls are neither in `pricedUsd` nor limited by a budget."""


class FailureModeResponse(ResponseModel):
    """A failure tag."""

    tag: str
    """Failure tag."""
    count: int
    """Conversations with this tag."""
    share: float
    """Share of the completed conversations. Example: 0.05"""
    sample_conversation_ids: list[str]
    """Up to five: the lowest scores, spread over scenarios and targets. Example: ["run_01k1f0aa-7"]"""


class CheckStatisticsResponse(ResponseModel):
    """Results of an assertion, or of the judge's criteria."""

    name: str
    """Its metric, or its type. Example: not-is-refusal"""
    passed: int
    """Conversations that passed it. Example: 54"""
    failed: int
    """Conversations that failed it. Example: 6"""
    errors: int
    """Conversations for which it could not be computed. Example: 0"""
    pass_rate: float | None
    """Passed among those that were computed. Example: 0.9"""
    interval: Annotated[list[float] | None, Field(serialization_alias="interval95")]
    """95% interval, Wilson's."""


class GraderAgreementResponse(ResponseModel):
    """Two graders of the same conversations: the run's own scoring, a rescore, or corrections by users."""

    first: str
    """`run`, or the id of a rescore. Example: run"""
    second: str
    """`corrections`, or the id of a rescore. Example: corrections"""
    conversations: int
    """Conversations judged by both. Example: 60"""
    first_pass_rate: float | None
    """Pass rate by the first grader. Example: 0.8"""
    second_pass_rate: float | None
    """Pass rate by the second grader. Example: 0.85"""
    agreement: float | None
    """Share of equal verdicts. Example: 0.9"""
    kappa: float | None
    """Cohen's. Example: 0.62"""
    kappa_interval: Annotated[list[float] | None, Field(serialization_alias="kappaInterval95")]
    """95% interval, by a bootstrap. Example: [0.4, 0.8]"""
    alpha: float | None
    """Krippendorff's, nominal."""
    note: str | None
    """Limits of these figures. Example: Holds for both targets."""


class GraderAgreementList(ResponseModel):
    items: list[GraderAgreementResponse]


class ErrorCountResponse(ResponseModel):
    code: str
    """Code of the error. Example: timeout"""
    probes: int
    """Probes that ended in it."""


class UnscoredCountResponse(ResponseModel):
    """Conversations that were not scored, for one reason."""

    code: UnscoredCode
    """What kept the check from a result, such as `judge_reply`. Example: judge_failed"""
    model: str | None
    """The judge or embedding model; null if none was to be called. Example: openai/gpt-6.1-terra"""
    provider_code: str | None
    """The error code of the failed call, of `judge_failed`. Example: auth"""
    probes: int
    """Conversations that were not scored for this reason. Example: 3"""


class ReportConversationResponse(ResponseModel):
    conversation_id: ConversationId
    """Example: run_01k1f0aa-7"""
    target_id: str
    """Label of the target, or its model."""
    prompt_id: str | None
    """Prompt of the definition; null if it has none."""
    scenario_id: str
    scenario_name: str | None = None
    """Null only if the run's snapshot is gone."""
    persona_name: str | None = None
    """Null without a persona."""
    success: bool | None
    """Null if it was not judged."""
    score: float | None
    """Score from 0 to 1; null if it was not judged."""
    failure_tags: list[str]
    """Failure tags; at most 20. Example: ["REFUSAL"]"""
    assertion_results: dict[str, bool | None]
    """Results by metric or type: true if passed, null if not computed.

    Example: {"not-is-refusal": false, "toxicity": true}
    """


class FailedCellResponse(ResponseModel):
    passed: int
    """Conversations that passed. Example: 1"""
    judged: int
    """Conversations that passed or failed. Example: 3"""


class FailedScenarioResponse(ResponseModel):
    """A scenario that a target has failed, with the results of all targets."""

    scenario_id: str
    scenario_name: str
    """Name of the scenario."""
    cells: list[FailedCellResponse]
    """Results in the order of `columns`."""


class ReportRatioResponse(ResponseModel):
    """The ratio of geometric means of two targets, paired by scenario."""

    scenarios: int
    """Scenarios with a known amount above 0 of both. Example: 20"""
    left_out: LeftOutScenarios
    """Example: {"unknown": 2}"""
    ratio: float | None
    """First divided by second. Example: 0.699"""
    interval: Annotated[list[float] | None, Field(serialization_alias="interval95")]
    """95% interval of the ratio. Example: [0.619, 0.79]"""
    adjusted_p: float | None
    """Adjusted over all pairs of the report by Holm's method."""


class ReportDifferenceResponse(ResponseModel):
    """Two targets, paired by scenario; see docs/statistics.md."""

    first: str
    """Target and prompt, for people. Example: openai/gpt-6.1-terra"""
    second: str
    """Target and prompt that the first is compared with. Example: anthropic/claude-haiku-4-5"""
    metric: Metric
    scenarios: int
    """Scenarios with results of both; each counts once. Example: 20"""
    difference: float | None
    """First minus second."""
    interval: Annotated[list[float] | None, Field(serialization_alias="interval95")]
    """95% interval of the difference."""
    adjusted_p: float | None
    """Adjusted over all pairs of the report by Holm's method."""
    cost_ratio: ReportRatioResponse
    """Cost of the target's calls."""
    time_ratio: ReportRatioResponse
    """Duration of these calls."""


class ReportGroupResponse(ResponseModel):
    """The cases that have one value in common."""

    value: str | None
    """Null of the cases without a value. Example: Impatient customer"""
    scenarios: int
    """The scenarios with a case in the group. Example: 20"""
    pass_rates: list[ShareEstimateResponse]
    """Pass rates in the order of `columns`."""


class ReportBreakdownResponse(ResponseModel):
    by: str
    """`persona`, a dimension, a field of the scenarios' metadata or a variable. Example: persona"""
    groups: list[ReportGroupResponse]
    """Numbers by size, then texts."""


class ReportConversationPage(ResponseModel):
    items: list[ReportConversationResponse]
    next_cursor: str | None


class ReportContentResponse(ResponseModel):
    """The figures of a report: nothing that was said."""

    run_name: str | None
    """The run's own name. Example: Release candidate 2"""
    definition_id: str
    definition_name: str
    """Name at the run's start."""
    definition_version: int
    run_status: RunStatus
    """Status of the run."""
    started_at: Time | None
    completed_at: Time | None
    probes: int
    """Probes of the run."""
    scenarios: int
    """Scenarios of the run. Example: 20"""
    scenario_total: int
    """Scenarios of the definition's version. Example: 200"""
    judge_model: str | None
    evaluators: dict[EvaluatorName, EvaluatorStatus]
    """Default evaluators of a scale run: which ran, or why not.

    Example: {"goal": "active", "refusal": "active", "format": "no_format", "toxicity": "active"}
    """
    overall: ReportFiguresResponse
    """Figures of all targets together."""
    columns: list[ReportColumnResponse]
    """Figures by target, then by prompt."""
    errors: list[ErrorCountResponse]
    """Infrastructure errors, the most frequent first."""
    unscored_reasons: list[UnscoredCountResponse]
    """Reasons why conversations were not scored, the most frequent first; each counts once."""
    cost: ReportCostResponse
    """Spent, against an estimate."""
    top_failure_modes: list[FailureModeResponse]
    """Failure tags, the most frequent first; at most 20."""
    failure_tags: int
    """Number of different failure tags; 1,000 if there are more. Example: 2"""
    judge_stats: list[CheckStatisticsResponse]
    """Checks, the least passed first; at most 100."""
    grader_agreement: list[GraderAgreementResponse]
    """Agreement of the run's scoring with rescores and corrections."""
    conversations: list[ReportConversationResponse]
    """The first 1,000 completed ones."""
    failed_scenarios: list[FailedScenarioResponse]
    """Scenarios that a target failed, the most failed first; at most 100."""
    differences: list[ReportDifferenceResponse]
    """Each pair of targets and prompts, of at most six; empty for one."""
    breakdowns: list[ReportBreakdownResponse]
    """Pass rates by the first four properties of cases with at most 12 values; `getRunBreakdown` has all."""
    notes: list[str]
    """Parts that could not be computed, with reasons.

    Example: ["The evaluator format did not run: no format was requested."]
    """
