"""What an import creates passes the rules that every request and every definition file must pass."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel.files import read_definition
from cupel.imported_suites import write_definitions
from cupel.local_files import FolderFiles
from cupel_core.contract.connectors import CreateConnector
from cupel_core.contract.definitions import CreateDefinition
from cupel_core.contract.parameters import TargetInput
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.drafts import ConnectorDraft, DefinitionDraft, ImportedSuite, ImportReport
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.interop.imports.admission import admit, request_fields, require_admission
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo import read_config
from tests.unit.interop.imports.cases import CASE_NAMES, config_path
from tests.unit.interop.imports.reading import read_suite

HOSTILE = st.text(st.sampled_from("ab{}\n\r\t\0\u2028\u202e[]#: 'é\x85\ufeff"), max_size=30) | st.sampled_from(
    ["x" * 600, "\n", " ", "two\nlines", "\u202e", "a\tb", "é" * 300]
)


def check(suite: ImportedSuite) -> None:
    for draft in suite.drafts:
        CreateDefinition.model_validate({"name": draft.name, "tags": draft.tags, "content": draft.content})
        for scenario in draft.scenarios:
            CreateScenario.model_validate(request_fields(scenario))
        for target in draft.targets:
            TargetInput.model_validate(target)
    for connector in suite.connectors:
        CreateConnector.model_validate(connector.to_json())


def check_files(suite: ImportedSuite, folder: Path) -> None:
    """Check that the definition files that `cupel import --output` would write can be read."""
    paths = [folder / f"{number}.yaml" for number in range(len(suite.drafts))]
    write_definitions(suite, paths, {})
    for draft, path in zip(suite.drafts, paths, strict=True):
        written = read_definition(path, allow_code=True)
        assert [each.get("name") for each in written.scenarios or ()] == [each.name for each in draft.scenarios]


@pytest.mark.parametrize("name", CASE_NAMES)
@pytest.mark.parametrize("code_folder", [None, ""])
def test_what_real_configurations_make_is_admitted(name: str, code_folder: str | None, tmp_path: Path) -> None:
    path = config_path(name)
    try:
        read = read_config(path.read_text(), FolderFiles(path.parent), code_folder)
    except InvalidDocument:
        return
    before = list(read.report.skipped)
    admitted = admit(read, allow_code=code_folder is not None)
    assert list(admitted.report.skipped) == before
    assert admitted.drafts == read.drafts
    check(admitted)
    check_files(admitted, tmp_path)


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(HOSTILE, min_size=8, max_size=8))
def test_any_text_in_any_name_is_admitted_or_reported(texts: list[str], tmp_path_factory: Any) -> None:
    config = {
        "description": texts[0],
        "prompts": [
            {"raw": f"1 {{{{q}}}} {texts[1].replace('{', '')}", "label": texts[2], "config": {"temperature": 0}},
            {"raw": "2 {{q}}", "label": texts[3]},
        ],
        "providers": [
            {"id": "echo", "label": texts[4]},
            {
                "id": "http",
                "label": texts[5],
                "config": {"url": "https://a.example/x?b=1", "body": {"q": "{{prompt}}"}},
            },
        ],
        "derivedMetrics": [{"name": texts[6], "value": "a + 1"}, {"name": texts[6], "value": "b"}],
        "tests": [
            {"description": texts[7], "vars": {"q": "hi"}, "provider": {"id": "openai:gpt-5", "label": texts[4]}},
            {"description": texts[6], "vars": {"q": "ho"}, "assert": [{"type": "contains", "value": texts[1]}]},
        ],
    }
    try:
        suite = admit(read_suite(yaml.safe_dump(config, allow_unicode=True)))
    except InvalidDocument:
        return
    check(suite)
    check_files(suite, tmp_path_factory.mktemp("files"))


def test_labels_of_several_lines_are_one_line() -> None:
    suite = read_suite({"prompts": ["Be brief.\nQ: {{q}}\n", "Be long.\nQ: {{q}}\n"], "tests": [{"vars": {"q": "hi"}}]})
    [draft] = suite.drafts
    assert [each["label"] for each in draft.content["prompts"]] == ["Be brief. Q: {{q}}", "Be long. Q: {{q}}"]


def test_connectors_have_distinct_names_ignoring_case() -> None:
    http = {"id": "http", "config": {"url": "https://a.example/", "body": {"q": "{{prompt}}"}}}
    providers = [
        {**http, "label": "My\nAgent"},
        {**http, "label": "my agent", "config": {**http["config"], "method": "PUT"}},
    ]
    suite = read_suite({"prompts": ["{{q}}"], "providers": providers, "tests": [{"vars": {"q": "hi"}}]})
    assert [each.name for each in suite.connectors] == ["My Agent", "my agent 2"]


USER = Message(MessageRole.USER, "hi")


def suite_of(*scenarios: Scenario, **content: Any) -> ImportedSuite:
    report = ImportReport()
    report.count_imported("scenarios", len(scenarios))
    return ImportedSuite((DefinitionDraft("A", {"maxTurns": 1, **content}, scenarios),), report)


def test_a_scenario_that_no_request_may_have_is_left_out_and_reported() -> None:
    good, bad = Scenario("", "good", (USER,)), Scenario("", "bad", (USER,) * 300)
    admitted = admit(suite_of(good, bad))
    assert [each.name for each in admitted.drafts[0].scenarios] == ["good"]
    assert [(note.what, note.why[:8]) for note in admitted.report.skipped] == [("bad", "messages")]
    assert admitted.report.imported["scenarios"] == 1


def test_a_definition_that_no_request_may_have_is_left_out_and_reported() -> None:
    admitted = admit(suite_of(Scenario("", "good", (USER,)), system="x" * 200_001))
    assert admitted.drafts == ()
    assert "content.system" in admitted.report.reasons()


def test_the_definition_of_samples_is_admitted_or_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"content\.system must have at most"):
        require_admission(suite_of(Scenario("", "good", (USER,)), system="x" * 200_001))


def test_a_connector_that_no_request_may_have_is_left_out_and_reported() -> None:
    connector = ConnectorDraft("two\nlines", "https://a.example?x=1", {"request": "@", "reply": "@"}, {})
    admitted = admit(replace(suite_of(Scenario("", "good", (USER,))), connectors=(connector,)))
    assert admitted.connectors == ()
    assert {"name", "baseUrl"} <= set(admitted.report.reasons().replace(":", " ").split())
