"""A test's assertions as Cupel's, with their variables filled in; those that Cupel has no like of are kept aside."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cupel_core.domain.scoring.assertion_rules import CODE, KINDS, SET, complaints
from cupel_core.domain.scoring.assertions import NOT, Assertion
from cupel_core.imports.drafts import Report
from cupel_core.imports.files import SCHEME, Files, Missing, read
from cupel_core.imports.json_documents import Unreadable, literal
from cupel_core.imports.promptfoo.providers import model_of
from cupel_core.imports.promptfoo.templates import Unrenderable, render
from cupel_core.imports.promptfoo.yaml_documents import from_yaml

_SYNONYMS = {"model-graded-factuality": "factuality", "similar:cosine": "similar"}
_TRANSFORMS = ("transform", "postprocess")
_EMBEDDING = re.compile(r"openai:embeddings?:")
_WITH_SCHEMA = frozenset({"is-json", "contains-json"})
_WITHOUT_OUTPUT = frozenset({"latency", "cost", "finish-reason"})
_NOT_IMPORTED = {
    "rubricPrompt": "a judge of Cupel has prompts of its own",
    "transformVars": "is code, which is not run",
    "storeOutputAs": "a scenario does not know the answers of others",
    "repeat": "a run repeats all its scenarios alike",
    "runSerially": "scenarios run in any order",
}
_TAKEN_OPTIONS = frozenset({"prefix", "suffix", "provider", "disableVarExpansion", "disableDefaultAsserts"})


@dataclass(frozen=True)
class Asserted:
    """What is checked, and what would have been, as it is written, with the reason."""

    assertions: tuple[Assertion, ...]
    unsupported: list[dict[str, Any]]


@dataclass
class Asserting:
    """Of one test with one set of variables."""

    where: str
    variables: Mapping[str, Any]
    options: Mapping[str, Any]
    files: Files
    report: Report
    unsupported: list[dict[str, Any]] = field(default_factory=list)

    def all(self, written: list[Any], threshold: Any) -> Asserted:
        """With a threshold, the weighted mean of all decides: that is a set around them."""
        kept = self._each(written, f"{self.where}.assert")
        if isinstance(threshold, int | float) and kept:
            whole = {"type": SET, "threshold": threshold, "assert": kept}
            if not self._refused(whole, f"{self.where}.threshold"):
                self.report.change(f"{self.where}.threshold", str(threshold), f"is an {SET} around the assertions")
                kept = [whole]
        return Asserted(tuple(map(Assertion.from_json, kept)), self.unsupported)

    def _each(self, written: Iterable[Any], where: str) -> list[dict[str, Any]]:
        return [data for number, each in enumerate(written) for data in self._one(each, f"{where}.{number}")]

    def _one(self, written: Any, where: str) -> Iterator[dict[str, Any]]:
        if not isinstance(written, Mapping) or not isinstance(written.get("type"), str):
            self._set_aside(written, where, "has no type")
            return
        try:
            data = self._taken(written, where)
        except (Missing, Unreadable, Unrenderable) as error:
            self._set_aside(written, where, str(error))
            return
        if data is not None and not self._refused(data, where, written):
            self.report.take("assertions")
            yield data

    def _taken(self, written: Mapping[str, Any], where: str) -> dict[str, Any] | None:
        kind, negation = _kind_of(written["type"])
        if why := self._reason_against(kind, written):
            self._set_aside(written, where, why)
            return None
        data: dict[str, Any] = {"type": f"{negation}{kind}"}
        for name in ("threshold", "weight"):
            if written.get(name) is not None:
                data[name] = written[name]
        if written.get("metric"):
            data["metric"] = render(str(written["metric"]), self.variables)
        if kind == SET:
            data["assert"] = self._each(written.get("assert") or (), f"{where}.assert")
        elif written.get("value") is not None:
            data["value"] = literal(_schema(kind, self._value(written["value"])))
        if kind == "webhook" and isinstance(written.get("config"), Mapping):
            data["config"] = written["config"]
        if model := self._grader(KINDS[kind].is_embedded, KINDS[kind].is_judged, written, where):
            data["provider"] = model
        return data

    def _reason_against(self, kind: str, written: Mapping[str, Any]) -> str | None:
        if kind in CODE:
            return "is code, which is not run; a webhook can run yours"
        if kind not in KINDS:
            return "is a type of assertion that Cupel does not have"
        for name in (*_TRANSFORMS, "contextTransform"):
            if written.get(name):
                return f"judges what its {name} makes of the answer, which is code and not run"
        changed = next((name for name in _TRANSFORMS if self.options.get(name)), None)
        if changed and kind not in _WITHOUT_OUTPUT and kind != SET:
            return f"judges what options.{changed} makes of the answer, which is code and not run"
        return None

    def _value(self, written: Any) -> Any:
        match written:
            case str() if written.startswith(SCHEME):
                return self._loaded(written)
            case str():
                return render(written, self.variables)
            case list():
                return [self._value(each) if isinstance(each, str) else each for each in written]
        return written

    def _loaded(self, reference: str) -> Any:
        path = reference.removeprefix(SCHEME)
        if path.endswith((".json", ".yaml", ".yml")):
            return from_yaml(read(self.files, reference), path)
        if path.endswith(".txt"):
            return read(self.files, reference).strip()
        raise Missing(f"{reference} is code, which is not run, or no text file")

    def _grader(self, embedded: bool, judged: bool, written: Mapping[str, Any], where: str) -> str | None:
        if not (embedded or judged):
            return None
        provider = written.get("provider") or self.options.get("provider")
        if isinstance(provider, Mapping) and "id" not in provider:  # one for each sort
            provider = provider.get("embedding" if embedded and not judged else "text")
        if isinstance(provider, Mapping):
            provider = provider.get("id")
        if provider is None:
            return None
        model = model_of(str(provider).replace("openai:embedding:", "openai:").replace("openai:embeddings:", "openai:"))
        if model is None:
            self.report.change(
                f"{where}.provider", str(provider), "is none of Cupel's models; the run's own one judges"
            )
        return model

    def _refused(self, data: Mapping[str, Any], where: str, written: Any = None) -> bool:
        wrong = complaints([data])
        if wrong:
            why = "; ".join(f"{each.field.removeprefix('assertions.0.')} {each.message}" for each in wrong[:3])
            self._set_aside(written or data, where, why)
        return bool(wrong)

    def _set_aside(self, written: Any, where: str, why: str) -> None:
        what = str(written.get("type")) if isinstance(written, Mapping) else str(written)[:80]
        self.report.leave(where, what, why)
        self.unsupported.append({"assertion": written, "why": why})


def tell_options(options: Mapping[str, Any], where: str, report: Report) -> None:
    for name in sorted(set(options) - _TAKEN_OPTIONS):
        why = "is code, which is not run" if name in _TRANSFORMS else _NOT_IMPORTED.get(name, "is not supported")
        report.leave(f"{where}.options.{name}", name, why)


def _schema(kind: str, value: Any) -> Any:
    """promptfoo reads a schema in a text as YAML, Cupel as JSON."""
    return (
        from_yaml(value, "the schema") if kind in _WITH_SCHEMA and isinstance(value, str) and value.strip() else value
    )


def _kind_of(written: str) -> tuple[str, str]:
    name = written.removeprefix(NOT)
    return _SYNONYMS.get(name, name), NOT if written.startswith(NOT) else ""
