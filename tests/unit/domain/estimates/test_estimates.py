"""Estimates of a run's calls, tokens, cost and duration."""

from dataclasses import replace
from math import e

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tool_results import ScriptedResult
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.estimates.conversations import (
    ANSWER_TOKENS,
    REASONING_TOKENS,
    TARGET,
    TOOL_CALL_TOKENS,
    TOOL_RESULT_TOKENS,
    Calls,
    ExpectedConversation,
    ModelRole,
    RoleModel,
)
from cupel_core.domain.estimates.expectations import (
    Answers,
    ExpectedCalls,
    RequestTerms,
    RunTerms,
    SampledCase,
    run_assumptions,
)
from cupel_core.domain.estimates.intervals import EstimateInterval, Unknowns, interval_of
from cupel_core.domain.estimates.run_estimate import CallCapacity, RunEstimate, estimate_run
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig

EXPECTED = Unknowns()
USD_PER_TOKEN = {"openai/a": 1e-6, "openai/b": 3e-6, "openai/judge": 1e-5}
UNJUDGED, JUDGED = GraderConfig(), GraderConfig(judge_model="openai/judge")
QUESTION = Message(MessageRole.USER, "q" * 368)  # 92 tokens, and 8 for the message


def price(model: str, calls: Calls) -> float | None:
    rate = USD_PER_TOKEN.get(model)
    return None if rate is None else (calls.input_tokens + calls.output_tokens) * rate


CALLS = ExpectedCalls(price, lambda _: CallCapacity(10, 2.0), reasons=lambda _: False)


def scenario(**changes: object) -> Scenario:
    return replace(Scenario("scn_1", "case", (QUESTION,)), **changes)


def conversation(
    content: Content = Content(),  # noqa: B008 - immutable
    graders: GraderConfig = UNJUDGED,
    answers: Answers = Answers(),  # noqa: B008 - immutable
    request: RequestTerms = RequestTerms(),  # noqa: B008 - immutable
    **changes: object,
) -> ExpectedConversation:
    return RunTerms(content, graders, columns=4).conversation(
        SampledCase(scenario(**changes), has_persona=False), None, answers, request
    )


def estimate(
    *models: str,
    graders: GraderConfig = UNJUDGED,
    calls: ExpectedCalls = CALLS,
    cases: int = 10,
    params: ParameterFields | None = None,
    **changes: object,
) -> RunEstimate:
    plan = Plan(tuple(map(Target, models)), (cases,))
    case = SampledCase(scenario(**changes), has_persona=False)
    return estimate_run(run_assumptions(RunTerms(Content(), graders), plan, params or {}, [case], calls))


def test_a_single_answer_is_one_call() -> None:
    assert conversation().calls(EXPECTED) == {TARGET: Calls(1.0, 100.0, ANSWER_TOKENS)}


def test_an_answer_is_not_expected_to_exceed_its_limit() -> None:
    calls = conversation(answers=Answers(limit=50)).calls(Unknowns(output=4.0))
    assert calls[TARGET].output_tokens == 50.0


def test_reasoning_is_paid_and_not_repeated() -> None:
    plain, reasoning = (
        conversation(Content(follow_ups=("why?",)), answers=Answers(reasons=reasons)).calls(EXPECTED)[TARGET]
        for reasons in (False, True)
    )
    assert reasoning.output_tokens - plain.output_tokens == 2 * REASONING_TOKENS
    assert reasoning.input_tokens == plain.input_tokens


def test_each_turn_repeats_what_was_said() -> None:
    calls = conversation(Content(follow_ups=("w" * 32, "x" * 32))).calls(EXPECTED)[TARGET]  # 16 tokens each
    assert calls == Calls(3.0, 3 * 100 + 3 * (16 + ANSWER_TOKENS), 3 * ANSWER_TOKENS)


def test_separate_turns_do_not_repeat_what_was_said() -> None:
    talk = conversation(Content(follow_ups=("w" * 32, "x" * 32)))
    calls = replace(talk, separate_turns=True).calls(EXPECTED)[TARGET]
    assert calls == Calls(3.0, 3 * 100 + 2 * (16 + ANSWER_TOKENS), 3 * ANSWER_TOKENS)


def test_follow_ups_beyond_the_limit_of_turns_are_not_sent() -> None:
    calls = conversation(Content(follow_ups=("a", "b", "c"), max_turns=2)).calls(EXPECTED)
    assert calls[TARGET].count == 2.0


def test_criteria_are_judged_after_each_answer_of_an_open_conversation() -> None:
    calls = conversation(graders=JUDGED, criteria=Criteria(success="An appointment is booked.")).calls(EXPECTED)
    assert {role_model: each.count for role_model, each in calls.items()} == {
        TARGET: 3.0,
        RoleModel(ModelRole.JUDGE, "openai/judge"): 3.0,
        RoleModel(ModelRole.PERSONA, "openai/judge"): 2.0,
    }


def test_the_room_for_messages_bounds_an_open_conversation() -> None:
    expected = conversation(graders=JUDGED, criteria=Criteria(success="Booked."), max_messages=4)
    assert expected.turns(Unknowns(turns=100.0)) == 2.0


def test_the_persona_has_a_model_of_its_own() -> None:
    graders = replace(JUDGED, persona_model="openai/a")
    calls = conversation(graders=graders, criteria=Criteria(success="Booked.")).calls(EXPECTED)
    assert calls[RoleModel(ModelRole.PERSONA, "openai/a")].count == 2.0


def test_a_scenario_without_messages_is_opened_by_the_simulated_user() -> None:
    expected = conversation(graders=replace(JUDGED, persona_model="openai/a"), messages=(), instructions="Book.")
    assert expected.calls(EXPECTED)[RoleModel(ModelRole.PERSONA, "openai/a")].count == 3.0


JUDGE = RoleModel(ModelRole.JUDGE, "openai/judge")


def judge_calls(*assertions: Assertion, columns: int = 4, **changes: object) -> Calls:
    terms = RunTerms(Content(assertions=assertions), JUDGED, columns=columns)
    expected = terms.conversation(SampledCase(scenario(**changes), has_persona=False), None, Answers())
    return expected.calls(EXPECTED).get(JUDGE, Calls())


@pytest.mark.parametrize(
    ("kind", "value", "calls"),
    [("llm-rubric", "polite", 1.0), ("factuality", "polite", 1.0), ("answer-relevance", None, 1.0)],
)
def test_model_graded_assertions_are_calls_of_the_judge(kind: str, value: object, calls: float) -> None:
    assert judge_calls(Assertion(kind, value=value)).count == calls


@pytest.mark.parametrize(("criteria", "calls"), [("polite", 2.0), (["polite", "short", "true"], 6.0)])
def test_g_eval_writes_steps_and_rates_for_each_criterion(criteria: object, calls: float) -> None:
    assert judge_calls(Assertion("g-eval", value=criteria)).count == calls


def test_the_texts_of_an_assertion_are_read_with_the_answer() -> None:
    short, long = (judge_calls(Assertion("llm-rubric", value="x" * length)).input_tokens for length in (40, 4_040))
    assert long - short == 1_000.0


def test_a_rubric_is_applied_to_the_whole_conversation() -> None:
    rubric = Assertion("llm-rubric", value="polite")
    longer = judge_calls(rubric, follow_ups=("w" * 32,)).input_tokens - judge_calls(rubric).input_tokens
    assert longer == 100 + 16 + 2 * ANSWER_TOKENS


def test_an_assertion_may_name_its_own_judge() -> None:
    assertion = Assertion("llm-rubric", value="polite", provider="openai/a")
    calls = conversation(Content(assertions=(Assertion("assert-set", parts=(assertion,)),)), JUDGED).calls(EXPECTED)
    assert RoleModel(ModelRole.JUDGE, "openai/a") in calls


def embeddings(assertion: Assertion) -> Calls:
    graders = GraderConfig(judge_model="openai/judge", embedding_model="openai/vectors")
    calls = conversation(Content(assertions=(assertion,)), graders).calls(EXPECTED)
    return calls.get(RoleModel(ModelRole.JUDGE, "openai/vectors"), Calls())


def test_an_embedding_model_reads_the_answer_and_the_texts_of_the_assertion_and_writes_nothing() -> None:
    assert embeddings(Assertion("similar", value="x" * 400)) == Calls(1.0, 100 + ANSWER_TOKENS, 0.0)


def test_the_question_is_compared_by_the_configured_embedding_model() -> None:
    """The assertion's own model is the judge that writes questions to the answer."""
    relevance = embeddings(Assertion("answer-relevance", provider="openai/a"))
    assert (relevance.count, relevance.output_tokens) == (1.0, 0.0)
    assert relevance.input_tokens > 100


def test_an_assertion_may_name_its_own_embedding_model() -> None:
    assertion = Assertion("similar", value="polite", provider="openai/other-vectors")
    assert embeddings(assertion) == Calls()
    assert RoleModel(ModelRole.JUDGE, "openai/other-vectors") in conversation(Content(assertions=(assertion,))).calls(
        EXPECTED
    )


def test_a_budget_sets_no_output_aside_for_an_embedding() -> None:
    prices = {"openai/a": 0.0, "openai/judge": 1.0}
    calls = CALLS._replace(price=lambda model, calls: calls.output_tokens * prices[model])
    graders = GraderConfig(embedding_model="openai/judge")
    expected = estimate("openai/a", graders=graders, calls=calls, assertions=(Assertion("similar", value="x"),))
    assert expected.reserved_usd == 0.0


def test_the_best_answer_is_chosen_once_per_case_and_repeat() -> None:
    calls = judge_calls(Assertion("select-best", value="short"), columns=4)
    assert calls.count == 1 / 4
    assert calls.input_tokens > ANSWER_TOKENS


def test_each_selection_is_a_call_of_its_own() -> None:
    assert judge_calls(*(Assertion("select-best", value=text) for text in ("short", "true"))).count == 2 / 4


def test_a_single_answer_is_not_compared() -> None:
    assert judge_calls(Assertion("select-best", value="short"), columns=1) == Calls()


def test_assertions_without_a_model_cost_nothing() -> None:
    calls = conversation(Content(assertions=(Assertion("contains", value="x"),)), JUDGED).calls(EXPECTED)
    assert calls.keys() == {TARGET}


def reported(graders: GraderConfig = JUDGED, *, has_report: bool = True) -> RunEstimate:
    terms, plan = RunTerms(Content(), graders, has_report=has_report), Plan((Target("openai/a"),), (10,))
    return estimate_run(run_assumptions(terms, plan, {}, [SampledCase(scenario(), has_persona=False)], CALLS))


def test_the_judge_writes_the_summary_of_the_runs_report_once() -> None:
    [report] = reported().graders
    usd = (24_000 + 2_000) * USD_PER_TOKEN["openai/judge"]
    assert (report.role, report.calls.model, report.calls.calls.expected) == (ModelRole.REPORT, "openai/judge", 1.0)
    assert report.calls.usd == EstimateInterval(usd, usd, usd)
    without = reported(has_report=False)
    assert reported().usd.expected == pytest.approx(without.usd.expected + usd)
    assert reported().seconds == without.seconds


def test_a_report_without_a_judge_costs_nothing() -> None:
    assert reported(UNJUDGED) == reported(UNJUDGED, has_report=False)


def test_an_expansion_has_one_further_report() -> None:
    with_report, without = (each.with_expansion(1, 4) for each in (reported(), reported(has_report=False)))
    assert with_report.expansion is not None
    assert without.expansion is not None
    added = with_report.expansion.usd.expected - without.expansion.usd.expected
    assert added == pytest.approx(with_report.report_usd)


def test_a_rubric_is_one_call_per_transcript() -> None:
    content = Content(decision=DecisionMethod(rubric="1 to 5", judge_model="openai/a"))
    assert conversation(content).calls(EXPECTED)[RoleModel(ModelRole.SUMMARY, "openai/a")].count == 1.0


def test_a_prompt_that_lacks_a_value_is_estimated_without_it() -> None:
    terms, prompt = RunTerms(Content(), UNJUDGED), Prompt("p", messages=(Message(MessageRole.USER, "[missing]"),))
    expected = terms.conversation(SampledCase(scenario(), has_persona=False), prompt, Answers())
    assert expected.opening_tokens == 100.0


def test_a_run_costs_what_its_calls_cost() -> None:
    estimated = estimate("openai/a", "openai/b")
    assert estimated.usd.expected == pytest.approx(10 * 400 * 1e-6 + 10 * 400 * 3e-6)
    assert [(each.target_id, each.probes) for each in estimated.targets] == [("openai/a", 10), ("openai/b", 10)]


def test_a_budget_sets_aside_the_bytes_of_the_prompt_and_all_that_an_answer_may_have() -> None:
    """2,000 tokens without a limit; judges have one."""
    assert estimate("openai/a").reserved_usd == pytest.approx((4 * 100 + 2_000) * 1e-6)
    assert estimate("openai/a", params={"maxOutputTokens": 50}).reserved_usd == pytest.approx((4 * 100 + 50) * 1e-6)
    judged = estimate("openai/a", graders=JUDGED, criteria=Criteria(success="Booked."))
    [judge] = [each.calls for each in judged.graders if each.role is ModelRole.JUDGE]
    prompt = 4 * judge.input_tokens.expected / judge.calls.expected
    assert judged.reserved_usd == pytest.approx((prompt + GRADER_OUTPUT_TOKENS) * 1e-5, rel=0.01)
    assert estimate("custom/mine").reserved_usd == 0


def test_a_model_without_a_price_is_named_and_not_free() -> None:
    estimated = estimate("openai/a", "custom/mine")
    assert estimated.unpriced == ("custom/mine",)
    assert estimated.targets[1].calls.usd is None
    assert estimated.usd == estimate("openai/a").usd


def test_graders_are_listed_with_what_they_are_called_for() -> None:
    estimated = estimate("openai/a", graders=JUDGED, criteria=Criteria(success="Booked."))
    assert [(each.role, each.calls.model) for each in estimated.graders] == [
        (ModelRole.JUDGE, "openai/judge"),
        (ModelRole.PERSONA, "openai/judge"),
    ]


def test_the_duration_is_that_of_the_slowest_provider() -> None:
    calls = CALLS._replace(capacity_of=lambda provider: CallCapacity(10, 5.0 if provider == "slow" else 1.0))
    assert estimate("openai/a", "slow/x", calls=calls, cases=100).seconds.expected == 50.0


TOOLS: ParameterFields = {"tools": [{"name": "weather"}], "maxToolRounds": 3}
SCRIPT = ScriptedResult("weather", result="sunny")


def test_a_round_of_tools_is_a_further_call_with_the_results_as_input() -> None:
    request = RequestTerms(max_tool_rounds=3, has_executor=True)
    calls = conversation(request=request).calls(EXPECTED)[TARGET]
    results = TOOL_CALL_TOKENS + TOOL_RESULT_TOKENS
    assert calls == Calls(2.0, 100 + 100 + results, TOOL_CALL_TOKENS + ANSWER_TOKENS)


def test_earlier_rounds_are_input_of_later_turns() -> None:
    request = RequestTerms(max_tool_rounds=3, has_executor=True)
    calls = conversation(Content(follow_ups=("w" * 32,)), request=request).calls(EXPECTED)[TARGET]
    results = TOOL_CALL_TOKENS + TOOL_RESULT_TOKENS
    first, second = 100, 100 + results + ANSWER_TOKENS + 16
    assert calls.input_tokens == first + (first + results) + second + (second + results)


def test_rounds_lie_between_none_and_as_many_as_are_allowed() -> None:
    calls = estimate("openai/a", params=TOOLS, tool_results=(SCRIPT,)).targets[0].calls.calls
    assert (round(calls.low), calls.expected, round(calls.high)) == (10, 20.0, 40)


def test_a_script_of_the_definition_leads_to_rounds_too() -> None:
    content = Content(tool_results=(SCRIPT,))
    assert conversation(content, request=RequestTerms(max_tool_rounds=3)).max_tool_rounds == 3


@pytest.mark.parametrize(
    "params", [{}, TOOLS | {"maxToolRounds": 0}, TOOLS | {"toolChoice": "none"}], ids=["none", "no rounds", "forbidden"]
)
def test_without_tools_to_call_there_are_no_rounds(params: ParameterFields) -> None:
    assert estimate("openai/a", params=params, tool_results=(SCRIPT,)).targets[0].calls.calls.high == 10.0


def test_calls_that_nothing_answers_lead_to_no_rounds() -> None:
    assert estimate("openai/a", params=TOOLS).targets[0].calls.calls.high == 10.0


def test_a_connector_of_tools_leads_to_rounds() -> None:
    calls = estimate("openai/a", params=TOOLS | {"toolConnectorId": "con_1"}).targets[0].calls.calls
    assert calls.expected == 20.0


def test_schemas_are_input_of_each_call() -> None:
    tools = [{"name": "weather", "description": "d" * 400}]
    plain, described = (
        estimate("openai/a", params={"tools": each}).targets[0].calls.input_tokens.expected
        for each in ([{"name": "weather"}], tools)
    )
    assert described - plain == pytest.approx(10 * (400 + len(', "description": ""')) / 4)


def test_the_schema_of_the_answer_is_input_too() -> None:
    answer_format = {"responseFormat": {"type": "json_schema", "schema": {"description": "d" * 400}}}
    assert estimate("openai/a", params=answer_format).targets[0].calls.input_tokens.expected > 10 * 200


def test_other_scripts_make_an_estimate_less_certain() -> None:
    latin, cyrillic = (
        estimate("openai/a", messages=(Message(MessageRole.USER, text),)).targets[0].calls.input_tokens
        for text in ("hello " * 50, "привет " * 50)
    )
    assert cyrillic.high / cyrillic.expected > latin.high / latin.expected


def test_a_figure_of_one_unknown_lies_between_its_factors() -> None:
    interval = interval_of(lambda unknowns: 10 * unknowns.output, Unknowns(output=4.0))
    assert (interval.low, interval.expected, interval.high) == pytest.approx((2.5, 10.0, 40.0))


def test_independent_unknowns_add_as_squares() -> None:
    interval = interval_of(lambda unknowns: unknowns.input * unknowns.output, Unknowns(input=e**3, output=e**4))
    assert interval.high == pytest.approx(e**5)


def test_a_figure_of_nothing_is_nothing() -> None:
    assert interval_of(lambda _: 0.0, Unknowns(output=4.0)) == EstimateInterval()


def test_the_bounds_of_a_sum_lie_nearer_than_the_sums_of_the_bounds() -> None:
    assert EstimateInterval(7.0, 10.0, 13.0) + EstimateInterval(6.0, 10.0, 14.0) == EstimateInterval(15.0, 20.0, 25.0)


@given(st.floats(1.0, 10.0), st.floats(1.0, 10.0), st.floats(0.01, 1e6))
def test_what_is_expected_lies_between_the_bounds(first: float, second: float, figure: float) -> None:
    interval = interval_of(lambda unknowns: figure * unknowns.input + unknowns.output, Unknowns(first, second))
    assert 0 < interval.low <= interval.expected * (1 + 1e-9)
    assert interval.expected <= interval.high * (1 + 1e-9)
