"""Suggestions for misspelled names."""

import pytest

from cupel_core.domain.text.near_names import did_you_mean, near_name, unknown_field_message


@pytest.mark.parametrize(
    ("name", "near"), [("asertions", "assertions"), ("MAXTURNS", "maxTurns"), ("maxturn", "maxTurns"), ("zzz", None)]
)
def test_a_misspelled_name_is_near_a_known_one_whatever_its_case(name: str, near: str | None) -> None:
    assert near_name(name, ["assertions", "maxTurns"]) == near


def test_nothing_is_suggested_for_a_name_like_no_other() -> None:
    assert (did_you_mean("zzz", ["run"]), did_you_mean("rnu", ["run"])) == ("", "; did you mean run?")


def test_an_unknown_field_is_answered_with_the_known_ones() -> None:
    assert unknown_field_message("sytem", ["system"]) == (
        "is not a known field (did you mean system?); known fields: system"
    )
    assert unknown_field_message("x", ["system"]) == "is not a known field; known fields: system"


@pytest.mark.parametrize(
    ("name", "suggested"), [("asertions", "content.assertions"), ("assertions", "content.assertions"), ("nam", "name")]
)
def test_fields_of_an_inner_object_are_suggested_too(name: str, suggested: str) -> None:
    elsewhere = {"assertions": "content.assertions", "name": "content.name"}
    message = unknown_field_message(name, ["scenarios", "name"], elsewhere)
    assert f"(did you mean {suggested}?)" in message
