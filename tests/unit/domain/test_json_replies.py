import pytest

from cupel_core.domain.text.json_replies import extract_json_object

OBJECT = '{"a": {"b": "}"}}'


@pytest.mark.parametrize(
    "reply",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"Here it is:\n{OBJECT}\nThat is all {{it}} takes.",
        f'<think>Maybe {{"a": 1}}? No.</think>{OBJECT}',
        f'<think>An unfinished {{"a": thought</think>\n\n{OBJECT}',
        f'First {{"a": 1}}, but then: {OBJECT}',
    ],
)
def test_the_last_object_is_found(reply: str) -> None:
    assert extract_json_object(reply) == OBJECT


def test_without_a_complete_object_the_braces_delimit_it() -> None:
    assert extract_json_object('so: {"a": oops} done') == '{"a": oops}'


@pytest.mark.parametrize("reply", ["", "no object", "}{", "{" * 100_000, '{"a":' * 100_000])
def test_any_text_gives_a_text(reply: str) -> None:
    assert isinstance(extract_json_object(reply), str)
