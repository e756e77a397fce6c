"""Providers of single tests, providers in files, and parameters of prompts."""

from typing import Any

from cupel_core.domain.definitions.drafts import ImportedSuite
from tests.unit.interop.imports.reading import read_suite, skipped

SMALL = {"id": "openai:gpt-5-mini", "label": "small"}
LARGE = {"id": "anthropic:claude-sonnet-4-5", "config": {"max_tokens": 100}}


def a_config(*tests: dict[str, Any], **changes: Any) -> dict[str, Any]:
    listed = [{"vars": {"x": str(number)}, **test} for number, test in enumerate(tests)]
    return {"description": "All", "prompts": ["Say {{x}}"], "providers": [SMALL, LARGE], "tests": listed, **changes}


def asked(suite: ImportedSuite) -> dict[str, tuple[list[str], list[str]]]:
    """By name of the definition: the models, and what the scenarios say."""
    return {
        draft.name: ([*draft.models], [scenario.messages[-1].content for scenario in draft.scenarios])
        for draft in suite.drafts
    }


BOTH = ["openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"]


def test_tests_with_a_provider_of_their_own_are_a_definition_of_their_own() -> None:
    own = {"provider": {"id": "openai:gpt-5", "config": {"temperature": 0.5}}}
    suite = read_suite(a_config({}, own, {}, own))
    assert asked(suite) == {
        "All": (BOTH, ["Say 0", "Say 2"]),
        "All: openai:gpt-5": (["openai/gpt-5"], ["Say 1", "Say 3"]),
    }
    assert suite.drafts[1].targets == ({"model": "openai/gpt-5", "params": {"temperature": 0.5}},)
    assert [note.where for note in suite.report.changed if "definition of its own" in note.why] == ["tests.1.provider"]


def test_tests_for_some_providers_are_a_definition_of_their_own() -> None:
    suite = read_suite(
        a_config({"providers": ["small"]}, {}, {"providers": ["anthropic:*"]}, {"providers": ["openai"]})
    )
    assert asked(suite) == {
        "All: small": (BOTH[:1], ["Say 0", "Say 3"]),
        "All": (BOTH, ["Say 1"]),
        "All: anthropic:claude-sonnet-4-5": (BOTH[1:], ["Say 2"]),
    }


def test_tests_for_all_providers_by_name_are_in_the_common_definition() -> None:
    suite = read_suite(a_config({"providers": ["*"]}, {}))
    assert asked(suite) == {"All": (BOTH, ["Say 0", "Say 1"])}


def test_a_provider_of_the_default_test_is_that_of_every_test() -> None:
    suite = read_suite(a_config({}, defaultTest={"provider": {"id": "openai:gpt-5"}}))
    assert asked(suite) == {"All: openai:gpt-5": (["openai/gpt-5"], ["Say 0"])}


def test_the_name_of_a_provider_has_no_effect_in_the_default_test() -> None:
    assert asked(read_suite(a_config({}, defaultTest={"provider": "openai:gpt-5"}))) == {"All": (BOTH, ["Say 0"])}


def test_a_test_whose_providers_cannot_be_called_is_reported() -> None:
    config = a_config({}, {"provider": "exec:./run.sh"}, {"providers": ["other"], "description": "third"})
    assert asked(read_suite(config)) == {"All": (BOTH, ["Say 0"])}
    notes = [(note.where, note.what, note.why) for note in skipped(config)]
    assert ("tests.1", "tests.1", "none of its providers can be called") in notes
    assert ("tests.2", "third", "none of its providers can be called") in notes


def test_scenarios_of_several_prompts_and_groups_are_counted_once() -> None:
    config = a_config({}, {}, {"provider": "openai:gpt-5"}, prompts=["Say {{x}}", "Tell {{x}}"])
    suite = read_suite(config)
    assert [len(draft.scenarios) for draft in suite.drafts] == [2, 1]
    assert (suite.report.imported["scenarios"], suite.report.imported["prompts"]) == (3, 2)


def test_an_agent_may_be_the_provider_of_a_test() -> None:
    agent = {"id": "https://agent.example/ask", "config": {"method": "POST", "body": {"q": "{{prompt}}"}}}
    suite = read_suite(a_config({}, {"provider": agent}))
    assert [draft.name for draft in suite.drafts] == ["All", "All: https://agent.example/ask"]
    assert [connector.base_url for connector in suite.connectors] == ["https://agent.example/ask"]


def test_providers_of_a_file_are_read() -> None:
    files = {"more__yaml": "- openai:gpt-5\n- {id: anthropic:claude-haiku-4-5, label: haiku}\n"}
    suite = read_suite(a_config({}, providers=["openai:gpt-5-mini", "file://more.yaml"]), **files)
    assert suite.drafts[0].models == ("openai/gpt-5-mini", "openai/gpt-5", "anthropic/claude-haiku-4-5")
    assert suite.drafts[0].targets[-1]["label"] == "haiku"


def test_a_file_may_have_one_provider_as_json() -> None:
    suite = read_suite(a_config({}, providers="file://one.json"), one__json='{"id": "openai:gpt-5"}')
    assert suite.drafts[0].models == ("openai/gpt-5",)


def test_a_file_of_providers_that_is_missing_is_reported() -> None:
    assert [(note.where, note.what) for note in skipped(a_config({}, providers=["file://no.yaml"]))] == [
        ("providers.0", "file://no.yaml")
    ]


def test_what_a_provider_of_a_file_leaves_is_reported_with_its_place() -> None:
    config = a_config({}, providers=["file://more.yaml"])
    notes = skipped(config, more__yaml="- id: openai:gpt-5\n  config: {logprobs: true}\n")
    assert [note.where for note in notes] == ["more.yaml.0.config.logprobs"]


def test_the_parameters_of_several_prompts_are_theirs() -> None:
    prompts = [{"raw": "Say {{x}}", "label": "a", "config": {"temperature": 0}}, {"raw": "Tell {{x}}", "label": "b"}]
    [draft] = read_suite(a_config({}, prompts=prompts)).drafts
    assert draft.content["prompts"] == [
        {"id": "a", "label": "a", "params": {"temperature": 0}},
        {"id": "b", "label": "b"},
    ]


def test_the_parameters_of_one_prompt_take_precedence_over_those_of_its_providers() -> None:
    prompts = [{"raw": "Say {{x}}", "label": "a", "config": {"max_tokens": 5, "logprobs": True}}]
    config = a_config({}, prompts=prompts)
    [draft] = read_suite(config).drafts
    assert draft.content["prompts"] == [{"id": "a", "label": "a", "params": {"maxOutputTokens": 5}}]
    assert draft.scenarios[0].messages[0].content == "Say 0"
    assert [note.where for note in skipped(config)] == ["prompts.0.config.logprobs"]


def test_filters_of_the_command_are_reported() -> None:
    config = a_config({}, commandLineOptions={"filterFirstN": 1, "grader": "openai:gpt-5", "verbose": True})
    assert [note.where for note in skipped(config)] == ["commandLineOptions.filterFirstN", "commandLineOptions.grader"]


def test_options_of_bedrock_are_read_in_the_objects_that_contain_them() -> None:
    tool = {"toolSpec": {"name": "color", "inputSchema": {"json": {"type": "object"}}}}
    tools = {"tools": [tool], "toolChoice": {"auto": {}}}
    config = {"interfaceConfig": {"temperature": 0.7, "max_new_tokens": 256}, "toolConfig": tools, "region": "x"}
    suite = read_suite(a_config({}, providers=[{"id": "bedrock:amazon.nova-lite-v1:0", "config": config}]))
    [target] = suite.drafts[0].targets
    assert target["params"] == {
        "temperature": 0.7,
        "maxOutputTokens": 256,
        "tools": [{"name": "color", "parameters": {"type": "object"}}],
        "toolChoice": "auto",
    }
    assert [note.where for note in suite.report.skipped] == ["providers.0.config.region"]


def params_of(config: dict[str, Any], identifier: str = "vertex:gemini-3.5-flash", **files: str) -> Any:
    suite = read_suite(a_config({}, providers=[{"id": identifier, "config": config}]), **files)
    assert list(suite.report.skipped) == []
    return suite.drafts[0].targets[0]["params"]


def test_options_of_google_are_read_in_its_spellings() -> None:
    place = {"type": "OBJECT", "properties": {"type": {"type": "STRING", "enum": ["OBJECT"]}}}
    declared = {"functionDeclarations": [{"name": "find", "parameters": place}]}
    thinking = {"thinkingConfig": {"thinkingLevel": "MEDIUM"}, "maxOutputTokens": 9}
    calling = {"functionCallingConfig": {"mode": "ANY"}}
    schema = {"type": "object", "properties": {"type": {"type": "string", "enum": ["OBJECT"]}}}
    assert params_of({"generationConfig": thinking, "toolConfig": calling, "tools": [declared]}) == {
        "reasoningEffort": "medium",
        "maxOutputTokens": 9,
        "toolChoice": "required",
        "tools": [{"name": "find", "parameters": schema}],
    }
    assert params_of({"responseSchema": place}) == {"responseFormat": {"type": "json_schema", "schema": schema}}


def test_the_form_of_anthropics_answers_is_read() -> None:
    config = {"output_format": {"type": "json_schema", "schema": {"type": "object"}}}
    assert params_of(config, "anthropic:messages:claude-sonnet-4-6") == {
        "responseFormat": {"type": "json_schema", "schema": {"type": "object"}}
    }


def test_options_may_be_in_files() -> None:
    files = {"tools__yaml": "- {name: find, input_schema: {type: object}}\n", "schema__json": '{"type": "object"}'}
    described = {"type": "json_schema", "json_schema": {"name": "x", "schema": "file://schema.json"}}
    assert params_of({"tools": "file://tools.yaml", "response_format": described}, "openai:gpt-5", **files) == {
        "tools": [{"name": "find", "parameters": {"type": "object"}}],
        "responseFormat": {"type": "json_schema", "name": "x", "schema": {"type": "object"}},
    }


def test_an_option_in_a_file_that_is_missing_is_reported() -> None:
    config = a_config({}, providers=[{"id": "openai:gpt-5", "config": {"tools": "file://tools.json"}}])
    assert [(note.where, note.why) for note in skipped(config)] == [
        ("providers.0.config.tools", "tools.json does not exist or is not a text file")
    ]


CHECKED = {"assert": [{"type": "equals", "value": "a", "transform": "output.trim()"}]}


def transforms(suite: ImportedSuite) -> dict[str, list[tuple[str, ...]]]:
    """Return the transform of each assertion, by the name of its definition."""
    return {
        draft.name: [each.transforms for scenario in draft.scenarios for each in scenario.assertions]
        for draft in suite.drafts
    }


def test_the_transform_of_the_providers_comes_before_those_of_tests_and_assertions() -> None:
    alike = [{**each, "transform": "JSON.parse(output)"} for each in (SMALL, LARGE)]
    own = {**CHECKED, "options": {"transform": "output.name"}}
    assert transforms(read_suite(a_config(CHECKED, own, providers=alike))) == {
        "All": [("JSON.parse(output).trim()",), ("JSON.parse(output).name.trim()",)]
    }


def test_providers_with_different_transforms_are_asked_by_definitions_of_their_own() -> None:
    unlike = [{**SMALL, "transform": "output.text"}, LARGE, {"id": "exec:./run.sh", "transform": "output.run"}]
    suite = read_suite(a_config(CHECKED, providers=unlike))
    assert asked(suite) == {
        "All: small": (BOTH[:1], ["Say 0"]),
        "All: anthropic:claude-sonnet-4-5": (BOTH[1:], ["Say 0"]),
    }
    assert [*transforms(suite).values()] == [[("output.text.trim()",)], [("output.trim()",)]]


def test_the_transform_of_a_provider_that_cannot_be_called_has_no_effect() -> None:
    config = a_config(CHECKED, providers=[{"id": "exec:./run.sh", "transform": "output.run"}])
    assert [*transforms(read_suite(config)).values()] == [[("output.trim()",)]]


def test_a_prompt_that_no_provider_of_the_tests_is_asked_with_makes_no_definition() -> None:
    prompts = [{"label": "a", "raw": "Say {{x}}"}, {"label": "b", "raw": "Tell {{x}}"}]
    providers = [{**SMALL, "prompts": ["a"]}, LARGE]
    suite = read_suite(a_config({"providers": ["small"]}, prompts=prompts, providers=providers))
    assert [(draft.models, len(draft.scenarios)) for draft in suite.drafts] == [(("openai/gpt-5-mini",), 1)]
