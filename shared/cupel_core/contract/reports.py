"""Reports of runs."""

from typing import Annotated, Literal

from pydantic import Field

from cupel_core.contract.analysis import QuantilesResponse, ShareEstimateResponse
from cupel_core.contract.budgets import MaxUsd, SpentUsd, UncertainUsd
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.comparisons import LeftOutScenarios
from cupel_core.contract.estimates import EstimateIntervalResponse
from cupel_core.contract.fields import Flag, ModelId
from cupel_core.contract.runs import FailureResponse
from cupel_core.contract.trials import TrialResponse
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus
from cupel_core.domain.scoring.unscored import UnscoredCode

ConversationId = Annotated[str, Field(description="Id of the transcript, and of its probe")]


class RoleCostResponse(ResponseModel):
    """Calls of one kind."""

    role: Annotated[
        Literal["target", "judge", "persona", "summary", "operation"], Field(description="What models were called for")
    ]
    calls: Annotated[int, Field(description="Number of calls")]
    usd: Annotated[float | None, Field(description="Null if a price is unknown")]
    priced_usd: Annotated[float, Field(description="The part of it whose price is known")]
    input_tokens: Annotated[int, Field(description="Of all calls")]
    output_tokens: Annotated[int, Field(description="Of all calls")]


class ReportFiguresResponse(ResponseModel):
    """Figures of a target and prompt, or of all together."""

    completed: Annotated[int, Field(description="Conversations with a transcript")]
    errored: Annotated[int, Field(description="Infrastructure errors; they never count against the target")]
    unscored: Annotated[int, Field(description="Completed ones of which a weighted assertion could not be computed")]
    win_rate: Annotated[ShareEstimateResponse, Field(description="Passed conversations among the judged")]
    turns: Annotated[QuantilesResponse | None, Field(description="Answers of the target per conversation")]
    duration_ms: Annotated[QuantilesResponse | None, Field(description="Time in the target's calls per conversation")]
    mean_turn_ms: Annotated[float | None, Field(description="Time in the target's calls per answer, on average")]
    turn_ms: Annotated[QuantilesResponse | None, Field(description="Time in the target's calls per answer")]
    input_tokens: Annotated[QuantilesResponse | None, Field(description="Of the target's calls per conversation")]
    output_tokens: Annotated[QuantilesResponse | None, Field(description="Of the target's calls per conversation")]
    tokens: Annotated[
        QuantilesResponse | None,
        Field(description="Input and output together, of the target's calls per conversation"),
    ]
    total_input_tokens: Annotated[int, Field(description="Of all conversations together")]
    total_output_tokens: Annotated[int, Field(description="Of all conversations together")]
    costs: Annotated[list[RoleCostResponse], Field(description="By what models were called for")]


class ReportColumnResponse(ColumnFields):
    name: Annotated[str, Field(description="Of target and prompt, for people")]
    figures: Annotated[ReportFiguresResponse, Field(description="Of this target and prompt")]


class ReportBudgetResponse(ResponseModel):
    """The budget of the run when the report was made."""

    max_budget_usd: MaxUsd
    spent_usd: SpentUsd
    uncertain_usd: UncertainUsd


class UnpricedModelResponse(ResponseModel):
    """A model whose calls are not in the cost, because its price is unknown."""

    model: Annotated[str, Field(description="As `provider/name`")]
    roles: Annotated[list[str], Field(description="What it was called for")]
    calls: Annotated[int | None, Field(description="Calls that are not in the cost; null if that is not known")]


class ReportCostResponse(ResponseModel):
    """What the run has cost, against the estimate."""

    usd: Annotated[float | None, Field(description="Of all calls; null if a price is unknown")]
    priced_usd: Annotated[float, Field(description="The part of it whose price is known")]
    estimated_usd: Annotated[
        EstimateIntervalResponse | None,
        Field(description="What an estimate of this run says, at its own prices; null if it cannot be made"),
    ]
    difference_usd: Annotated[float | None, Field(description="Spent less expected")]
    difference_share: Annotated[float | None, Field(description="Of the expected cost; null if that is 0")]
    price_list: Annotated[str, Field(description="The price list of the estimate")]
    budget: Annotated[
        ReportBudgetResponse | None, Field(description="What was used of the run's budget; null if it has none")
    ]
    unpriced: Annotated[
        list[UnpricedModelResponse],
        Field(description="Models without a price, whose calls are neither in `pricedUsd` nor limited by a budget"),
    ]


class FailureModeResponse(ResponseModel):
    """A failure tag."""

    tag: Annotated[str, Field(description="Failure tag")]
    count: Annotated[int, Field(description="Conversations with this tag")]
    share: Annotated[float, Field(description="Of the completed conversations")]
    sample_conversation_ids: Annotated[
        list[str], Field(description="Up to five: the lowest scores, spread over scenarios and targets")
    ]


class CheckStatisticsResponse(ResponseModel):
    """Results of an assertion, or of the judge's criteria."""

    name: Annotated[str, Field(description="Its metric, or its type")]
    passed: Annotated[int, Field(description="Conversations that passed it")]
    failed: Annotated[int, Field(description="Conversations that failed it")]
    errors: Annotated[int, Field(description="Could not be computed")]
    pass_rate: Annotated[float | None, Field(description="Passed among those that were computed")]
    interval: Annotated[
        list[float] | None, Field(serialization_alias="interval95", description="95% interval, Wilson's")
    ]


class GraderAgreementResponse(ResponseModel):
    """Two graders of the same conversations: the run's own scoring, a rescore, or corrections by users."""

    first: Annotated[str, Field(description="`run`, or the id of a rescore")]
    second: Annotated[str, Field(description="`corrections`, or the id of a rescore")]
    conversations: Annotated[int, Field(description="Judged by both")]
    first_pass_rate: Annotated[float | None, Field(description="Of these conversations by the first")]
    second_pass_rate: Annotated[float | None, Field(description="Of these conversations by the second")]
    agreement: Annotated[float | None, Field(description="Share of equal verdicts")]
    kappa: Annotated[float | None, Field(description="Cohen's")]
    kappa_interval: Annotated[
        list[float] | None, Field(serialization_alias="kappaInterval95", description="95% interval, by a bootstrap")
    ]
    alpha: Annotated[float | None, Field(description="Krippendorff's, nominal")]
    note: Annotated[str | None, Field(description="What limits these figures")]


class GraderAgreementList(ResponseModel):
    items: list[GraderAgreementResponse]


class ErrorCountResponse(ResponseModel):
    code: Annotated[str, Field(description="Of the infrastructure error")]
    probes: Annotated[int, Field(description="Probes that ended in it")]


class UnscoredCountResponse(ResponseModel):
    """Conversations that were not scored, for one reason."""

    code: Annotated[UnscoredCode, Field(description="What kept the check from a result, such as `judge_reply`")]
    model: Annotated[str | None, Field(description="The judge or embedding model; null if none was to be called")]
    provider_code: Annotated[str | None, Field(description="The error code of the failed call, of `judge_failed`")]
    probes: Annotated[int, Field(description="Conversations that were not scored for this reason")]


class ReportConversationResponse(ResponseModel):
    conversation_id: ConversationId
    target_id: Annotated[str, Field(description="Label of the target, or its model")]
    prompt_id: Annotated[str | None, Field(description="Prompt of the definition; null if it has none")]
    scenario_id: str
    scenario_name: Annotated[str | None, Field(description="Null only if the run's snapshot is gone")] = None
    persona_name: Annotated[str | None, Field(description="Null without a persona")] = None
    success: Annotated[bool | None, Field(description="Null if it was not judged")]
    score: Annotated[float | None, Field(description="From 0 to 1; null if it was not judged")]
    failure_tags: Annotated[list[str], Field(description="At most 20")]
    assertion_results: Annotated[
        dict[str, bool | None], Field(description="By metric or type; null if it could not be computed")
    ]


class FailedCellResponse(ResponseModel):
    passed: Annotated[int, Field(description="Conversations that passed")]
    judged: Annotated[int, Field(description="Conversations that passed or failed")]


class FailedScenarioResponse(ResponseModel):
    """A scenario that a target has failed, with the results of all targets."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Name of the scenario")]
    cells: Annotated[list[FailedCellResponse], Field(description="In the order of `columns`")]


class ReportRatioResponse(ResponseModel):
    """The ratio of geometric means of two targets, paired by scenario."""

    scenarios: Annotated[int, Field(description="Scenarios with a known amount above 0 of both")]
    left_out: LeftOutScenarios
    ratio: Annotated[float | None, Field(description="First divided by second")]
    interval: Annotated[
        list[float] | None, Field(serialization_alias="interval95", description="95% interval of the ratio")
    ]
    adjusted_p: Annotated[float | None, Field(description="Adjusted over all pairs of the report by Holm's method")]


class ReportDifferenceResponse(ResponseModel):
    """Two targets, paired by scenario; see docs/statistics.md."""

    first: Annotated[str, Field(description="Target and prompt, for people")]
    second: Annotated[str, Field(description="Target and prompt that the first is compared with")]
    metric: Metric
    scenarios: Annotated[int, Field(description="Scenarios with results of both; each counts once")]
    difference: Annotated[float | None, Field(description="First minus second")]
    interval: Annotated[
        list[float] | None, Field(serialization_alias="interval95", description="95% interval of the difference")
    ]
    adjusted_p: Annotated[float | None, Field(description="Adjusted over all pairs of the report by Holm's method")]
    cost_ratio: Annotated[ReportRatioResponse, Field(description="What the target's calls cost")]
    time_ratio: Annotated[ReportRatioResponse, Field(description="How long they took")]


class ReportGroupResponse(ResponseModel):
    """The cases that have one value in common."""

    value: Annotated[str | None, Field(description="Null of the cases without a value")]
    scenarios: Annotated[int, Field(description="The scenarios with a case in the group")]
    pass_rates: Annotated[list[ShareEstimateResponse], Field(description="By target and prompt, as in `columns`")]


class ReportBreakdownResponse(ResponseModel):
    by: Annotated[str, Field(description="`persona`, a dimension, a field of the scenarios' metadata or a variable")]
    groups: Annotated[list[ReportGroupResponse], Field(description="Numbers by size, then texts")]


class ReportConversationPage(ResponseModel):
    items: list[ReportConversationResponse]
    next_cursor: str | None


class ReportContentResponse(ResponseModel):
    """The figures of a report: nothing that was said."""

    run_name: Annotated[str | None, Field(description="The run's own name")]
    definition_id: str
    definition_name: Annotated[str, Field(description="As it was at the start")]
    definition_version: int
    run_status: Annotated[RunStatus, Field(description="Status of the run")]
    started_at: Time | None
    completed_at: Time | None
    probes: Annotated[int, Field(description="Probes of the run")]
    scenarios: Annotated[int, Field(description="Scenarios of the run")]
    scenario_total: Annotated[int, Field(description="Scenarios of the definition's version")]
    judge_model: str | None
    evaluators: Annotated[
        dict[EvaluatorName, EvaluatorStatus],
        Field(description="Of a scale run: which default evaluators ran, or why not"),
    ]
    overall: Annotated[ReportFiguresResponse, Field(description="Of all targets together")]
    columns: Annotated[list[ReportColumnResponse], Field(description="By target, then by prompt")]
    errors: Annotated[list[ErrorCountResponse], Field(description="Infrastructure errors, the most frequent first")]
    unscored_reasons: Annotated[
        list[UnscoredCountResponse],
        Field(description="Why conversations were not scored, the most frequent first; each counts once"),
    ]
    cost: Annotated[ReportCostResponse, Field(description="Spent, against an estimate")]
    top_failure_modes: Annotated[list[FailureModeResponse], Field(description="At most 20, the most frequent first")]
    failure_tags: Annotated[int, Field(description="Number of different failure tags; 1,000 if there are more")]
    judge_stats: Annotated[list[CheckStatisticsResponse], Field(description="At most 100, the least passed first")]
    grader_agreement: Annotated[
        list[GraderAgreementResponse], Field(description="Of the run with rescores and with corrections by users")
    ]
    conversations: Annotated[list[ReportConversationResponse], Field(description="The first 1,000 completed ones")]
    failed_scenarios: Annotated[
        list[FailedScenarioResponse],
        Field(description="At most 100 scenarios that a target has failed, the most failed first"),
    ]
    differences: Annotated[
        list[ReportDifferenceResponse],
        Field(description="Each pair of targets and prompts, of at most six; empty for one"),
    ]
    breakdowns: Annotated[
        list[ReportBreakdownResponse],
        Field(
            description="By the first four of what the cases can be grouped by and that have at most 12 values; "
            "`getRunBreakdown` has all",
        ),
    ]
    notes: Annotated[list[str], Field(description="What could not be computed, and why")]


class ExcerptMessageResponse(ResponseModel):
    role: Annotated[str, Field(description="`user`, `assistant`, `toolCall`, `tool`, or `note` for what is left out")]
    content: Annotated[str, Field(description="What was said; cuts are marked")]


class ExcerptResponse(ResponseModel):
    """Parts of a conversation with a failure tag."""

    conversation_id: ConversationId
    tag: Annotated[str, Field(description="Failure tag")]
    column: Annotated[str, Field(description="Target and prompt")]
    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    reason: Annotated[str, Field(description="Why it failed, as the graders say")]
    messages: Annotated[list[ExcerptMessageResponse], Field(description="Opening and last exchanges; cuts are marked")]


class FailedReplyResponse(ResponseModel):
    """A question, what was expected, and what was answered instead."""

    conversation_id: ConversationId
    scenario_name: Annotated[str, Field(description="Name of the scenario")]
    persona_name: Annotated[str | None, Field(description="Null without a persona")]
    column: Annotated[str, Field(description="Target and prompt, for people")]
    question: Annotated[str, Field(description="The last message of the user; cuts are marked")]
    expected: Annotated[
        str | None, Field(description="What its assertions compare with; null if they compare with nothing")
    ]
    answer: Annotated[str, Field(description="The last answer; cuts are marked")]
    reason: Annotated[str, Field(description="Why it failed, as the graders say")]


class EvidenceResponse(ResponseModel):
    conversation_id: ConversationId
    quote: Annotated[str, Field(description="Occurs in this conversation")]


class FindingResponse(ResponseModel):
    """Something that the summarizer found, with true quotations."""

    title: Annotated[str, Field(description="In a few words")]
    description: Annotated[str, Field(description="In the summarizer's words")]
    tags: Annotated[list[str], Field(description="Failure tags that it explains, as the summarizer says")]
    evidence: Annotated[list[EvidenceResponse], Field(description="At least one")]


class ReportSummaryResponse(ResponseModel):
    """What a model says about sample conversations. `information unavailable` is what they do not show."""

    model: Annotated[str, Field(description="The summarizer")]
    calls: Annotated[int, Field(description="Calls of it, with repairs")]
    cost_usd: Annotated[float | None, Field(description="Of these calls; null if a price is unknown or none was made")]
    error: Annotated[str | None, Field(description="Why there is no summary; the figures do not need it")]
    text: Annotated[str, Field(description="At most 150 words")]
    failure_modes: Annotated[list[FindingResponse], Field(description="At most 7")]
    hallucinations: Annotated[list[FindingResponse], Field(description="At most 7")]
    goal_failures: Annotated[list[FindingResponse], Field(description="At most 7")]
    inconsistencies: Annotated[list[FindingResponse], Field(description="At most 7")]
    dropped_quotes: Annotated[int, Field(description="Quotations that occur in no conversation it was shown")]
    revised_prompt: Annotated[str, Field(description="The system prompt with the changes it suggests")]
    revised_prompt_issue: Annotated[str | None, Field(description="Why its revised prompt is not offered")]
    rationale: Annotated[str, Field(description="Why these changes; at most 100 words")]
    diff: Annotated[str, Field(description="Unified diff of the two prompts; at most 20,000 characters")]
    shown_conversation_ids: Annotated[list[str], Field(description="What the summarizer has read")]


class CreateReport(RequestModel):
    """All fields may be omitted."""

    model_config = example({"summarizerModel": "openai/gpt-6.1-terra"})

    summarizer_model: Annotated[
        ModelId | None,
        Field(
            description="Writes the summary; null for none. If omitted, the `summarizerModel` of the run, or else that "
            "of the workspace, or else the run's judge"
        ),
    ] = None
    allow_unpriced: Annotated[
        Flag,
        Field(
            description="Whether a model whose price is unknown may write it although the run or the workspace has a "
            "budget; it costs nothing"
        ),
    ] = False

    def names_summarizer(self) -> bool:
        """Whether it says which model, or that there is none."""
        return "summarizer_model" in self.model_fields_set


class ReportTextsResponse(ResponseModel):
    """What quotes conversations. It is deleted with them."""

    summary: Annotated[ReportSummaryResponse | None, Field(description="Null if no model was asked for one")]

    excerpts: Annotated[list[ExcerptResponse], Field(description="Two of each of the ten most frequent failure modes")]
    failed_answers: Annotated[list[FailedReplyResponse], Field(description="Of at most 50 failed conversations")]


class ReportResponse(ResponseModel):
    id: str
    run_id: str
    summarizer_model: Annotated[str | None, Field(description="Writes the summary; null for none")]
    status: JobStatus
    is_stale: Annotated[bool, Field(description="Whether the run has other outcomes by now")]
    created_at: Time
    completed_at: Time | None
    failure: FailureResponse | None
    content: Annotated[ReportContentResponse | None, Field(description="Null until it is completed, and in lists")]
    texts: Annotated[
        ReportTextsResponse | None,
        Field(description="Null until it is completed, in lists, and once a conversation of the run was deleted"),
    ]
    trial: Annotated[
        TrialResponse | None, Field(description="Of its revised prompt; null if there is none, and in lists")
    ] = None
    trial_refusal: Annotated[
        str | None, Field(description="Why the trial that the run asked for did not start; null if it did not ask")
    ] = None


class ReportList(ResponseModel):
    items: list[ReportResponse]
