"""Reports of runs."""

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Flag, ModelId
from cupel_core.contract.report_content import ConversationId, ReportContentResponse
from cupel_core.contract.runs import FailureResponse
from cupel_core.contract.trials import TrialResponse
from cupel_core.domain.analysis.jobs import JobStatus


class ExcerptMessageResponse(ResponseModel):
    role: str
    """`user`, `assistant`, `toolCall`, `tool`, or `note` for what is left out. Example: assistant"""
    content: str
    """Text of the message; cuts are marked. Example: I cannot help with that."""


class ExcerptResponse(ResponseModel):
    """Parts of a conversation with a failure tag."""

    conversation_id: ConversationId
    """Example: run_01k1f0aa-7"""
    tag: str
    """Failure tag."""
    column: str
    """Target and prompt. Example: openai/gpt-6.1-terra"""
    scenario_id: str
    scenario_name: str
    """Its name."""
    reason: str
    """Why it failed, as the graders say."""
    messages: list[ExcerptMessageResponse]
    """Opening and last exchanges; cuts are marked."""


class FailedReplyResponse(ResponseModel):
    """A question, what was expected, and what was answered instead."""

    conversation_id: ConversationId
    """Example: run_01k1f0aa-7"""
    scenario_name: str
    """Name of the scenario."""
    persona_name: str | None
    """Null without a persona."""
    column: str
    """Target and prompt, for people. Example: openai/gpt-6.1-terra"""
    question: str
    """The last message of the user; cuts are marked. Example: Until when can I return it?"""
    expected: str | None
    """Text that its assertions compare with; null without one. Example: within 30 days"""
    answer: str
    """The last answer; cuts are marked. Example: I cannot help with that."""
    reason: str
    """Why it failed, as the graders say."""


class EvidenceResponse(ResponseModel):
    conversation_id: ConversationId
    """Example: run_01k1f0aa-7"""
    quote: str
    """Occurs in this conversation. Example: I cannot help with that."""


class FindingResponse(ResponseModel):
    """Something that the summarizer found, with true quotations."""

    title: str
    """Title in a few words. Example: Refuses simple questions"""
    description: str
    """The summarizer's description. Example: It refuses to explain the limit."""
    tags: list[str]
    """Failure tags that it explains, as the summarizer says. Example: ["REFUSAL"]"""
    evidence: list[EvidenceResponse]
    """One quotation or more."""


class ReportSummaryResponse(ResponseModel):
    """A model's summary of sample conversations. `information unavailable` is what they do not show."""

    model: str
    """The summarizer."""
    calls: int
    """Calls of it, with repairs. Example: 1"""
    cost_usd: float | None
    """Cost of these calls; null if a price is unknown or none was made."""
    error: str | None
    """Reason why there is no summary; the figures do not need it."""
    text: str
    """Summary of at most 150 words. Example: Most conversations explain the limit; some refuse to answer."""
    failure_modes: list[FindingResponse]
    """Failure modes; at most 7."""
    hallucinations: list[FindingResponse]
    """Hallucinations; at most 7."""
    goal_failures: list[FindingResponse]
    """Missed goals; at most 7."""
    inconsistencies: list[FindingResponse]
    """Inconsistencies; at most 7."""
    dropped_quotes: int
    """Quotations that occur in no conversation it was shown. Example: 0"""
    revised_prompt: str
    """The system prompt with the changes it suggests.

    Example: Refunds are possible within 30 days. After that, offer a repair.
    """
    revised_prompt_issue: str | None
    """Reason why its revised prompt is not offered. Example: it lacks the placeholders [name]"""
    rationale: str
    """Reasons for the changes; at most 100 words. Example: It now says what to do after 30 days."""
    diff: str
    """Unified diff of the two prompts; at most 20,000 characters.

    Example: "-Answer the customer.\\n+Answer the customer politely."
    """
    shown_conversation_ids: list[str]
    """Ids of the conversations that the summarizer has read. Example: ["run_01k1f0aa-7"]"""


class CreateReport(RequestModel):
    """All fields may be omitted."""

    model_config = example({"summarizerModel": "openai/gpt-6.1-terra"})

    summarizer_model: ModelId | None = None
    """Writes the summary; null for none. If omitted, the `summarizerModel` of the run, or else that of the workspace,
    or else the run's judge."""
    allow_unpriced: Flag = False
    """True if a model whose price is unknown may write it although the run or the workspace has a budget; it costs
    nothing."""

    def names_summarizer(self) -> bool:
        """Whether it says which model, or that there is none."""
        return "summarizer_model" in self.model_fields_set


class ReportTextsResponse(ResponseModel):
    """Quotations of conversations, which are deleted with them."""

    summary: ReportSummaryResponse | None
    """Null if no model was asked for one."""

    excerpts: list[ExcerptResponse]
    """Two of each of the ten most frequent failure modes."""
    failed_answers: list[FailedReplyResponse]
    """Answers of at most 50 failed conversations."""


class ReportResponse(ResponseModel):
    id: str
    run_id: str
    summarizer_model: str | None
    """Model that writes the summary; null for none. Example: openai/gpt-6.1-terra"""
    status: JobStatus
    is_stale: bool
    """True if the run has other outcomes or labels by now. Example: false"""
    created_at: Time
    completed_at: Time | None
    failure: FailureResponse | None
    content: ReportContentResponse | None
    """Null until it is completed, and in lists."""
    texts: ReportTextsResponse | None
    """Null until it is completed, in lists, and once a conversation of the run was deleted."""
    trial: TrialResponse | None = None
    """Trial of its revised prompt; null if there is none, and in lists."""
    trial_refusal: str | None = None
    """Reason why the requested trial did not start; null if none was requested.

    Example: the report offers no revised prompt: it is the same as the original
    """


class ReportList(ResponseModel):
    items: list[ReportResponse]
