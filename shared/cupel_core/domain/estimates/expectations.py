import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS, MIN_UNLIMITED_OUTPUT_TOKENS
from cupel_core.domain.conversations.conversation import ConversationRules
from cupel_core.domain.conversations.model_parameters import ParameterFields, merge_parameters
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tool_results import DEFAULT_TOOL_ROUNDS
from cupel_core.domain.conversations.tools import ToolMode
from cupel_core.domain.definitions.conversation_rules import conversation_rules
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import MissingValue, Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.estimates.conversations import ConversationSample, ExpectedConversation, OperationCall
from cupel_core.domain.estimates.file_tokens import FileFormulas, file_tokens
from cupel_core.domain.estimates.grading_calls import grading_calls
from cupel_core.domain.estimates.run_estimate import Assumptions, CallCapacity, ColumnEstimate, Price
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.runs.pace import UNLIMITED, Pace
from cupel_core.domain.runs.plan import Column, Plan
from cupel_core.domain.scoring.assertions import SELECT_BEST, flatten
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.token_counts import PER_MESSAGE, estimated_tokens, is_latin


class SampledCase(NamedTuple):
    scenario: Scenario
    has_persona: bool


class Answers(NamedTuple):
    reasons: bool = False
    limit: int | None = None


class RequestTerms(NamedTuple):
    schema_tokens: float = 0.0
    max_tool_rounds: int = 0
    """The maximum number of rounds of tools; 0 if the target has no tools."""
    has_executor: bool = False
    formulas: FileFormulas = FileFormulas()


_PLAIN_REQUEST = RequestTerms()


class ExpectedCalls(NamedTuple):
    price: Price
    capacity_of: Callable[[str], CallCapacity]
    reasons: Callable[[str], bool]
    formulas: Callable[[str], FileFormulas] = lambda _: FileFormulas()
    has_limit: Callable[[str, ParameterFields], bool] = lambda _, params: "maxOutputTokens" in params


@dataclass(frozen=True)
class RunTerms:
    content: Content
    graders: GraderConfig
    max_turns: int | None = None
    columns: int = 1
    """A selection chooses among this many answers to a case in each repeat."""
    has_functions: bool = False
    profile: RunProfile | None = None
    pace: Pace = UNLIMITED
    has_report: bool = False
    finishing_only: bool = False
    """Of the judge's calls, only those that are made after every probe has an outcome count."""

    def conversation(
        self, case: SampledCase, prompt: Prompt | None, answers: Answers, request: RequestTerms = _PLAIN_REQUEST
    ) -> ExpectedConversation:
        scenario = case.scenario
        rules = conversation_rules(
            scenario, self.content, self.graders, has_persona=case.has_persona, max_turns=self.max_turns
        )
        opening = self._opening(scenario, prompt)
        judge, decision = self.graders.judge_model, self.content.decision
        assertions = flatten((*self.content.assertions, *scenario.assertions))
        if self.finishing_only:
            assertions = (each for each in assertions if each.kind == SELECT_BEST)
        files = file_tokens((file for message in opening for file in message.files), request.formulas)
        answers_calls = request.has_executor or bool(scenario.tool_results or self.content.tool_results)
        return ExpectedConversation(
            opening_tokens=message_tokens(opening),
            max_turns=_max_turns(rules, opening),
            scripted_tokens=tuple(estimated_tokens(text) + PER_MESSAGE for text in rules.scripted),
            separate_turns=scenario.separate_turns,
            persona_model=self.graders.persona_model or judge,
            has_opening=any(message.role is MessageRole.USER for message in opening),
            simulates_user=rules.simulates_user,
            judge_model=judge if rules.is_judged and not self.finishing_only else None,
            criteria_tokens=estimated_tokens((rules.criteria.success or "") + (rules.criteria.failure or "")),
            grading=grading_calls(assertions, self.graders, self.columns),
            summary_model=decision.judged_by(judge) if decision else None,
            reasons=answers.reasons,
            answer_limit=answers.limit,
            schema_tokens=request.schema_tokens,
            image_tokens=files.images,
            pdf_tokens=files.pdfs,
            max_tool_rounds=request.max_tool_rounds if answers_calls else 0,
            operations=() if self.profile is None or self.finishing_only else tuple(_operation_calls(self.profile)),
        )

    def _opening(self, scenario: Scenario, prompt: Prompt | None) -> tuple[Message, ...]:
        """Return the opening, without the prompt if the scenario lacks what it needs: that conversation does not take
        place."""
        try:
            return self.content.opening_of(scenario, prompt)
        except MissingValue:
            return scenario.messages


def _operation_calls(profile: RunProfile) -> Iterator[OperationCall]:
    for steps in profile.plan.steps.values():
        for call in filter(None, (step.params.call for step in steps)):
            text = f"{call.system or ''}{call.prompt}"
            limit = call.target.params.get("maxOutputTokens")
            yield OperationCall(call.target.model, estimated_tokens(text) + PER_MESSAGE, limit)


def run_assumptions(
    terms: RunTerms,
    plan: Plan,
    params: ParameterFields,
    cases: Sequence[SampledCase],
    calls: ExpectedCalls,
    probes: Sequence[int] | None = None,
) -> Assumptions:
    """Return the assumptions; `params` are those of the run, and the non-empty `cases` represent all cases of the plan.
    `probes` has the probes of each column, if they are not all of the plan; columns without any are left out."""

    @cache
    def sample(prompt_id: str | None, answers: Answers, request: RequestTerms) -> ConversationSample:
        prompt = terms.content.prompt(prompt_id)
        return ConversationSample([terms.conversation(case, prompt, answers, request) for case in cases])

    def column_estimate(column: Column, probes: int) -> ColumnEstimate:
        prompt = terms.content.prompt(column.prompt_id)
        merged = merge_parameters(params, column.target.params, prompt.params if prompt else {})
        answers = Answers(calls.reasons(column.target.model), merged.get("maxOutputTokens"))
        request = _request_terms(merged, terms.has_functions, calls.formulas(column.target.model))
        conversations = sample(column.prompt_id, answers, request)
        basis = request.formulas.basis if conversations.has_files else None
        model = column.target.model
        has_limit = calls.has_limit(model, merged)
        default = GRADER_OUTPUT_TOKENS if has_limit else MIN_UNLIMITED_OUTPUT_TOKENS
        reserved = answers.limit or default
        grader_output = terms.graders.judge_max_output_tokens or GRADER_OUTPUT_TOKENS
        return ColumnEstimate(column.target.id, model, probes, conversations, basis, has_limit, reserved, grader_output)

    texts = "".join(message.content for case in cases for message in case.scenario.messages)
    numbers = (plan.cases * plan.repeats,) * len(plan.columns) if probes is None else probes
    columns = tuple(column_estimate(*each) for each in zip(plan.columns, numbers, strict=True) if each[1])
    summarizer = terms.graders.report_model if terms.has_report else None
    return Assumptions(columns, calls.price, calls.capacity_of, is_latin(texts), terms.pace, summarizer)


def _request_terms(params: ParameterFields, has_functions: bool, formulas: FileFormulas) -> RequestTerms:
    tools, schema = params.get("tools") or [], (params.get("responseFormat") or {}).get("schema")
    may_call = bool(tools) and params.get("toolChoice") != ToolMode.NONE
    rounds = params.get("maxToolRounds")
    return RequestTerms(
        schema_tokens=sum(estimated_tokens(json.dumps(each, ensure_ascii=False)) for each in (*tools, schema) if each),
        max_tool_rounds=(DEFAULT_TOOL_ROUNDS if rounds is None else rounds) if may_call else 0,
        has_executor=has_functions or params.get("toolConnectorId") is not None,
        formulas=formulas,
    )


def message_tokens(messages: Iterable[Message]) -> float:
    return sum(estimated_tokens(message.text) + PER_MESSAGE for message in messages)


def _max_turns(rules: ConversationRules, opening: tuple[Message, ...]) -> int:
    """Return how many answers the limits allow; a script that nobody judges or continues is sent completely."""
    said = sum(message.role is not MessageRole.SYSTEM for message in opening)
    room = max(1, (rules.max_messages - said + 1) // 2)
    allowed = room if rules.simulates_user else 1 + len(rules.scripted)
    return allowed if rules.max_turns is None else min(allowed, rules.max_turns)
