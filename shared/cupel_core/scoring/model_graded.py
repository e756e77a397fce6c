"""Computes assertions that a model grades, by structured replies. `spend_log` collects the spend of all calls."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.material import MaterialValue, messages_material, reading_request
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertion_rules import RUBRIC_PROMPT
from cupel_core.domain.scoring.assertion_values import render_variables
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, NotComputable, SpendLog, graded
from cupel_core.scoring.grading.grader import Grader, GraderError, GraderReply, request_structured
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.replies import ShortReply, StructuredReply, read_reply
from cupel_core.scoring.grading.reply_values import OptionalFlag, Reason, choice_of, score_on, text_list, whole_number
from cupel_core.scoring.rubric_grading import RubricGrading
from cupel_core.scoring.texts import threshold_of

type Read[T] = Callable[[type[T], str], T]


async def ask_grader[T: StructuredReply](
    grader: Grader,
    instructions: str,
    material: Mapping[str, MaterialValue],
    reply_type: type[T],
    spend_log: SpendLog,
    read: Read[T] = read_reply,
) -> T:
    """Ask a model for a reply of this type. Raises GraderError when the call fails or the reply is unusable."""
    return (await _ask(grader, reading_request(instructions, material), reply_type, spend_log, read)).value


async def ask_messages[T: StructuredReply](
    grader: Grader,
    messages: tuple[Message, ...],
    reply_type: type[T],
    spend_log: SpendLog,
    parameters: ModelParameters,
    read: Read[T] = read_reply,
) -> GraderReply[T]:
    """Work like `ask_grader`, with the author's own messages. The temperature is 0 unless the parameters have one."""
    if parameters.temperature is None:
        parameters = replace(parameters, temperature=0.0)
    return await _ask(grader, ModelRequest(messages, parameters), reply_type, spend_log, read)


async def _ask[T: StructuredReply](
    grader: Grader, request: ModelRequest, reply_type: type[T], spend_log: SpendLog, read: Read[T]
) -> GraderReply[T]:
    try:
        reply = await request_structured(grader, request, reply_type, spend_log, read)
    except GraderError as error:
        spend_log.append(error.spend)
        raise
    spend_log.append(reply.spend)
    return reply


_RUBRIC = """You grade the "output" by the "rubric" and by nothing else. Answer with one JSON object: "reason": one to
three sentences that name what decided it; "pass": whether the output satisfies the rubric; "score": from 0 to 1, how
far it does."""


class _Grade(StructuredReply):
    optional: ClassVar[frozenset[str]] = frozenset({"pass", "score"})

    reason: Reason
    passes: Annotated[OptionalFlag, Field(alias="pass")]
    score: Annotated[Any, WithJsonSchema({"maximum": 1, "minimum": 0, "type": "number"})]


async def llm_rubric(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Pass if the judge says so and its score reaches the threshold. The judge sees the whole conversation if it has
    more than one exchange."""
    value = assertion.value or ""
    rubric = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    judge, prompt = graders.judge(assertion.provider), (assertion.config or {}).get(RUBRIC_PROMPT)
    grading = RubricGrading.of(assertion)
    read = partial(read_reply, verdict_of=lambda grade: grading.verdict(grade.passes, grade.score))
    if prompt is not None:
        messages = _own_prompt(prompt, rubric, context)
        own = (await ask_messages(judge, messages, _Grade, spend_log, ModelParameters(), read)).value
        return _rubric_result(grading, own)
    material: dict[str, MaterialValue] = {"rubric": rubric}
    if len(context.messages_without_system) > 2:
        material["conversation"] = messages_material(context.messages_without_system)
    material["output"] = context.output
    return _rubric_result(grading, await ask_grader(judge, _RUBRIC, material, _Grade, spend_log, read))


def _rubric_result(grading: RubricGrading, grade: _Grade) -> CheckResult:
    verdict = grading.verdict(grade.passes, grade.score)
    return CheckResult(verdict.passed, verdict.score, grading.explain(grade.score, grade.reason))


def _own_prompt(prompt: Any, rubric: str, context: AssertionContext) -> tuple[Message, ...]:
    """Return the author's prompt, with the output, the rubric and the scenario's variables filled in."""
    variables = {**context.variables, "output": context.output, "rubric": rubric}
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    try:
        return tuple(
            Message(MessageRole(each["role"]), render_variables(each["content"], variables)) for each in messages
        )
    except ValueError as error:
        raise NotComputable(f"its {RUBRIC_PROMPT} has an {error}", UnscoredCode.ASSERTION) from None


_STEPS = """You prepare the evaluation of texts. Out of the "criteria", write three or four short steps by which anybody
can check a text. Answer with one JSON object whose "steps" is the list of them."""
_MAX_RATING = 10
_EVALUATION = f"""You rate the "reply" to the "prompt" by the "criteria", following the "steps". Answer with one JSON
object: "reason": shortly, what in the prompt and the reply decided it, without the score; "score": a whole number from
0 (the criteria are not met at all) to {_MAX_RATING} (they are met fully and clearly)."""


_MAX_STEPS = 20


class _Steps(StructuredReply):
    steps: Annotated[
        list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=_MAX_STEPS), text_list(_MAX_STEPS)
    ]


class _Rating(StructuredReply):
    reason: Reason
    score: Annotated[
        float,
        Field(ge=0, le=_MAX_RATING),
        score_on(0, _MAX_RATING),
        WithJsonSchema({"maximum": _MAX_RATING, "minimum": 0, "type": "integer"}),
    ]


async def g_eval(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Return the mean score over the criteria, each rated by steps that the judge writes first (Liu et al., 2023)."""
    criteria = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    grader = graders.judge(assertion.provider)
    ratings = [await _rate(grader, criterion, context, spend_log) for criterion in criteria]
    score = sum(rating.score for rating in ratings) / len(ratings) / _MAX_RATING
    result = graded("G-Eval", score, threshold_of(assertion))
    return result._replace(reason=f"{result.reason}: {' '.join(rating.reason for rating in ratings)}")


async def _rate(grader: Grader, criteria: str, context: AssertionContext, spend_log: SpendLog) -> _Rating:
    planned = await ask_grader(grader, _STEPS, {"criteria": criteria}, _Steps, spend_log)
    material: dict[str, MaterialValue] = {
        "criteria": criteria,
        "steps": planned.steps,
        "prompt": context.prompt_material,
        "reply": context.output,
    }
    return await ask_grader(grader, _EVALUATION, material, _Rating, spend_log)


_FACTS = """You compare the facts of a "submission", which answers the "question", with those of the answer of the
"expert", whatever their style. Answer with one JSON object: "reason": what decided it; "category": "A" when the
submission is a subset of the expert's answer and consistent with it, "B" when it is a superset and consistent with it,
"C" when it has the same details, "D" when they disagree, "E" when they differ in what does not matter for the facts."""
_CATEGORIES = {"subset": "A", "superset": "B", "agree": "C", "disagree": "D", "differButFactual": "E"}


class _Comparison(ShortReply):
    value_field = "category"

    reason: Reason
    category: Annotated[Literal["A", "B", "C", "D", "E"], choice_of("ABCDE", _CATEGORIES)]


async def factuality(
    assertion: Assertion, context: AssertionContext, graders: GraderFactory, spend_log: SpendLog
) -> CheckResult:
    """Compare facts with an expert's answer. The config may set a score per category; a score above 0 passes."""
    material = {"question": context.prompt_material, "expert": assertion.value, "submission": context.output}
    comparison = await ask_grader(graders.judge(assertion.provider), _FACTS, material, _Comparison, spend_log)
    score = _category_scores(assertion.config or {})[comparison.category]
    return CheckResult(score > 0, score, f"({comparison.category}) {comparison.reason}")


def _category_scores(config: Mapping[str, object]) -> dict[str, float]:
    scores = {"A": 1.0, "B": 1.0, "C": 1.0, "D": 0.0, "E": 1.0}
    for name, category in _CATEGORIES.items():
        score = config.get(name)
        if isinstance(score, int | float):
            scores[category] = min(1.0, max(0.0, float(score)))
    return scores


@dataclass(frozen=True)
class BestOutput:
    """Identifies the chosen output by its index from 0."""

    index: int
    reason: str
    spend: Spend


_CHOICE = """You choose which of the "texts" fits the "criteria" best. Answer with one JSON object: "reason": what
decided it; "index": the number of that text."""


class _Choice(ShortReply):
    value_field = "index"


async def select_best(assertion: Assertion, outputs: Sequence[str], graders: GraderFactory) -> BestOutput:
    """Choose the best of several models' outputs. Raises NotComputable for fewer than two outputs, Invalid without a
    judge, and GraderError."""
    if len(outputs) < 2:
        raise NotComputable("there is no other output to compare with: select-best needs two targets that answered")
    index = (Annotated[int, Field(strict=True, ge=0, lt=len(outputs)), BeforeValidator(whole_number)], ...)
    reply_type = create_model("Choice", __base__=_Choice, reason=(Reason, ...), index=index)
    texts = [{"index": number, "text": output} for number, output in enumerate(outputs)]
    spend_log: SpendLog = []
    material = {"criteria": assertion.value, "texts": texts}
    choice = (
        await ask_grader(graders.judge(assertion.provider), _CHOICE, material, reply_type, spend_log)
    ).model_dump()
    return BestOutput(choice["index"], choice["reason"], sum(spend_log, Spend()))
