"""A promptfoo configuration, read whole: a definition for each prompt, with a scenario for each case of each test."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.json_limits import unfit
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.imports.drafts import MAX_SCENARIOS, Draft, Report, Suite
from cupel_core.imports.files import Files, Missing
from cupel_core.imports.json_documents import Unreadable
from cupel_core.imports.promptfoo.assertions import Asserting, tell_options
from cupel_core.imports.promptfoo.prompts import Prompt, messages_of, prompts_of
from cupel_core.imports.promptfoo.providers import Provider, providers_of, sampled
from cupel_core.imports.promptfoo.references import resolve
from cupel_core.imports.promptfoo.templates import Unrenderable
from cupel_core.imports.promptfoo.tests import Test, Tests
from cupel_core.imports.promptfoo.variables import Case, cases, count_of, resolved
from cupel_core.imports.promptfoo.yaml_documents import from_yaml

TAG = "promptfoo"
_TAKEN = frozenset(
    [
        "$schema",
        "description",
        "prompts",
        "providers",
        "targets",
        "tests",
        "scenarios",
        "defaultTest",
        "assertionTemplates",
        "evaluateOptions",
        "commandLineOptions",
        "repeat",
    ]
)
_SILENT = frozenset({"outputPath", "sharing", "writeLatestResults", "env", "tags", "metadata"})


def read(text: str, files: Files) -> Suite:
    """Unreadable when it is no configuration at all; everything less is in the report."""
    written = from_yaml(text, "the configuration")
    if not isinstance(written, Mapping):
        raise Unreadable("the configuration must be a mapping with prompts, providers and tests")
    report = Report()
    config = resolve(written, report)
    _tell_rest(config, report)
    prompts = prompts_of(config, files, report)
    providers = providers_of(config, report)
    tests = Tests(config, files, report).all()
    for test in tests:
        tell_options(test.data["options"], test.where, report)
    _refuse_too_many(tests, len(prompts))
    reader = _Reader(files, report)
    drafts = [
        draft for prompt in prompts if (draft := reader.draft(prompt, tests, _name(config, prompt, prompts), providers))
    ]
    return Suite(tuple(drafts), report, _repeats(config), sampled(providers, report))


@dataclass(frozen=True)
class _Reader:
    files: Files
    report: Report

    def draft(self, prompt: Prompt, tests: list[Test], name: str, providers: list[Provider]) -> Draft | None:
        found = list(
            islice((scenario for test in tests for scenario in self._of_test(prompt, test)), MAX_SCENARIOS + 1)
        )
        if self.report.taken["scenarios"] + len(found) > MAX_SCENARIOS:
            raise Unreadable(f"the tests make more than {MAX_SCENARIOS:,} scenarios")
        if not found:
            self.report.leave("prompts", prompt.label[:80], "no test has a scenario for it")
            return None
        self.report.take("prompts")
        self.report.take("scenarios", len(found))
        system, scenarios = _shared_system(found)
        allowed = [model for model in providers if model.prompts is None or any(map(prompt.matches, model.prompts))]
        models = tuple(dict.fromkeys(provider.model for provider in allowed if provider.model))
        content = {**({"system": system} if system else {}), "maxTurns": 1}
        return Draft(name, content, scenarios, models, (TAG,))

    def _of_test(self, prompt: Prompt, test: Test) -> Iterator[Scenario]:
        wanted = test.data.get("prompts")
        if isinstance(wanted, list) and not any(prompt.matches(str(each)) for each in wanted):
            return
        expand = test.data["options"].get("disableVarExpansion") is not True
        try:
            for case in cases(test.data["vars"], self.files, expand=expand):
                scenario = self._of_case(prompt, test, case)
                if scenario:
                    yield scenario
        except Missing as error:
            self.report.leave(f"{test.where}.vars", _described(test), str(error))

    def _of_case(self, prompt: Prompt, test: Test, case: Case) -> Scenario | None:
        where = f"{test.where}{f' case {case.number}' if case.number else ''}"
        options = test.data["options"]
        raw = f"{options.get('prefix') or ''}{prompt.raw}{options.get('suffix') or ''}"
        try:
            variables = resolved(case.variables, self.files)
            messages = messages_of(raw, variables)
        except (Missing, Unrenderable, Unreadable) as error:
            self.report.leave(where, f"the prompt {prompt.label[:80]}", str(error))
            return None
        asserting = Asserting(where, variables, options, self.files, self.report)
        asserted = asserting.all(test.data["assert"], test.data.get("threshold"))
        known = {"where": where, "prompt": prompt.label[:500], "unsupported": asserted.unsupported}
        described = {"description": test.data["description"]} if test.data.get("description") else {}
        metadata = {**test.data["metadata"], "vars": variables, **described, "promptfoo": _present(known)}
        if why := _wrong(messages, metadata, asserted.assertions):
            self.report.leave(where, f"the prompt {prompt.label[:80]}", why)
            return None
        name = f"{_described(test)}{f' ({case.number})' if case.number else ''}"
        return Scenario("", name[:500], messages, metadata=metadata, assertions=asserted.assertions)


def _wrong(messages: tuple[Message, ...], metadata: Mapping[str, Any], assertions: tuple[Assertion, ...]) -> str | None:
    if not any(message.content.strip() and message.role is not Role.SYSTEM for message in messages):
        return "says nothing with these variables"
    why = unfit(dict(metadata)) or unfit([assertion.to_json() for assertion in assertions])
    return f"its variables, metadata or assertions {why}" if why else None


def _described(test: Test) -> str:
    return str(test.data.get("description") or test.where)


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _shared_system(scenarios: list[Scenario]) -> tuple[str | None, tuple[Scenario, ...]]:
    """What all begin with is the definition's; what differs from case to case stays with the cases."""
    firsts = {scenario.messages[0] for scenario in scenarios}
    first = next(iter(firsts))
    if len(firsts) != 1 or first.role is not Role.SYSTEM:
        return None, tuple(scenarios)
    return first.content, tuple(replace(scenario, messages=scenario.messages[1:]) for scenario in scenarios)


def _name(config: Mapping[str, Any], prompt: Prompt, prompts: list[Prompt]) -> str:
    title, label = str(config.get("description") or "").strip(), " ".join(prompt.label.split())
    name = f"{title}: {label}" if title and len(prompts) > 1 else title or label
    return (name if len(name) <= 200 else f"{name[:199]}…") or TAG


def _repeats(config: Mapping[str, Any]) -> int:
    for section in (config.get("evaluateOptions"), config.get("commandLineOptions"), config):
        repeat = section.get("repeat") if isinstance(section, Mapping) else None
        if isinstance(repeat, int) and not isinstance(repeat, bool) and repeat > 0:
            return min(repeat, 100)
    return 1


def _refuse_too_many(tests: list[Test], prompts: int) -> None:
    total = sum(count_of(test.data["vars"]) for test in tests) * max(prompts, 1)
    if total > MAX_SCENARIOS:
        raise Unreadable(f"the tests make {total:,} scenarios; an import has at most {MAX_SCENARIOS:,}")


def _tell_rest(config: Mapping[str, Any], report: Report) -> None:
    for name in sorted(set(config) - _TAKEN - _SILENT):
        report.leave(name, name, "is not supported")
    if "env" in config:
        report.leave("env", "env", "variables of the environment are not imported")
