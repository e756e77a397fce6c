from dataclasses import replace
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations import simulation
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, SimulationKey
from cupel_core.domain.conversations.simulation import (
    MODELS,
    lenient_verdict,
    mean_score,
    requested_label,
    should_fail,
    simulated_answer,
)
from cupel_core.domain.conversations.tools import Tool, ToolCall

RATERS = tuple(name for name in MODELS if name != "echo")

ANSWER = Message(MessageRole.ASSISTANT, "Rating: 3")


def about(scores: dict[str, float], scenario_id: str = "scn_1", repeat: int = 0) -> ModelRequest:
    message = Message(MessageRole.USER, "What do you do? End with a line `Rating: N`.")
    return ModelRequest((message,), simulation_key=SimulationKey(scenario_id, scores, repeat, seed=7))


def rating_of(model: str, request: ModelRequest) -> int:
    return int(simulated_answer(model, request).rpartition(" ")[2])


def ratings(model: str, score: float, count: int = 200) -> list[int]:
    return [rating_of(model, about({"risk": score}, f"scn_{number}")) for number in range(count)]


def request_for(text: str, system: str | None = None) -> ModelRequest:
    first = (Message(MessageRole.SYSTEM, system),) if system else ()
    return ModelRequest((*first, Message(MessageRole.USER, text)))


@given(
    model=st.sampled_from(RATERS),
    scores=st.dictionaries(st.text(max_size=5), st.floats(-100, 100), max_size=4),
    scenario_id=st.text(max_size=10),
    repeat=st.integers(0, 99),
)
def test_every_rating_is_between_1_and_5(model: str, scores: dict[str, float], scenario_id: str, repeat: int) -> None:
    assert rating_of(model, about(scores, scenario_id, repeat)) in range(1, 6)


@pytest.mark.parametrize("model", RATERS)
def test_the_same_probe_gets_the_same_answer(model: str) -> None:
    assert simulated_answer(model, about({"risk": 3})) == simulated_answer(model, about({"risk": 3}))


def test_repeats_of_one_scenario_vary() -> None:
    answers = {rating_of("steady", about({"risk": 2.5}, repeat=repeat)) for repeat in range(50)}
    assert len(answers) > 1


def test_a_later_turn_has_noise_of_its_own() -> None:
    first = [about({"risk": 2.5}, f"scn_{number}") for number in range(50)]
    second = [
        turn.with_message(Message(MessageRole.ASSISTANT, "Rating: 3")).with_message(Message(MessageRole.USER, "Sure?"))
        for turn in first
    ]
    assert [rating_of("steady", turn) for turn in first] != [rating_of("steady", turn) for turn in second]


def test_steady_follows_the_mean_of_the_scores() -> None:
    assert abs(mean(ratings("steady", 2)) - 2) < 0.2
    assert abs(mean(ratings("steady", 4)) - 4) < 0.2


def test_contrarian_reverses_the_scores() -> None:
    assert abs(mean(ratings("contrarian", 2)) - 4) < 0.2


def test_bold_avoids_the_middle_and_stays_on_the_side_of_the_scores() -> None:
    assert set(ratings("bold", 2)) == {1, 2}
    assert set(ratings("bold", 4)) == {4, 5}
    assert set(ratings("bold", 3)) == {1, 2, 4, 5}


def test_flaky_rates_as_steady_does() -> None:
    assert ratings("flaky", 3) == ratings("steady", 3)


def test_flaky_alone_fails_about_a_tenth_of_its_probes() -> None:
    cases = [about({}, f"scn_{number}") for number in range(2000)]
    assert 0.08 < mean(should_fail("flaky", case) for case in cases) < 0.12
    assert not any(should_fail(model, case) for case in cases for model in MODELS if model != "flaky")


def test_a_probe_fails_whatever_turn_it_is_in() -> None:
    probe = next(case for case in (about({}, f"scn_{n}") for n in range(100)) if should_fail("flaky", case))
    assert should_fail(
        "flaky",
        probe.with_message(Message(MessageRole.ASSISTANT, "Rating: 1")).with_message(
            Message(MessageRole.USER, "And now?")
        ),
    )


def test_without_dimensions_only_the_scenario_decides_the_score() -> None:
    assert mean_score(about({}, "scn_1")) == mean_score(about({}, "scn_1", repeat=3))
    assert mean_score(about({}, "scn_1")) != mean_score(about({}, "scn_2"))


def test_outside_of_a_run_the_messages_decide() -> None:
    bare = [replace(request_for(f"Question {number}?"), simulation_key=SimulationKey()) for number in range(20)]
    assert len({mean_score(request) for request in bare}) == 20


def test_every_answer_says_that_it_is_simulated() -> None:
    assert all("simulated" in simulated_answer(model, about({"risk": 3})) for model in RATERS)


def test_echo_answers_a_single_text_with_itself() -> None:
    assert simulated_answer("echo", request_for("What now? {}")) == "What now? {}"


def test_echo_answers_a_chat_with_its_json_as_promptfoo_does() -> None:
    answer = simulated_answer("echo", request_for("Grüße", system="Be kind"))
    assert answer == (
        '[\n  {\n    "role": "system",\n    "content": "Be kind"\n  },\n'
        '  {\n    "role": "user",\n    "content": "Grüße"\n  }\n]'
    )


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("End with a line `Rating: N`.", "Rating"),
        ("Finish with Answer: N (1 to 5).", "Answer"),
        ("Close with 'Final answer: <1-5>'.", "Final answer"),
        ("Decision: [number]", "Decision"),
        ("write score: 1-5 last", "score"),
        ("First Doubt: N, then Rating: N", "Rating"),
        ("Situation: a fire. What now?", "Rating"),
    ],
)
def test_the_answer_ends_with_the_requested_label(text: str, label: str) -> None:
    assert requested_label(request_for(text)) == label


def test_the_system_prompt_may_request_the_label() -> None:
    assert requested_label(request_for("What now?", system="End with `Verdict: N`.")) == "Verdict"


def test_the_newest_request_counts() -> None:
    request = (
        request_for("Doubt: N")
        .with_message(Message(MessageRole.ASSISTANT, "Doubt: 2"))
        .with_message(Message(MessageRole.USER, "Now Trust: N"))
    )
    assert requested_label(request) == "Trust"


def test_a_follow_up_without_a_label_keeps_the_previous_one() -> None:
    request = (
        request_for("End with Trust: N")
        .with_message(Message(MessageRole.ASSISTANT, "Trust: 2"))
        .with_message(Message(MessageRole.USER, "Are you sure?"))
    )
    assert requested_label(request) == "Trust"


def tool_request(*messages: Message) -> ModelRequest:
    tools = (Tool("find_order"), Tool("pay"))
    return ModelRequest(messages, ModelParameters(tools=tools), SimulationKey("scn_1"))


def called(*said: Message) -> list[tuple[str, str]]:
    """The calls of one reply after another, each with the result `ok`."""
    messages, made = said, []
    while calls := simulation.tool_calls("steady", tool_request(*messages)):
        made += [(call.name, call.arguments) for call in calls]
        results = (Message(MessageRole.TOOL, "ok", tool_call_id=call.id) for call in calls)
        messages = (*messages, Message(MessageRole.ASSISTANT, "", calls), *results)
    return made


def test_the_functions_that_the_user_names_are_called_one_after_the_other() -> None:
    asked = Message(MessageRole.USER, 'Please find_order {"number": "A-17"}, then pay ({"usd": 3}) and pay.')
    assert called(asked) == [("find_order", '{"number": "A-17"}'), ("pay", '{"usd": 3}'), ("pay", "{}")]


def test_without_a_name_one_function_is_called_once() -> None:
    assert len(called(Message(MessageRole.USER, "Where is my order? findings: prepay"))) == 1


def test_the_answer_has_what_the_functions_returned() -> None:
    calls = (ToolCall("call_2", "pay", "{}"),)
    said = (
        Message(MessageRole.USER, "pay"),
        Message(MessageRole.ASSISTANT, "", calls),
        Message(MessageRole.TOOL, "paid", tool_call_id="call_2"),
    )
    assert "\n\npay returned: paid\n\nRating: " in simulated_answer("steady", tool_request(*said))


def verdicts(rating: int, count: int = 2_000) -> list[bool | None]:
    texts = (f"Case {number} needs care.\n\nRating: {rating}" for number in range(count))
    return [lenient_verdict("lenient", request_for(text)) for text in texts]


@pytest.mark.parametrize(("rating", "passed"), [(5, 0.95), (3, 0.95), (2, 0.4), (1, 0.4)])
def test_the_lenient_judge_errs_at_a_known_rate(rating: int, passed: float) -> None:
    found = verdicts(rating)
    assert abs(found.count(True) / len(found) - passed) < 0.04


def test_only_the_lenient_judge_reads_ratings() -> None:
    assert lenient_verdict("steady", request_for("Rating: 4")) is None
    assert lenient_verdict("lenient", request_for("There is none.")) is None
