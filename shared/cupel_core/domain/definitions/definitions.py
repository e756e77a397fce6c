"""What is evaluated: a definition's content, the rules it must keep, and how a fork's comes from its parent's."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.patterns import complaint
from cupel_core.domain.text.templates import normal_name, placeholders


@dataclass(frozen=True)
class Level:
    """One step of a dimension: its score, what it is called, and the phrases that stand for it in a text."""

    score: float
    label: str
    description: str | None = None
    options: tuple[str, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """What may take the placeholder's place: the options, or the label where there are none."""
        return self.options or (self.label,)


@dataclass(frozen=True)
class Dimension:
    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Decision:
    """How a transcript's decision is found: the first group of a pattern, or a judge model that follows a rubric."""

    pattern: str | None = None
    rubric: str | None = None
    judge_model: str | None = None


@dataclass(frozen=True)
class Content:
    system: str | None = None
    template: str | None = None
    dimensions: tuple[Dimension, ...] = ()
    matching_rules: tuple[Mapping[str, Any], ...] = ()
    follow_ups: tuple[str, ...] = ()
    max_turns: int | None = None
    decision: Decision | None = None
    assertions: tuple[Assertion, ...] = ()
    """Hold for every scenario, beside its own."""

    @property
    def turns(self) -> int:
        """Model calls of a conversation: the first, and one per follow-up, up to the definition's own limit."""
        scripted = 1 + len(self.follow_ups)
        return scripted if self.max_turns is None else min(scripted, self.max_turns)

    def to_json(self) -> dict[str, Any]:
        """In the contract's shape; what is not set is left out."""
        return _present(
            system=self.system,
            template=self.template,
            dimensions=[_dimension_json(dimension) for dimension in self.dimensions],
            matchingRules=[dict(rule) for rule in self.matching_rules],
            followUps=list(self.follow_ups),
            maxTurns=self.max_turns,
            decision=self.decision and _decision_json(self.decision),
            assertions=[assertion.to_json() for assertion in self.assertions],
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Content":
        decision = data.get("decision")
        return cls(
            system=data.get("system"),
            template=data.get("template"),
            dimensions=tuple(_dimension(dimension) for dimension in data.get("dimensions") or ()),
            matching_rules=tuple(data.get("matchingRules") or ()),
            follow_ups=tuple(data.get("followUps") or ()),
            max_turns=data.get("maxTurns"),
            decision=decision and Decision(decision.get("pattern"), decision.get("rubric"), decision.get("judgeModel")),
            assertions=tuple(map(Assertion.from_json, data.get("assertions") or ())),
        )


class Version(NamedTuple):
    """One immutable state of a definition's content."""

    definition_id: str
    number: int


@dataclass(frozen=True)
class Head:
    """What is known about a definition beside its content. Name, folder and tags may change; versions may not."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """The latest."""
    folder: str | None = None
    tags: tuple[str, ...] = ()
    """In order of the alphabet, each once."""
    parent: Version | None = None
    """Of a fork: what it was made from, and inherits what it does not override from."""
    deleted_at: datetime | None = None


def merge(parent: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A fork's content in JSON: each field it overrides replaces the parent's whole; null leaves the field unset."""
    return {name: value for name, value in {**parent, **overrides}.items() if value is not None}


class Finding(NamedTuple):
    """Something about a field of the content (`template`, `dimensions.0.levels.1.score`), in words for its author."""

    field: str
    message: str


def errors_of(content: Content, known_providers: Collection[str]) -> tuple[Finding, ...]:
    """Why this content cannot be a definition's; empty when it can."""
    return (
        *_emptiness(content),
        *_unknown_placeholders(content),
        *_bad_dimensions(content),
        *_bad_decision(content.decision or Decision(), known_providers),
    )


def warnings_of(content: Content) -> tuple[Finding, ...]:
    """What is allowed and probably not meant."""
    used = {normal_name(name) for name in placeholders(content.template or "")}
    return tuple(
        Finding(f"dimensions.{number}", f"the template has no placeholder [{dimension.name}]")
        for number, dimension in enumerate(content.dimensions)
        if content.template is not None and normal_name(dimension.name) not in used
    )


def _emptiness(content: Content) -> Iterator[Finding]:
    if content == Content():
        yield Finding("", "is empty: a definition needs a template, or something to go with explicit scenarios")
    elif content.template is not None and not content.template.strip():
        yield Finding("template", "must not be empty")


def _unknown_placeholders(content: Content) -> Iterator[Finding]:
    known = {normal_name(dimension.name) for dimension in content.dimensions}
    for name in placeholders(content.template or ""):
        if normal_name(name) not in known:
            yield Finding("template", f"the placeholder [{name}] has no dimension of that name")


def _bad_dimensions(content: Content) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, dimension in enumerate(content.dimensions):
        field = f"dimensions.{number}"
        if not normal_name(dimension.name):
            yield Finding(f"{field}.name", "must not be empty")
        elif normal_name(dimension.name) in seen:
            yield Finding(f"{field}.name", f"there is another dimension {dimension.name}")
        seen.add(normal_name(dimension.name))
        yield from _bad_levels(field, dimension)


def _bad_levels(field: str, dimension: Dimension) -> Iterator[Finding]:
    if not dimension.levels:
        yield Finding(f"{field}.levels", "must have at least one level")
    scores: set[float] = set()
    for number, level in enumerate(dimension.levels):
        if level.score in scores:
            yield Finding(f"{field}.levels.{number}.score", f"another level of {dimension.name} has the same score")
        scores.add(level.score)
        if not all(phrase.strip() for phrase in level.phrases):
            yield Finding(f"{field}.levels.{number}", "needs a label or options that are not empty")


def _bad_decision(decision: Decision, known_providers: Collection[str]) -> Iterator[Finding]:
    if decision.pattern is not None and (wrong := complaint(decision.pattern)):
        yield Finding("decision.pattern", wrong)
    if decision.judge_model is not None:
        provider, _, name = decision.judge_model.partition("/")
        if provider not in known_providers or not name:
            known = ", ".join(known_providers)
            yield Finding("decision.judgeModel", f"must be provider/name with a known provider ({known})")


def _dimension(data: Mapping[str, Any]) -> Dimension:
    levels = (
        Level(level["score"], level["label"], level.get("description"), tuple(level.get("options") or ()))
        for level in data["levels"]
    )
    return Dimension(data["name"], tuple(levels))


def _dimension_json(dimension: Dimension) -> dict[str, Any]:
    return {"name": dimension.name, "levels": [_level_json(level) for level in dimension.levels]}


def _level_json(level: Level) -> dict[str, Any]:
    return {
        "score": level.score,
        "label": level.label,
        **_present(description=level.description, options=list(level.options)),
    }


def _decision_json(decision: Decision) -> dict[str, Any]:
    return _present(pattern=decision.pattern, rubric=decision.rubric, judgeModel=decision.judge_model)


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}
