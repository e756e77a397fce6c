"""Reads a promptfoo configuration: a definition for each prompt, with a scenario for each case of each test."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, content_errors
from cupel_core.domain.definitions.drafts import (
    DefinitionDraft,
    ImportedSuite,
    ImportReport,
)
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Scenario
from cupel_core.domain.scoring.assertion_rules import CODE_FILE, CODE_KINDS, VALUE_FUNCTION
from cupel_core.domain.scoring.assertions import Assertion, flatten
from cupel_core.domain.scoring.derived_metrics import MAX_DERIVED_METRICS, DerivedMetric
from cupel_core.domain.scoring.left_out_checks import LeftOutChecks, add_checks
from cupel_core.domain.text.beginnings import beginning
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.interop.imports.files import FileSource, NotImportable
from cupel_core.interop.imports.json_documents import InvalidDocument, to_json
from cupel_core.interop.imports.media import ImportedMedia
from cupel_core.interop.imports.promptfoo.assertions import AssertionImporter
from cupel_core.interop.imports.promptfoo.configuration_keys import (
    COMMAND_LINE_OPTIONS,
    CONFIGURATION,
    EVALUATE_OPTIONS,
)
from cupel_core.interop.imports.promptfoo.joined_drafts import (
    VARIABLE,
    ConversationTurn,
    PromptDraft,
    join_prompts,
    join_turns,
    repeats_history,
    report_divided_comparisons,
    shared_system,
)
from cupel_core.interop.imports.promptfoo.key_reports import report_keys
from cupel_core.interop.imports.promptfoo.prompts import PromptfooPrompt, read_prompts, render_messages
from cupel_core.interop.imports.promptfoo.providers import (
    PromptfooProvider,
    ProviderGroup,
    common_temperature,
    connectors_of,
    distinct,
    first_azure_address,
    group_by_providers,
    read_providers,
    targets_of,
)
from cupel_core.interop.imports.promptfoo.stored_answers import OPTION, can_be_stored, has_marks, marked, uses_otherwise
from cupel_core.interop.imports.promptfoo.templates import EnvironmentVariables, printed_variables
from cupel_core.interop.imports.promptfoo.tests import PromptfooTest, TestLoader, report_unsupported_options
from cupel_core.interop.imports.promptfoo.variables import (
    VariableCombination,
    combinations,
    count_combinations,
    resolve_variables,
)
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml, resolve_references
from cupel_core.interop.imports.samples import UsedNames
from cupel_core.sandbox.templating.errors import RenderError

TAG = "promptfoo"
_MAX_NAME_LENGTH = 200
_JAVASCRIPT = re.compile(r"^\s*(?:module\.exports\b|export\s+default\b|import\s.+\sfrom\s)", re.MULTILINE)


def read_config(text: str, files: FileSource, code_folder: str | None = None) -> ImportedSuite:
    """Read a configuration; the report names everything that cannot be imported.

    With `code_folder`, the definitions include the code of assertions and cannot be created on a stack. It is the path
    from the working folder of the code to the configuration (`` or `../`).

    Raises `InvalidDocument` if the text is not a configuration or makes too many scenarios.
    """
    document = _read_document(text)
    report = ImportReport()
    config = resolve_references(document, report)
    _report_configuration(config, report)
    prompts = read_prompts(config, files, report)
    azure_address = first_azure_address(config)
    providers = read_providers(config, files, report, azure_address)
    tests = TestLoader(config, files, report).load_all()
    for test in tests:
        report_unsupported_options(test.data["options"], test.where, report, allow_code=code_folder is not None)
    _check_scenario_count(tests, len(prompts))
    _report_unset_variables(prompts, tests, report)
    metrics, media = _derived_metrics(config.get("derivedMetrics"), report), ImportedMedia(files)
    environment = _environment_variables(config)
    reader = _SuiteReader(files, report, code_folder, metrics, media, azure_address, environment)
    groups = group_by_providers(tests, providers, files, report, azure_address)
    drafts = [draft for group in groups for draft in _drafts_of(config, prompts, group, reader)]
    for number, prompt in enumerate(prompts):
        if number in reader.asking:
            report.count_imported("prompts")
        else:
            report.skip("prompts", prompt.label[:80], "no test makes a scenario for this prompt")
    report_divided_comparisons(drafts, report)
    called = distinct([*providers, *(each for group in groups for each in group.providers)])
    connectors, temperature = connectors_of(called), common_temperature(called)
    return ImportedSuite(tuple(drafts), report, _repeats(config), temperature, connectors, media.data_urls)


def _report_unset_variables(
    prompts: Sequence[PromptfooPrompt], tests: Sequence[PromptfooTest], report: ImportReport
) -> None:
    known = {VARIABLE, "env", *(name for test in tests for name in (*test.data["vars"], *test.stored_outputs))}
    for prompt in prompts:
        for name in sorted(printed_variables(prompt.raw) - known):
            report.note_change("prompts", f"{{{{{name}}}}}", "no test sets this variable, so nothing stands there")


def _drafts_of(
    config: Mapping[str, Any], prompts: list[PromptfooPrompt], group: ProviderGroup, reader: "_SuiteReader"
) -> list[DefinitionDraft]:
    imported = reader.report.imported
    before = imported.copy()
    read = []
    for number, prompt in enumerate(prompts):
        if draft := reader.draft(prompt, group.tests, _name(config, prompt, prompts), group.providers):
            read.append(PromptDraft(prompt.label, prompt.params, draft))
            reader.asking.add(number)
    joined = join_prompts(_title_of(config) or TAG, read)
    if len(joined) < len(read):  # Each scenario and assertion was counted once per prompt.
        for what in ("scenarios", "assertions"):
            imported[what] = before[what] + (imported[what] - before[what]) // len(read)
    if group.name is None:
        return joined
    return [
        replace(each, name=beginning(single_line(f"{each.name}: {group.name}"), _MAX_NAME_LENGTH)) for each in joined
    ]


def _report_configuration(config: Mapping[str, Any], report: ImportReport) -> None:
    report_keys(CONFIGURATION, config, "", report)
    for name, keys in (("evaluateOptions", EVALUATE_OPTIONS), ("commandLineOptions", COMMAND_LINE_OPTIONS)):
        if isinstance(options := config.get(name), Mapping):
            report_keys(keys, options, name, report)


def _environment_variables(config: Mapping[str, Any]) -> EnvironmentVariables:
    """Return the variables that the configuration sets, unless it sets them to those of a process."""
    values = config.get("env")
    named = values.items() if isinstance(values, Mapping) else ()
    return EnvironmentVariables({name: value for name, value in named if "{{" not in str(value)})


def _read_document(text: str) -> Mapping[str, Any]:
    try:
        document = from_yaml(text, "the configuration")
    except InvalidDocument:
        if _JAVASCRIPT.search(text):
            raise InvalidDocument(
                "the configuration is JavaScript or TypeScript, which is not executed: write it as YAML or JSON"
            ) from None
        raise
    if not isinstance(document, Mapping):
        raise InvalidDocument("the configuration must be a mapping with prompts, providers and tests")
    return document


@dataclass(frozen=True)
class _SuiteReader:
    files: FileSource
    report: ImportReport
    code_folder: str | None
    derived_metrics: list[dict[str, str]]
    media: ImportedMedia
    azure_address: str
    environment: EnvironmentVariables
    asking: set[int] = field(default_factory=set)

    def draft(
        self, prompt: PromptfooPrompt, tests: list[PromptfooTest], name: str, providers: Sequence[PromptfooProvider]
    ) -> DefinitionDraft | None:
        allowed = [
            provider for provider in providers if provider.prompts is None or any(map(prompt.matches, provider.prompts))
        ]
        if providers and not allowed:
            return None
        stored: dict[str, str] = {}  # It maps a variable to the place of the test whose answer it has.
        found = (turn for test in tests for turn in self._test_turns(prompt, test, stored))
        turns = list(islice(found, MAX_SCENARIOS + 1))
        if self.report.imported["scenarios"] + len(turns) > MAX_SCENARIOS:
            raise InvalidDocument(f"the tests make more than {MAX_SCENARIOS:,} scenarios")
        with_system = list(join_turns(turns, self.report))
        if not with_system:
            return None
        self.report.count_imported("scenarios", len(with_system))
        system, scenarios = shared_system(with_system)
        names = UsedNames()
        scenarios = tuple(replace(each, name=names.add(each.name)) for each in scenarios)
        models = tuple(dict.fromkeys(provider.model for provider in allowed if provider.model))
        content: dict[str, Any] = {**({"system": system} if system else {}), "maxTurns": _turns(scenarios)}
        if self.derived_metrics:
            content["derivedMetrics"] = self.derived_metrics
        return DefinitionDraft(name, content, scenarios, models, (TAG,), targets_of(allowed))

    def _test_turns(
        self, prompt: PromptfooPrompt, test: PromptfooTest, stored: dict[str, str]
    ) -> Iterator[ConversationTurn]:
        references = test.data.get("prompts")
        if isinstance(references, list) and not any(prompt.matches(str(reference)) for reference in references):
            return
        names = test.used_outputs(prompt.raw)
        if reason := _reason_against_answers(prompt, test, names, stored):
            self.report.skip(test.where, test.title, reason)
            return
        used = {name: stored[name] for name in names}
        expand = test.data["options"].get("disableVarExpansion") is not True
        made: list[ConversationTurn] = []
        try:
            for case in combinations(test.data["vars"], self.files, expand=expand):
                turn = self._turn(prompt, test, case, used)
                if turn:
                    made = [*made[:1], turn]
                    yield turn
        except NotImportable as error:
            self.report.skip(f"{test.where}.vars", test.title, str(error))
        if (name := test.stores_output_as) is not None:
            stored.pop(name, None)
            if len(made) == 1 and can_be_stored(test, made[0].scenario.messages):
                stored[name] = made[0].where

    def _turn(
        self, prompt: PromptfooPrompt, test: PromptfooTest, case: VariableCombination, used: Mapping[str, str]
    ) -> ConversationTurn | None:
        where = f"{test.where}{f' case {case.number}' if case.number else ''}"
        options = test.data["options"]
        raw = f"{options.get('prefix') or ''}{prompt.raw}{options.get('suffix') or ''}"
        is_turn = VARIABLE in raw and options.get("disableConversationVar") is not True
        try:
            variables = resolve_variables({**case.variables, **marked(used)}, self.files, self.media)
            scope = {"env": self.environment, **variables}
            messages = render_messages(raw, {**scope, VARIABLE: []} if is_turn else scope, self.media)
            repeats = not is_turn or repeats_history(raw, scope, self.media)
        except (NotImportable, RenderError, InvalidDocument) as error:
            self.report.skip(where, f"the prompt {prompt.label[:80]}", str(error))
            return None
        importer = AssertionImporter(
            where,
            scope,
            options,
            self.files,
            self.report,
            self.code_folder,
            self.azure_address,
            test.provider_transform,
        )
        scoring_function = test.data.get("assertScoringFunction")
        imported = importer.import_all(test.data["assert"], test.data.get("threshold"), scoring_function)
        assertions, compared = self._without_answers(where, imported.assertions)
        source = {
            "where": where,
            "prompt": prompt.label[:500],
            "unsupported": imported.unsupported,
            "test": test.as_written if any(map(_may_read_test, flatten(assertions))) else None,
        }
        description = {"description": test.data["description"]} if test.data.get("description") else {}
        metadata = {**test.data["metadata"], "vars": variables, **description, "promptfoo": _non_empty(source)}
        what = VARIABLE if is_turn else OPTION
        if (is_turn or used) and messages[-1].role is not MessageRole.USER:
            self.report.skip(where, what, "its prompt does not end with a user message, as a turn does")
            return None
        if (is_turn or used) and messages[-1].parts:
            self.report.skip(where, what, "its message has an image or a file, and further turns are texts")
            return None
        if reason := _reason_to_skip(messages, metadata, assertions):
            self.report.skip(where, f"the prompt {prompt.label[:80]}", reason)
            return None
        name = single_line(f"{test.title}{f' ({case.number})' if case.number else ''}")
        left_out = add_checks([imported.left_out, compared])
        scenario = Scenario(
            "", name[:500], messages, metadata=metadata, assertions=assertions, left_out_checks=left_out
        )
        key = to_json(test.conversation_id) if is_turn else None
        return ConversationTurn(scenario, where, key, repeats, used)

    def _without_answers(
        self, where: str, assertions: tuple[Assertion, ...]
    ) -> tuple[tuple[Assertion, ...], LeftOutChecks]:
        compared = list(filter(has_marks, assertions))
        for assertion in compared:
            self.report.skip(where, assertion.type, "it compares an answer with another one, which is stored")
        remaining = tuple(assertion for assertion in assertions if not has_marks(assertion))
        return remaining, Counter(each.type for each in compared)


def _reason_against_answers(
    prompt: PromptfooPrompt, test: PromptfooTest, names: list[str], stored: Mapping[str, str]
) -> str | None:
    if missing := [name for name in names if name not in stored]:
        return f"it needs {missing[0]}, in which storeOutputAs puts another answer"
    if names and VARIABLE in prompt.raw:
        return f"it needs {names[0]} of storeOutputAs and the earlier turns, and a scenario has one of them"
    if name := uses_otherwise(test, prompt.raw, names):
        return f"it uses {name} of storeOutputAs in another way than {{{{{name}}}}}"
    return None


def _derived_metrics(value: Any, report: ImportReport) -> list[dict[str, str]]:
    metrics: list[dict[str, str]] = []
    for number, entry in enumerate(value or []):
        match entry:
            case {"name": str(name), "value": str(text)}:
                reason = _metric_problem(metrics, name, text)
            case {"name": str(name), "value": _}:
                text, reason = "", f"its value must be an expression, not {to_json(entry.get('value'))[:40]}"
            case _:
                name, text, reason = str(entry)[:80], "", "it has no name and expression"
        if reason is None:
            metrics.append({"name": name, "value": text})
        else:
            report.skip(f"derivedMetrics.{number}", name[:200], reason)
    return metrics


def _metric_problem(earlier: Sequence[Mapping[str, str]], name: str, text: str) -> str | None:
    if len(earlier) == MAX_DERIVED_METRICS:
        return f"a definition has at most {MAX_DERIVED_METRICS} of them"
    if len(name) > _MAX_NAME_LENGTH:
        return f"its name has more than {_MAX_NAME_LENGTH} characters"
    metrics = [DerivedMetric(each["name"], each["value"]) for each in earlier]
    issues = content_errors(Content(derived_metrics=(*metrics, DerivedMetric(name, text))))
    return issues[0].message if issues else None


def _turns(scenarios: tuple[Scenario, ...]) -> int:
    return max(1 + len(scenario.follow_ups) for scenario in scenarios)


def _reason_to_skip(
    messages: tuple[Message, ...], metadata: Mapping[str, Any], assertions: tuple[Assertion, ...]
) -> str | None:
    if not any(message.content.strip() and message.role is not MessageRole.SYSTEM for message in messages):
        return "it has no message with these variables"
    reason = json_limit_error(dict(metadata)) or json_limit_error([assertion.to_json() for assertion in assertions])
    return f"its variables, metadata or assertions {reason}" if reason else None


def _may_read_test(assertion: Assertion) -> bool:
    """Return whether code of the assertion may read `context.test`; files are not searched."""
    if VALUE_FUNCTION in (assertion.config or {}):
        return True
    code = str(assertion.value)
    return assertion.kind in CODE_KINDS and ("test" in code or CODE_FILE.fullmatch(code.strip()) is not None)


def _non_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _title_of(config: Mapping[str, Any]) -> str:
    return single_line(str(config.get("description") or ""))[:200]


def _name(config: Mapping[str, Any], prompt: PromptfooPrompt, prompts: list[PromptfooPrompt]) -> str:
    title, label = _title_of(config), single_line(prompt.label)
    name = f"{title}: {label}" if title and len(prompts) > 1 else title or label
    return beginning(name, _MAX_NAME_LENGTH) or TAG


def _repeats(config: Mapping[str, Any]) -> int:
    for section in (config.get("evaluateOptions"), config.get("commandLineOptions"), config):
        repeat = section.get("repeat") if isinstance(section, Mapping) else None
        if isinstance(repeat, int) and not isinstance(repeat, bool) and repeat > 0:
            return min(repeat, 100)
    return 1


def _check_scenario_count(tests: list[PromptfooTest], prompts: int) -> None:
    total = sum(count_combinations(test.data["vars"]) for test in tests) * max(prompts, 1)
    if total > MAX_SCENARIOS:
        raise InvalidDocument(f"the tests make {total:,} scenarios; an import may have at most {MAX_SCENARIOS:,}")
