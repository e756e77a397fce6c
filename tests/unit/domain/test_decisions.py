from cupel_core.domain.scoring.decisions import excerpt, read_decision
from cupel_core.domain.turns.model_request import Message, MessageRole

RATING = r"(?im)^rating:\s*([1-5])"


def assistant_messages(*answers: str) -> list[Message]:
    return [Message(MessageRole.ASSISTANT, answer) for answer in answers]


def test_the_first_group_is_the_code() -> None:
    assert read_decision(RATING, assistant_messages("It depends.\nRating: 4")) == ("4", "It depends. Rating: 4")


def test_the_last_match_in_an_answer_counts() -> None:
    decision = read_decision(RATING, assistant_messages("Rating: 2\nOn reflection:\nRating: 5"))
    assert decision is not None
    assert decision[0] == "5"


def test_the_last_answer_with_a_decision_counts() -> None:
    decision = read_decision(RATING, assistant_messages("Rating: 2", "I stand by it."))
    assert decision is not None
    assert decision[0] == "2"


def test_users_decide_nothing() -> None:
    assert read_decision(RATING, [Message(MessageRole.USER, "Rating: 1")]) is None


def test_a_group_beyond_the_codes_is_other() -> None:
    decision = read_decision(r"answer: (\w+)", assistant_messages("answer: maybe"))
    assert decision is not None
    assert decision[0] == "other"


def test_an_excerpt_is_one_line_cut_at_a_word() -> None:
    assert excerpt("a\n  b") == "a b"
    assert excerpt("word " * 100).endswith("word …")
