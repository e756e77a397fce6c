"""Converts the assertions of a promptfoo test, with variables filled in; unsupported ones are reported."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.domain.scoring.assertion_rules import (
    ASSERT_SET,
    ASSERTION_KINDS,
    CODE_FILE,
    CODE_KINDS,
    LLM_RUBRIC,
    RUBRIC_PROMPT,
    SCORING_FUNCTION,
    VALUE_FUNCTION,
    assertion_issues,
    may_transform,
    rubric_prompt_error,
    value_error,
)
from cupel_core.domain.scoring.assertion_values import escape_variables
from cupel_core.domain.scoring.assertions import COMPARISONS, MAX_SCORE, NOT, Assertion
from cupel_core.domain.scoring.left_out_checks import LeftOutChecks
from cupel_core.domain.scoring.output_transforms import (
    TransformError,
    code_error,
    compose,
)
from cupel_core.domain.text.control_characters import single_line
from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, read_file, resolve_path
from cupel_core.interop.imports.json_documents import InvalidDocument, to_json
from cupel_core.interop.imports.promptfoo.configuration_keys import ASSERTION, PARAMETERS
from cupel_core.interop.imports.promptfoo.key_reports import Shape, report_keys, shape_problem
from cupel_core.interop.imports.promptfoo.provider_services import convert
from cupel_core.interop.imports.promptfoo.templates import render
from cupel_core.interop.imports.promptfoo.tests import TRANSFORMS
from cupel_core.interop.imports.promptfoo.variables import is_code
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml
from cupel_core.sandbox.templating.errors import RenderError

CODE_LEFT_OUT = (
    "a stack runs no code: use a webhook assertion, or import with --output and run with --in-process --allow-code"
)
_SYNONYMS = {"model-graded-factuality": "factuality", "similar:cosine": "similar"}
_SCORING_FUNCTION = "assertScoringFunction"
"""The key of a function that computes the verdict from the other assertions, so the verdict would change without it."""
_PLAIN_VARIABLE = re.compile(r"\{\{\s*(?P<name>[A-Za-z_][\w.-]*)\s*\}\}")
_UNTYPED = "without a type"
_WITH_SCHEMA = frozenset({"is-json", "contains-json"})


@dataclass(frozen=True)
class ImportedAssertions:
    assertions: tuple[Assertion, ...]
    unsupported: list[dict[str, Any]]

    @property
    def left_out(self) -> LeftOutChecks:
        return Counter(_label_of(each["assertion"]) for each in self.unsupported)


@dataclass
class AssertionImporter:
    where: str
    variables: Mapping[str, Any]
    options: Mapping[str, Any]
    files: FileSource
    report: ImportReport
    code_folder: str | None = None
    azure_address: str = ""
    provider_transform: str | None = None
    unsupported: list[dict[str, Any]] = field(default_factory=list)
    _compared: set[str] = field(default_factory=set)

    def import_all(self, entries: list[Any], threshold: Any, scoring_function: Any = None) -> ImportedAssertions:
        """Convert the entries. A threshold or a scoring function becomes that of an assert-set around them.

        Comparisons stay beside that set, because promptfoo applies them to its result. A threshold that is no number
        was reported where the test was read.
        """
        threshold = None if shape_problem(Shape.NUMBER, threshold) else threshold
        written = self._convert_list(entries, f"{self.where}.assert")
        compared = [data for data in written if data["type"] in COMPARISONS]
        converted = [data for data in written if data["type"] not in COMPARISONS]
        config = self._scoring_config(scoring_function)
        if converted and config:
            limit = {"threshold": threshold} if isinstance(threshold, int | float) else {}
            converted = [{"type": ASSERT_SET, **limit, "config": config, "assert": converted}]
        elif converted and isinstance(threshold, int | float):
            assert_set = {"type": ASSERT_SET, "threshold": threshold, "assert": converted}
            if not self._skip_if_invalid(assert_set, f"{self.where}.threshold"):
                self.report.note_change(
                    f"{self.where}.threshold",
                    str(threshold),
                    f"becomes the threshold of an {ASSERT_SET} around the assertions",
                )
                converted = [assert_set]
        return ImportedAssertions(tuple(map(Assertion.from_json, (*converted, *compared))), self.unsupported)

    def _scoring_config(self, function: Any) -> dict[str, Any]:
        if function is None:
            return {}
        if self.code_folder is not None and isinstance(function, str) and CODE_FILE.fullmatch(function):
            return {SCORING_FUNCTION: self._code_file(function)}
        reason = CODE_LEFT_OUT if self.code_folder is None else "it must name a file: file://score.py:function"
        self.report.skip(f"{self.where}.{_SCORING_FUNCTION}", str(function)[:80], reason)
        self.unsupported.append({"assertion": {"type": _SCORING_FUNCTION, "value": function}, "why": reason})
        return {}

    def _convert_list(self, entries: Iterable[Any], where: str, *, is_set: bool = False) -> list[dict[str, Any]]:
        places = ((f"{where}.{index}", entry) for index, entry in enumerate(entries))
        effective = [(place, entry) for place, entry in places if not self._is_ignored(entry, place, is_set)]
        return [data for place, entry in effective for data in self._convert_entry(entry, place)]

    def _is_ignored(self, entry: Any, where: str, is_set: bool) -> bool:
        kind = entry.get("type") if isinstance(entry, Mapping) else None
        if not isinstance(kind, str) or kind not in COMPARISONS:
            return False
        is_repeated = kind in self._compared
        if is_set:
            self.report.note_change(where, kind, "has no effect, because promptfoo compares nothing in a set")
        elif is_repeated:
            self.report.note_change(where, kind, "has no effect, because promptfoo makes the first comparison only")
        else:
            self._compared.add(kind)
        return is_set or is_repeated

    def _convert_entry(self, entry: Any, where: str) -> Iterator[dict[str, Any]]:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
            self._skip(entry, where, "it has no type")
            return
        try:
            data = self._convert(entry, where)
        except (NotImportable, InvalidDocument, RenderError) as error:
            self._skip(entry, where, str(error))
            return
        if data is not None and not self._skip_if_invalid(data, where, entry):
            report_keys(ASSERTION, entry, where, self.report)
            self.report.count_imported("assertions")
            yield data

    def _convert(self, entry: Mapping[str, Any], where: str) -> dict[str, Any] | None:
        kind, negation = _kind_of(entry["type"])
        if reason := self._reason_to_skip(kind, entry):
            self._skip(entry, where, reason)
            return None
        data: dict[str, Any] = {"type": f"{negation}{kind}", **self._common_fields(kind, entry)}
        if kind == ASSERT_SET:
            data["assert"] = self._convert_list(_inner(entry), f"{where}.assert", is_set=True)
            if entry.get("weight") == 0:
                self.report.note_change(f"{where}.weight", ASSERT_SET, "without weight, it decides nothing")
        elif kind in CODE_KINDS:
            data["value"] = self._code(entry.get("value"))
        elif kind == MAX_SCORE:
            data["value"] = self._aggregation(entry.get("value"), where)
        elif kind not in COMPARISONS and self._is_value_of_code(entry.get("value")):
            data["config"] = {VALUE_FUNCTION: self._code_file(entry["value"])}
        elif entry.get("value") is not None:
            data["value"] = self._usable_value(kind, entry["value"])
        config = self._config(kind, entry, where)
        if config:
            data["config"] = {**data["config"], **config} if "config" in data else config
        rules = ASSERTION_KINDS.get(kind) or CODE_KINDS[kind]
        if model := self._grader_model(rules.needs_embedder, rules.needs_judge, entry, where):
            data["provider"] = model
        return data

    def _common_fields(self, kind: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        # In promptfoo, a comparison decides whatever its weight is.
        names = () if kind in COMPARISONS else ("threshold", "weight")
        fields = {name: entry[name] for name in names if entry.get(name) is not None}
        if entry.get("metric"):
            fields["metric"] = render(str(entry["metric"]), self.variables)
        if may_transform(kind) and (transform := self._transform(entry)) is not None:
            fields["transform"] = transform
        return fields

    def _config(self, kind: str, entry: Mapping[str, Any], where: str) -> Any:
        if kind in (*CODE_KINDS, "webhook"):
            return entry.get("config")
        prompt = entry.get(RUBRIC_PROMPT) or self.options.get(RUBRIC_PROMPT)
        if kind == LLM_RUBRIC and prompt is not None:
            return self._rubric_config(prompt, f"{where}.{RUBRIC_PROMPT}")
        if entry.get(RUBRIC_PROMPT):
            self.report.note_change(f"{where}.{RUBRIC_PROMPT}", kind, "the judge uses Cupel's own prompt")
        return self.options.get("factuality") if kind == "factuality" else None

    def _rubric_config(self, prompt: Any, where: str) -> dict[str, Any] | None:
        try:
            text = read_file(self.files, prompt) if isinstance(prompt, str) and prompt.startswith(SCHEME) else prompt
            read = (
                from_yaml(text, "it") if isinstance(text, str) and text.lstrip().startswith(("[", "- role:")) else text
            )
            error = rubric_prompt_error(read) or _template_error(read)
        except (NotImportable, InvalidDocument) as problem:
            read, error = None, str(problem)
        if error is None:
            return {RUBRIC_PROMPT: read}
        self.report.note_change(where, RUBRIC_PROMPT, f"the judge uses Cupel's own prompt: this one {error}")
        return None

    def _code(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith(SCHEME):
            return self._code_file(value)
        return escape_variables(render(value, self.variables)) if isinstance(value, str) else value

    def _aggregation(self, value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            if value is not None:
                self.report.note_change(f"{where}.value", MAX_SCORE, "has no effect, because it is not an object")
            return None
        weights = value.get("weights")
        if not isinstance(weights, Mapping):
            return value
        return {**value, "weights": {_type_name(str(name)): weight for name, weight in weights.items()}}

    def _is_value_of_code(self, value: Any) -> bool:
        return self.code_folder is not None and isinstance(value, str) and CODE_FILE.fullmatch(value) is not None

    def _code_file(self, reference: str) -> str:
        path, separator, function = reference.removeprefix(SCHEME).partition(":")
        return f"{SCHEME}{self.code_folder}{resolve_path(path)}{separator}{function}"

    def _reason_to_skip(self, kind: str, entry: Mapping[str, Any]) -> str | None:
        if kind == "ruby":
            return "Cupel runs no Ruby; use a webhook assertion instead"
        if kind in CODE_KINDS and self.code_folder is None:
            return CODE_LEFT_OUT
        if kind not in ASSERTION_KINDS and kind not in CODE_KINDS:
            return "this assertion type is not supported"
        if entry.get("contextTransform"):
            return "it checks the output of its contextTransform, and code is not executed"
        return None

    def _transform(self, entry: Mapping[str, Any]) -> str | list[str] | None:
        """Return the transforms in order: those of the providers, of the options, and of the assertion itself."""
        written = (next(filter(None, map(each.get, TRANSFORMS)), None) for each in (self.options, entry))
        transforms = [each for each in (self.provider_transform, *written) if each]
        try:
            return compose(*transforms)
        except TransformError as error:
            if self.code_folder is None or any(map(code_error, transforms)):
                raise NotImportable(f"its transform {error}") from None
        code = [self._code_file(each) if each.startswith(SCHEME) else each for each in transforms]
        return code[0] if len(code) == 1 else code

    def _usable_value(self, kind: str, written: Any) -> Any:
        """Return the value with its variables filled in.

        An empty variable stays in a type that needs a text: as in promptfoo, it is an error when an answer is scored.
        """
        value = escape_variables(_parse_schema(kind, self._value(written)))
        variable = _PLAIN_VARIABLE.fullmatch(written) if isinstance(written, str) else None
        if value == "" and variable and value_error(kind, value, None) and self.variables.get(variable["name"]) == "":
            return written
        return value

    def _value(self, value: Any) -> Any:
        match value:
            case str() if value.startswith(SCHEME):
                return self._load_file(value)
            case str():
                return render(value, self.variables)
            case list():
                return [self._value(item) if isinstance(item, str) else item for item in value]
        return value

    def _load_file(self, reference: str) -> Any:
        path = reference.removeprefix(SCHEME)
        if path.endswith((".json", ".yaml", ".yml")):
            return from_yaml(read_file(self.files, reference), path)
        if path.endswith(".txt"):
            return read_file(self.files, reference).strip()
        if is_code(path):
            raise NotImportable(f"{reference} is code, which is not executed")
        raise NotImportable(f"{reference} is read only as .json, .yaml or .txt")

    def _grader_model(
        self, needs_embedder: bool, needs_judge: bool, entry: Mapping[str, Any], where: str
    ) -> str | None:
        if not (needs_embedder or needs_judge):
            return None
        provider, config = self._grader(entry, embeds_only=needs_embedder and not needs_judge)
        if provider is None:
            return None
        model, note = convert(str(provider), config, embeds=needs_embedder, azure_address=self.azure_address)
        if model is None:
            note = f"{note}; the judge model of the run is used"
        elif note:
            note = f"becomes the model {model}; {note}"
        if note:
            self.report.note_change(f"{where}.provider", str(provider), note)
        if model and (options := _options_without_effect(config)):
            why = "judges and embedding models are called with Cupel's own parameters"
            self.report.note_change(f"{where}.provider.config", ", ".join(options), why)
        return model

    def _grader(self, entry: Mapping[str, Any], *, embeds_only: bool) -> tuple[Any, Mapping[str, Any]]:
        """Return the id of the provider that grades, or None if none is named, and its options."""
        provider = entry.get("provider") or self.options.get("provider")
        if isinstance(provider, Mapping) and "id" not in provider:  # There is one provider for each kind of grader.
            provider = provider.get("embedding" if embeds_only else "text")
        if not isinstance(provider, Mapping):
            return provider, {}
        config = provider.get("config")
        return provider.get("id"), config if isinstance(config, Mapping) else {}

    def _skip_if_invalid(self, data: Mapping[str, Any], where: str, entry: Any = None) -> bool:
        issues = assertion_issues([data], allow_code=self.code_folder is not None)
        if issues:
            reason = "; ".join(f"{issue.field.removeprefix('assertions.0.')} {issue.message}" for issue in issues[:3])
            self._skip(entry or data, where, reason)
        return bool(issues)

    def _skip(self, entry: Any, where: str, reason: str) -> None:
        what = str(entry.get("type")) if isinstance(entry, Mapping) else str(entry)[:80]
        self.report.skip(where, what, reason)
        self.unsupported.append({"assertion": entry, "why": reason})


def _label_of(entry: Any) -> str:
    written = entry.get("type") if isinstance(entry, Mapping) else None
    return single_line(str(written))[:100].rstrip() or _UNTYPED if isinstance(written, str) else _UNTYPED


def _options_without_effect(config: Mapping[str, Any]) -> list[str]:
    """Return the names of parameters for a judge, except those that it has anyway."""
    return sorted(name for name in config if name in PARAMETERS and (name, config[name]) != ("temperature", 0))


def _template_error(prompt: Any) -> str | None:
    """Return why a prompt cannot be rendered with the output when a conversation is scored, or None if it can."""
    rest = _PLAIN_VARIABLE.sub("", to_json(prompt))
    return "has a template with more than plain variables" if "{{" in rest or "{%" in rest else None


def _parse_schema(kind: str, value: Any) -> Any:
    """Parse a schema given as text, which is YAML in promptfoo and JSON in Cupel."""
    return (
        from_yaml(value, "the schema") if kind in _WITH_SCHEMA and isinstance(value, str) and value.strip() else value
    )


def _inner(assert_set: Mapping[str, Any]) -> list[Any]:
    inner = assert_set.get("assert") or []
    if not isinstance(inner, list):
        raise NotImportable("its `assert` is not a list")
    return inner


def _type_name(type_name: str) -> str:
    kind, negation = _kind_of(type_name)
    return f"{negation}{kind}"


def _kind_of(type_name: str) -> tuple[str, str]:
    name = type_name.removeprefix(NOT)
    return _SYNONYMS.get(name, name), NOT if type_name.startswith(NOT) else ""
