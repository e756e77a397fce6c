"""The tests of a configuration: inline, out of files, of its scenarios, each with what `defaultTest` gives to all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cupel_core.imports.drafts import Report
from cupel_core.imports.files import Files, Missing, inside, matching, read
from cupel_core.imports.json_documents import Unreadable, from_json, from_jsonl
from cupel_core.imports.promptfoo.cells import rows, test_of
from cupel_core.imports.promptfoo.variables import CODE
from cupel_core.imports.promptfoo.yaml_documents import from_yaml

_JOINED = ("vars", "options", "metadata")
_NOT_IMPORTED = {
    "provider": "a run asks the same models in every scenario",
    "providers": "a run asks the same models in every scenario",
    "providerOutput": "an answer that was given beforehand is not evaluated",
    "assertScoringFunction": "is code, which is not run",
}
_KNOWN = frozenset({"vars", "assert", "options", "metadata", "threshold", "description", "prompts", *_NOT_IMPORTED})


@dataclass(frozen=True)
class Test:
    """As it is written, where it stands, and from which folder its files are seen."""

    where: str
    data: Mapping[str, Any]


class Tests:
    """Reads a configuration's tests; what cannot be read is left behind in the report."""

    def __init__(self, config: Mapping[str, Any], files: Files, report: Report) -> None:
        self._config = config
        self._files = files
        self._report = report
        self.default = self._default()

    def all(self) -> list[Test]:
        """As promptfoo would run them: tests, then scenarios; one empty test when there are neither."""
        tests = list(self._listed(self._config.get("tests"), "tests"))
        scenarios = list(self._listed_raw(self._config.get("scenarios"), "scenarios"))
        if not tests and not scenarios and not self._config.get("tests"):
            tests = [Test("tests", {})]
        every = [*tests, *(test for scenario in scenarios for test in self._of_scenario(scenario))]
        return [replace(test, data=self._completed(test.data)) for test in every]

    def _default(self) -> Mapping[str, Any]:
        written = self._config.get("defaultTest") or {}
        if isinstance(written, str):
            found = next(self._listed([written], "defaultTest"), None)
            return found.data if found else {}
        if not isinstance(written, Mapping):
            raise Unreadable("defaultTest must be a mapping, or the name of a file")
        self._tell("defaultTest", written)
        return self._with_vars("defaultTest", written, "") or {}

    def _listed(self, written: Any, where: str) -> Iterator[Test]:
        for test in self._listed_raw(written, where):
            data = self._with_vars(test.where, test.data, "")
            if data is not None:
                self._tell(test.where, data)
                yield Test(test.where, data)

    def _listed_raw(self, written: Any, where: str) -> Iterator[Test]:
        """The objects of a list in which texts name files of further ones."""
        entries = [] if written is None else written if isinstance(written, list) else [written]
        for number, entry in enumerate(entries):
            place = f"{where}.{number}"
            if isinstance(entry, Mapping) and isinstance(entry.get("path"), str):
                entry = entry["path"]
            if isinstance(entry, str):
                yield from self._of_reference(entry, place)
            elif isinstance(entry, Mapping):
                yield Test(place, entry)
            else:
                self._report.leave(place, str(entry)[:80], "is neither an object nor a file")

    def _of_reference(self, reference: str, where: str) -> Iterator[Test]:
        try:
            for path in _paths(self._files, reference):
                yield from self._of_file(path)
        except (Missing, Unreadable) as error:
            self._report.leave(where, reference, str(error))

    def _of_file(self, path: str) -> Iterator[Test]:
        name = path.rpartition("/")[2].lower()
        if name.partition("#")[0].endswith((".xlsx", ".xls")):
            raise Missing("a spreadsheet is not read; save it as CSV")
        if any(name.endswith(suffix) or f"{suffix}:" in name for suffix in CODE):
            raise Missing("is code, which is not run")
        text = read(self._files, path)
        folder = path.rpartition("/")[0]
        for place, data in _entries(name, path, text):
            if isinstance(data, str):  # a file with one test
                data = _mapping(self._files, inside(data, folder))
            if isinstance(data, Mapping):
                if (complete := self._with_vars(place, data, folder)) is not None:
                    yield Test(place, complete)
            else:
                self._report.leave(place, str(data)[:80], "is no object")

    def _with_vars(self, where: str, data: Mapping[str, Any], folder: str) -> Mapping[str, Any] | None:
        """With variables out of files in place of the files' names; None when one cannot be read."""
        written = data.get("vars")
        if written is None or isinstance(written, Mapping):
            return data
        found: dict[str, Any] = {}
        try:
            for reference in _references(written):
                for path in _paths(self._files, str(reference), folder):
                    found |= _mapping(self._files, path)
        except (Missing, Unreadable) as error:
            self._report.leave(f"{where}.vars", str(written)[:80], str(error))
            return None
        return {**data, "vars": found}

    def _of_scenario(self, scenario: Test) -> Iterator[Test]:
        """Each test of it with each of its configurations."""
        configurations = list(self._listed(scenario.data.get("config"), f"{scenario.where}.config"))
        tests = list(self._listed(scenario.data.get("tests"), f"{scenario.where}.tests"))
        for configuration in configurations:
            for test in tests or [Test(scenario.where, {})]:
                joined = {name: {**_object(configuration.data, name), **_object(test.data, name)} for name in _JOINED}
                asserts = [*_list(configuration.data, "assert"), *_list(test.data, "assert")]
                data = {**configuration.data, **test.data, **joined, "assert": asserts}
                description = test.data.get("description") or scenario.data.get("description")
                where = f"{test.where} with {configuration.where}"
                yield Test(where, {**data, **({"description": description} if description else {})})

    def _completed(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Variables, options and metadata of the default are behind the test's own, its assertions before them."""
        joined = {name: {**_object(self.default, name), **_object(data, name)} for name in _JOINED}
        own = _list(data, "assert")
        without = joined["options"].get("disableDefaultAsserts") is True
        asserts = own if without else [*_list(self.default, "assert"), *own]
        inherited = {name: self.default[name] for name in ("threshold", "prompts") if name in self.default}
        return {**inherited, **data, **joined, "assert": asserts}

    def _tell(self, where: str, data: Mapping[str, Any]) -> None:
        for name, why in _NOT_IMPORTED.items():
            if name in data:
                self._report.leave(f"{where}.{name}", name, why)
        for name in sorted(set(data) - _KNOWN):
            self._report.leave(f"{where}.{name}", name, "is not supported")


def _paths(files: Files, reference: str, folder: str = "") -> list[str]:
    if reference.startswith(("http://", "https://", "huggingface://", "az://")):
        raise Missing("data of other services is not fetched")
    paths = matching(files, reference, folder)
    if not paths:
        raise Missing("there is no such file")
    return paths


def _references(written: Any) -> list[Any]:
    if not isinstance(written, str | list):
        raise Unreadable("must be a mapping, or name files of mappings")
    return [written] if isinstance(written, str) else written


def _mapping(files: Files, path: str) -> Mapping[str, Any]:
    loaded = from_yaml(read(files, path), path)
    if not isinstance(loaded, Mapping):
        raise Unreadable(f"{path} must be a mapping")
    return loaded


def _entries(name: str, path: str, text: str) -> Iterator[tuple[str, Any]]:
    if name.endswith(".csv"):
        for line, row in rows(text, path):
            yield f"{path} line {line}", test_of(row)
        return
    if name.endswith(".jsonl"):
        yield from ((f"{path} line {number}", data) for number, data in from_jsonl(text, path))
        return
    if not name.endswith((".json", ".yaml", ".yml")):
        raise Missing("tests are read from .csv, .json, .jsonl, .yaml and .yml")
    loaded = from_json(text, path) if name.endswith(".json") else from_yaml(text, path)
    for number, data in enumerate(loaded if isinstance(loaded, list) else [loaded]):
        yield f"{path}.{number}", data


def _object(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return value if isinstance(value, list) else []
