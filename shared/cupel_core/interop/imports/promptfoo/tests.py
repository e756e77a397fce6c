"""Loads the tests of a configuration (inline, from files, from its scenarios) and applies `defaultTest` to each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.domain.scoring.output_transforms import code_error, transform_error
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.json_limits import MAX_DEPTH, json_limit_error
from cupel_core.interop.imports.files import FileSource, NotImportable, matching_paths, read_file, resolve_path
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json, from_jsonl, to_json
from cupel_core.interop.imports.promptfoo.configuration_keys import OPTIONS, SCENARIO, TEST
from cupel_core.interop.imports.promptfoo.key_reports import report_keys
from cupel_core.interop.imports.promptfoo.tabular_tests import read_rows, row_to_test
from cupel_core.interop.imports.promptfoo.variables import is_code
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml

_MERGED = ("vars", "options", "metadata")
_READ_BY_CODE = ("description", "threshold", "options", "assert")
_DEPTH_IN_METADATA = 2
"""Code of assertions reads the test in `promptfoo` of a scenario's metadata, which is this many levels deep."""
TRANSFORMS = ("transform", "postprocess")


@dataclass(frozen=True)
class PromptfooTest:
    """Holds a test as written, and `where` it is: its path in the configuration or its file and line."""

    where: str
    data: Mapping[str, Any]
    stored_outputs: frozenset[str] = frozenset()
    scenario: str | None = None
    """The test belongs to the scenario at this place, whose tests are one conversation by default."""
    provider_transform: str | None = None
    """A transform that the test's providers apply to their answers; see `group_by_providers` in `providers.py`."""

    @property
    def conversation_id(self) -> Any:
        """Return the id by which promptfoo distinguishes conversations; tests without one are a conversation too."""
        given = self.data["metadata"].get("conversationId")
        return self.scenario if given is None else given

    @property
    def as_written(self) -> dict[str, Any] | None:
        written = {name: self.data[name] for name in _READ_BY_CODE if name in self.data}
        return written if json_limit_error(written, MAX_DEPTH - _DEPTH_IN_METADATA) is None else None

    @property
    def title(self) -> str:
        return single_line(str(self.data.get("description") or "")) or self.where

    @property
    def stores_output_as(self) -> str | None:
        name = self.data["options"].get("storeOutputAs")
        return name if isinstance(name, str) else None

    def templates(self, prompt: str) -> str:
        return f"{prompt}\n{to_json([self.data['vars'], self.data['assert']])}"

    def used_outputs(self, prompt: str) -> list[str]:
        templates = self.templates(prompt)
        names = sorted(self.stored_outputs)
        return [name for name in names if re.search(rf"\{{[{{%][^}}]*?\b{re.escape(name)}\b", templates)]


class TestLoader:
    def __init__(self, config: Mapping[str, Any], files: FileSource, report: ImportReport) -> None:
        self._config = config
        self._files = files
        self._report = report
        self.default = self._default()

    def load_all(self) -> list[PromptfooTest]:
        """Return the tests in promptfoo's order: tests, then scenarios; one empty test if there are neither."""
        tests = list(self._load_list(self._config.get("tests"), "tests"))
        scenarios = list(self._expand_entries(self._config.get("scenarios"), "scenarios"))
        if not tests and not scenarios and not self._config.get("tests"):
            tests = [PromptfooTest("tests", {})]
        all_tests = [*tests, *(test for scenario in scenarios for test in self._scenario_tests(scenario))]
        return list(self._complete(all_tests))

    def _complete(self, tests: list[PromptfooTest]) -> Iterator[PromptfooTest]:
        stored: frozenset[str] = frozenset()
        for test in tests:
            complete = replace(test, data=self._with_defaults(test.data), stored_outputs=stored)
            yield complete
            if complete.stores_output_as is not None:
                stored |= {complete.stores_output_as}

    def _default(self) -> Mapping[str, Any]:
        default = self._config.get("defaultTest") or {}
        if isinstance(default, str):
            test = next(self._load_list([default], "defaultTest"), None)
            return test.data if test else {}
        report_keys(TEST, default, "defaultTest", self._report)
        return self._with_vars("defaultTest", default, "") or {}

    def _load_list(self, value: Any, where: str) -> Iterator[PromptfooTest]:
        for test in self._expand_entries(value, where):
            data = self._with_vars(test.where, test.data, "")
            if data is not None:
                report_keys(TEST, data, test.where, self._report)
                yield PromptfooTest(test.where, data)

    def _expand_entries(self, value: Any, where: str) -> Iterator[PromptfooTest]:
        entries = [] if value is None else value if isinstance(value, list) else [value]
        for number, entry in enumerate(entries):
            position = f"{where}.{number}"
            if isinstance(entry, Mapping) and isinstance(entry.get("path"), str):
                entry = entry["path"]
            if isinstance(entry, str):
                yield from self._from_reference(entry, position)
            elif isinstance(entry, Mapping):
                yield PromptfooTest(position, entry)
            else:
                self._report.skip(position, str(entry)[:80], "it is neither an object nor the name of a file")

    def _from_reference(self, reference: str, where: str) -> Iterator[PromptfooTest]:
        """Yield the tests of a file.

        An unusable file is reported. A file that breaks in the middle is refused, because the tests behind that place
        would be lost.
        """
        try:
            for path in _paths(self._files, reference):
                yield from self._from_file(path)
        except NotImportable as error:
            self._report.skip(where, reference, str(error))

    def _from_file(self, path: str) -> Iterator[PromptfooTest]:
        name = path.rpartition("/")[2].lower()
        if name.partition("#")[0].endswith((".xlsx", ".xls")):
            raise NotImportable("spreadsheets are not read; save it as CSV")
        if is_code(name):
            raise NotImportable("code is not executed")
        text = read_file(self._files, path)
        folder = path.rpartition("/")[0]
        for position, data in _entries(name, path, text):
            if isinstance(data, str):  # It is a file with one test.
                data = _mapping(self._files, resolve_path(data, folder))
            if isinstance(data, Mapping):
                if (complete := self._with_vars(position, data, folder)) is not None:
                    yield PromptfooTest(position, complete)
            else:
                self._report.skip(position, str(data)[:80], "it is not an object")

    def _with_vars(self, where: str, data: Mapping[str, Any], folder: str) -> Mapping[str, Any] | None:
        value = data.get("vars")
        if value is None or isinstance(value, Mapping):
            return data
        variables: dict[str, Any] = {}
        try:
            for reference in _references(value):
                for path in _paths(self._files, str(reference), folder):
                    variables |= _mapping(self._files, path)
        except (NotImportable, InvalidDocument) as error:
            self._report.skip(f"{where}.vars", str(value)[:80], str(error))
            return None
        return {**data, "vars": variables}

    def _scenario_tests(self, scenario: PromptfooTest) -> Iterator[PromptfooTest]:
        report_keys(SCENARIO, scenario.data, scenario.where, self._report)
        configurations = list(self._load_list(scenario.data.get("config"), f"{scenario.where}.config"))
        tests = list(self._load_list(scenario.data.get("tests"), f"{scenario.where}.tests"))
        for configuration in configurations:
            for test in tests or [PromptfooTest(scenario.where, {})]:
                merged = {name: {**_object(configuration.data, name), **_object(test.data, name)} for name in _MERGED}
                asserts = [*_list(configuration.data, "assert"), *_list(test.data, "assert")]
                data = {**configuration.data, **test.data, **merged, "assert": asserts}
                description = test.data.get("description") or scenario.data.get("description")
                where = f"{test.where} with {configuration.where}"
                described = {**data, **({"description": description} if description else {})}
                yield PromptfooTest(where, described, scenario=scenario.where)

    def _with_defaults(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Apply `defaultTest`: the test's own variables, options and metadata override it, and default assertions come
        first."""
        merged = {name: {**_object(self.default, name), **_object(data, name)} for name in _MERGED}
        merged["options"] |= self._default_frame(merged["options"])
        own = _list(data, "assert")
        omit_defaults = merged["options"].get("disableDefaultAsserts") is True
        asserts = own if omit_defaults else [*_list(self.default, "assert"), *own]
        inherited = {
            name: self.default[name]
            for name in ("threshold", "prompts", "assertScoringFunction", "providers")
            if name in self.default
        }
        if isinstance(self.default.get("provider"), Mapping):  # A name alone has no effect in `defaultTest`.
            inherited["provider"] = self.default["provider"]
        return {**inherited, **data, **merged, "assert": asserts}

    def _default_frame(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the default texts around a prompt where a test has an empty one, which does not override them."""
        defaults = _object(self.default, "options")
        return {name: defaults[name] for name in ("prefix", "suffix") if name in defaults and not options[name]}


def _paths(files: FileSource, reference: str, folder: str = "") -> list[str]:
    if reference.startswith(("http://", "https://", "huggingface://", "az://")):
        raise NotImportable("data from other services is not fetched")
    paths = matching_paths(files, reference, folder)
    if not paths:
        raise NotImportable("no such file exists")
    return paths


def _references(value: Any) -> list[Any]:
    if not isinstance(value, str | list):
        raise InvalidDocument("vars must be a mapping or name files that contain mappings")
    return [value] if isinstance(value, str) else value


def _mapping(files: FileSource, path: str) -> Mapping[str, Any]:
    loaded = from_yaml(read_file(files, path), path)
    if not isinstance(loaded, Mapping):
        raise InvalidDocument(f"{path} must be a mapping")
    return loaded


def _entries(name: str, path: str, text: str) -> Iterator[tuple[str, Any]]:
    if name.endswith(".csv"):
        for line, row in read_rows(text, path):
            yield f"{path} line {line}", row_to_test(row)
        return
    if name.endswith(".jsonl"):
        yield from ((f"{path} line {number}", data) for number, data in from_jsonl(text, path))
        return
    if not name.endswith((".json", ".yaml", ".yml")):
        raise NotImportable("tests are read only from .csv, .json, .jsonl, .yaml and .yml files")
    loaded = from_json(text, path) if name.endswith(".json") else from_yaml(text, path)
    for number, data in enumerate(loaded if isinstance(loaded, list) else [loaded]):
        yield f"{path}.{number}", data


def _object(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return value if isinstance(value, list) else []


def report_unsupported_options(
    options: Mapping[str, Any], where: str, report: ImportReport, *, allow_code: bool = False
) -> None:
    report_keys(OPTIONS, options, f"{where}.options", report)
    for name in sorted(set(options) & set(TRANSFORMS)):
        error = transform_error(options[name])
        if error is None or (allow_code and code_error(options[name]) is None):
            report.note_change(
                f"{where}.options.{name}", name, "assertions check what it returns; the answer is stored as it is"
            )
        else:
            report.skip(f"{where}.options.{name}", name, f"it {error}")
