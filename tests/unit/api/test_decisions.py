"""Decisions of answers that are read with a pattern, without a run."""

import pytest

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client

RATING = r"(?i)rating: (\d)"


def test_each_answer_has_its_decision(client: Client) -> None:
    answers = ["Rating: 2, no.\nrating: 4", "I cannot say.", "Rating: 7"]
    answer = client.post("/v1/decisions", {"pattern": RATING, "answers": answers})
    assert answer.status == 200, answer.text
    assert answer.json()["items"] == [{"code": code, "error": None} for code in ("4", None, "other")]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("rating", "must have a group"), ("(", "is not a regular expression"), ("((a+)+)b", "itself repeats something")],
)
def test_a_wrong_pattern_is_refused_in_words(client: Client, pattern: str, why: str) -> None:
    refused = client.post("/v1/decisions", {"pattern": pattern, "answers": ["a"]})
    assert (refused.status, refused.fields()) == (422, ["pattern"])
    assert why in refused.text


def test_answers_are_bounded(client: Client) -> None:
    for answers in ([], ["a"] * 51, [7]):
        assert client.post("/v1/decisions", {"pattern": RATING, "answers": answers}).status == 422


def test_after_a_search_that_takes_too_long_no_other_is_made(client: Client) -> None:
    hostile = ["1", "a" * 5_000, "1"]
    items = client.post("/v1/decisions", {"pattern": "(?:a|a)*b(.)|(1)", "answers": hostile}).json()["items"]
    assert items[0] == {"code": "other", "error": None}
    assert items[1]["error"]
    assert items[2] == items[1]


def test_viewers_try_no_patterns(client: Client) -> None:
    token = client.issue(role=AccessRole.VIEWER)
    assert client.post("/v1/decisions", {"pattern": RATING, "answers": ["a"]}, token=token).status == 403
