import json

import pytest

from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.interop.imports.json_documents import InvalidDocument
from tests.unit.interop.imports.reading import last_messages, read_suite, scenarios, skipped

ONE_TEST = {"tests": [{"vars": {"x": "blue"}}]}
CHAT = [{"role": "system", "content": "Be {{x}}"}, {"role": "user", "content": "Say {{x}}"}]


def test_a_text_is_what_the_user_says() -> None:
    assert last_messages({"prompts": ["Say {{x}}"], **ONE_TEST}) == ["Say blue"]


TWO_PROMPTS = {"description": "Colours", "prompts": ["Say {{x}}", "Sing {{x}}"]}


def test_several_prompts_are_one_definition() -> None:
    suite = read_suite({**TWO_PROMPTS, **ONE_TEST})
    [draft] = suite.drafts
    assert draft.name == "Colours"
    assert [(each["id"], each["label"]) for each in draft.content["prompts"]] == [
        ("Say-x", "Say {{x}}"),
        ("Sing-x", "Sing {{x}}"),
    ]
    messages = {name: each[0].content for name, each in draft.scenarios[0].messages_by_prompt.items()}
    assert messages == {"Say-x": "Say blue", "Sing-x": "Sing blue"}
    assert suite.report.imported["scenarios"] == 1


def test_each_prompt_keeps_its_system_message() -> None:
    plain, chat = "Say {{x}}", [{"role": "system", "content": "Sing."}, {"role": "user", "content": "{{x}}"}]
    [draft] = read_suite({"prompts": [plain, chat], **ONE_TEST}).drafts
    assert [each.get("system") for each in draft.content["prompts"]] == [None, "Sing."]
    assert "system" not in draft.content


def test_prompts_of_equal_beginnings_have_different_ids() -> None:
    [draft] = read_suite({"prompts": ["Say {{x}}!", "Say {{x}}?"], **ONE_TEST}).drafts
    assert [each["id"] for each in draft.content["prompts"]] == ["Say-x", "Say-x-2"]


@pytest.mark.parametrize(
    "restricted",
    [
        {"tests": [{"vars": {"x": "blue"}}, {"vars": {"x": "red"}, "prompts": ["Say {{x}}"]}]},
        {**ONE_TEST, "providers": ["echo", {"id": "openai:gpt-5-mini", "prompts": ["Say {{x}}"]}]},
    ],
)
def test_a_prompt_with_tests_or_providers_of_its_own_is_a_definition(restricted: dict[str, object]) -> None:
    drafts = read_suite({**TWO_PROMPTS, **restricted}).drafts
    assert [draft.name for draft in drafts] == ["Colours: Say {{x}}", "Colours: Sing {{x}}"]


@pytest.mark.parametrize("parts", [[{"text": "Say {{x}}"}], {"text": "Say {{x}}"}])
def test_a_request_to_google_is_a_chat(parts: object) -> None:
    request = {
        "system_instruction": {"parts": [{"text": "Be {{x}}"}]},
        "contents": [{"parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Ho"}]}, {"parts": parts}],
    }
    draft = read_suite({"prompts": [json.dumps(request)], **ONE_TEST}).drafts[0]
    assert draft.content["system"] == "Be blue"
    assert [(each.role, each.content) for each in draft.scenarios[0].messages] == [
        (MessageRole.USER, "Hi"),
        (MessageRole.ASSISTANT, "Ho"),
        (MessageRole.USER, "Say blue"),
    ]


@pytest.mark.parametrize("text", ['{"contents": 1}', '{"question": "{{x}}"}', "{", "[1]"])
def test_other_json_is_a_text(text: str) -> None:
    assert len(scenarios({"prompts": [text], **ONE_TEST})[0].messages) == 1


@pytest.mark.parametrize("chat", [CHAT, json.dumps(CHAT)], ids=["list", "text"])
def test_a_chat_has_its_messages(chat: object) -> None:
    draft = read_suite({"prompts": [chat], **ONE_TEST}).drafts[0]
    assert draft.content["system"] == "Be blue"
    assert [message.content for message in draft.scenarios[0].messages] == ["Say blue"]


def test_a_system_message_that_differs_from_case_to_case_stays_with_the_cases() -> None:
    draft = read_suite({"prompts": [CHAT], "tests": [{"vars": {"x": ["blue", "red"]}}]}).drafts[0]
    assert "system" not in draft.content
    assert [scenario.messages[0].content for scenario in draft.scenarios] == ["Be blue", "Be red"]


def test_a_chat_in_yaml_is_a_chat() -> None:
    found = scenarios({"prompts": ["- role: user\n  content: A\n- role: assistant\n  content: '{{x}}'"], **ONE_TEST})
    assert [(message.role, message.content) for message in found[0].messages] == [
        (MessageRole.USER, "A"),
        (MessageRole.ASSISTANT, "blue"),
    ]


def test_quotes_in_a_variable_do_not_break_a_chat() -> None:
    chat = [{"role": "user", "content": "{{x}}"}]
    assert last_messages({"prompts": [json.dumps(chat)], "tests": [{"vars": {"x": 'a "b"\\'}}]}) == ['a "b"\\']


def test_a_text_file_may_have_several_prompts() -> None:
    [draft] = read_suite({"prompts": ["file://p.txt"], **ONE_TEST}, p__txt="one {{x}}\n---\n\ntwo {{x}}\n").drafts
    asked = draft.scenarios[0].messages_by_prompt.values()
    assert [messages[-1].content for messages in asked] == ["one blue", "two blue"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.json", json.dumps([{"role": "user", "content": "Say {{x}}"}])),
        ("p.yaml", "- role: user\n  content: Say {{x}}\n"),
        ("p.jsonl", json.dumps([{"role": "user", "content": "Say {{x}}"}])),
        ("p.md", "Say {{x}}"),
        ("p.j2", "Say {{x}}"),
        ("p.csv", 'prompt,label\n"Say {{x}}",blue\n'),
    ],
)
def test_prompts_are_read_from_files(name: str, content: str) -> None:
    assert last_messages({"prompts": [f"file://{name}"], **ONE_TEST}, **{name.replace(".", "__"): content}) == [
        "Say blue"
    ]


@pytest.mark.parametrize(
    "prompt", ["file://p.js", "file://p.py:f", "exec:p.sh", "langfuse://p", "file://../p.txt", "file:///etc/passwd"]
)
def test_prompts_that_need_execution_or_fetching_are_skipped(prompt: str) -> None:
    found = read_suite({"prompts": ["Say {{x}}", prompt], **ONE_TEST}, p__js="x", p__py="x")
    assert [note.where for note in found.report.skipped] == ["prompts.1"]
    assert len(found.drafts) == 1


def test_a_text_with_a_slash_is_not_a_file() -> None:
    assert last_messages({"prompts": ["this and/or {{x}}"], **ONE_TEST}) == ["this and/or blue"]


def test_an_unknown_role_is_reported() -> None:
    [note, _] = skipped({"prompts": [[{"role": "tool", "content": "x"}]], **ONE_TEST})
    assert "tool" in note.why


def test_labels_and_ids_select_the_prompts_of_a_test() -> None:
    prompts = [{"id": "a", "raw": "A {{x}}"}, {"raw": "B {{x}}", "label": "group:b"}, "C {{x}}"]
    tests = [{"vars": {"x": "1"}, "prompts": ["a", "group"]}, {"vars": {"x": "2"}, "prompts": ["gr*"]}]
    assert last_messages({"prompts": prompts, "tests": tests}) == ["A 1", "B 1", "B 2"]


def test_a_json_file_may_be_a_template_that_is_no_json() -> None:
    template = '[{% for t in turns %}{"role": "user", "content": {{ t | dump }} }{% endfor %}]'
    assert last_messages({"prompts": ["file://p.json"], "tests": [{"vars": {"turns": "x"}}]}, p__json=template) == ["x"]


def test_a_json_file_that_is_neither_json_nor_a_template_is_reported() -> None:
    [note] = skipped({"prompts": ["file://p.json"], **ONE_TEST}, p__json="[{]")
    assert "not valid JSON" in note.why


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("prompt.py:create", "prompt.py:create is code"),
        ("file://prompt.py:create", "prompt.py:create is code"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "a part of type image_url"),
        ([{"role": "user", "content": {"a": 1}}], "neither text nor a list of parts"),
        ("{{empty}}", "the user message is empty with these variables"),
    ],
)
def test_the_reason_names_what_is_wrong_with_a_prompt(prompt: object, reason: str) -> None:
    notes = skipped({"prompts": [prompt], "tests": [{"vars": {"empty": ""}}]})
    assert reason in notes[0].why


def test_brackets_alone_are_text() -> None:
    assert last_messages({"prompts": ["[{{x}}]"], "tests": [{"vars": {"x": ""}}]}) == ["[]"]


@pytest.mark.parametrize("text", ["module.exports = {\n  prompts: ['a'],\n};\n", "export default {\n  a: 1,\n};\n"])
def test_a_configuration_in_javascript_is_refused_as_such(text: str) -> None:
    with pytest.raises(InvalidDocument, match="is JavaScript or TypeScript"):
        read_suite(text)
