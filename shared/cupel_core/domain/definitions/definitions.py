from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.tool_results import ScriptedResult
from cupel_core.domain.definitions.matching_rules import rule_errors
from cupel_core.domain.definitions.prompts import Prompt, opening_messages, prompt_errors
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, expression_issue, read_derived_metrics
from cupel_core.domain.text.control_characters import has_control_characters
from cupel_core.domain.text.patterns import decision_pattern_error
from cupel_core.domain.text.templates import normalize_name, placeholder_names


@dataclass(frozen=True)
class Level:
    score: float
    label: str
    description: str | None = None
    options: tuple[str, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return what may replace the placeholder: the options, or the label if there are none."""
        return self.options or (self.label,)


@dataclass(frozen=True)
class Dimension:
    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class DecisionMethod:
    """Defines how a transcript's decision is read: from the first group of a pattern, or by a judge model with a
    rubric."""

    pattern: str | None = None
    rubric: str | None = None
    judge_model: str | None = None
    favors: Mapping[str, str] = field(default_factory=dict)
    """Each of the codes `1` and `5` favors a dimension, from which win rates are computed."""

    def judged_by(self, run_judge: str | None) -> str | None:
        """Return the model that writes decision texts and decides by the rubric: the definition's own, else the
        run's."""
        return self.judge_model or run_judge


@dataclass(frozen=True)
class Content:
    system: str | None = None
    template: str | None = None
    dimensions: tuple[Dimension, ...] = ()
    matching_rules: tuple[Mapping[str, Any], ...] = ()
    follow_ups: tuple[str, ...] = ()
    max_turns: int | None = None
    decision: DecisionMethod | None = None
    assertions: tuple[Assertion, ...] = ()
    """Assertions that apply to every scenario in addition to its own."""
    derived_metrics: tuple[DerivedMetric, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    """A run combines each scenario with each of them; without any, it uses the scenario's own messages."""
    params: ParameterFields = field(default_factory=dict)
    tool_results: tuple[ScriptedResult, ...] = ()
    """Results of tool calls that apply to every scenario after its own."""

    @property
    def turns(self) -> int:
        """Return the target's answers per conversation: the first, and one per follow-up, up to the definition's
        limit."""
        scripted = 1 + len(self.follow_ups)
        return scripted if self.max_turns is None else min(scripted, self.max_turns)

    def to_json(self) -> dict[str, Any]:
        """Return the content in the shape of the HTTP contract, without unset fields."""
        return _present(
            system=self.system,
            template=self.template,
            dimensions=[_dimension_json(dimension) for dimension in self.dimensions],
            matchingRules=[dict(rule) for rule in self.matching_rules],
            followUps=list(self.follow_ups),
            maxTurns=self.max_turns,
            decision=self.decision and _decision_json(self.decision),
            assertions=[assertion.to_json() for assertion in self.assertions],
            derivedMetrics=[metric._asdict() for metric in self.derived_metrics],
            prompts=[prompt.to_json() for prompt in self.prompts],
            params=dict(self.params),
            toolResults=[encode(result) for result in self.tool_results],
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
            decision=None
            if not decision
            else DecisionMethod(
                decision.get("pattern"),
                decision.get("rubric"),
                decision.get("judgeModel"),
                decision.get("favors") or {},
            ),
            assertions=tuple(map(Assertion.from_json, data.get("assertions") or ())),
            derived_metrics=read_derived_metrics(data.get("derivedMetrics")),
            prompts=tuple(map(Prompt.from_json, data.get("prompts") or ())),
            params=data.get("params") or {},
            tool_results=tuple(map(ScriptedResult.from_json, data.get("toolResults") or ())),
        )

    def prompt(self, prompt_id: str | None) -> Prompt | None:
        return next((prompt for prompt in self.prompts if prompt.id == prompt_id), None)

    def opening_of(self, scenario: Scenario, prompt: Prompt | None) -> tuple[Message, ...]:
        """Return the first messages of a conversation. Raises MissingValue if the scenario lacks what the prompt
        needs."""
        labels = self.level_labels(scenario.dimensions) if prompt else {}
        return opening_messages(self.system, scenario, labels, prompt)

    def level_labels(self, scores: Mapping[str, float]) -> dict[str, str]:
        return {
            dimension.name: level.phrases[0]
            for dimension in self.dimensions
            for level in dimension.levels
            if level.score == scores.get(dimension.name)
        }


class DefinitionVersion(NamedTuple):
    definition_id: str
    number: int


@dataclass(frozen=True)
class DefinitionHead:
    """Describes a definition without its content. Name, folder and tags may change; versions are immutable."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    version: int = 1
    folder: str | None = None
    tags: tuple[str, ...] = ()
    """The tags are distinct and in alphabetical order."""
    parent: DefinitionVersion | None = None
    deleted_at: datetime | None = None
    version_label: str | None = None
    revision: int = 0
    """Counts changes, so that a concurrent change is not overwritten unread."""

    @property
    def parent_id(self) -> str | None:
        return self.parent.definition_id if self.parent else None

    @property
    def parent_version(self) -> int | None:
        return self.parent.number if self.parent else None


@dataclass(frozen=True)
class StoredVersion:
    """Contains an immutable version of a definition: its content and its scenarios. A version without scenarios cannot
    be run; the first scenarios complete it. Any later change makes another version."""

    number: int
    created_at: datetime
    content: Mapping[str, Any]
    """A fork has only its overrides here."""
    content_version: int
    """The version whose item has the content: an earlier one if only scenarios have changed since."""
    scenarios_revision: int
    label: str | None = None


def merge_overrides(parent: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a fork's content as JSON: an overridden field replaces the parent's entirely; null leaves the field
    unset."""
    return {name: value for name, value in {**parent, **overrides}.items() if value is not None}


class ContentIssue(NamedTuple):
    """Describes an error or warning about a field of the content (`dimensions.0.levels.1.score`), for its author."""

    field: str
    message: str


def content_errors(content: Content, *, has_scenarios: bool = False) -> tuple[ContentIssue, ...]:
    """Return the errors in the content of a definition; the names of models are not checked. A definition whose
    scenarios are given needs no content, because an agent has its own prompt."""
    return (
        *_empty_content_issues(content, has_scenarios=has_scenarios),
        *_placeholder_issues(content),
        *_dimension_issues(content),
        *_rule_issues(content),
        *_decision_issues(content.decision or DecisionMethod()),
        *_favors_issues(content),
        *_metric_issues(content.derived_metrics),
        *(ContentIssue(*error) for error in prompt_errors(content.prompts)),
    )


def content_warnings(content: Content) -> tuple[ContentIssue, ...]:
    used = {normalize_name(name) for name in placeholder_names(content.template or "")}
    return tuple(
        ContentIssue(f"dimensions.{number}", f"the template has no placeholder [{dimension.name}]")
        for number, dimension in enumerate(content.dimensions)
        if content.template is not None and normalize_name(dimension.name) not in used
    )


def _empty_content_issues(content: Content, *, has_scenarios: bool) -> Iterator[ContentIssue]:
    if content == Content():
        if not has_scenarios:
            yield ContentIssue("", "is empty: a definition needs a template, other content, or scenarios")
    elif content.template is not None and not content.template.strip():
        yield ContentIssue("template", "must not be empty")


_MAX_SHOWN_DIMENSIONS = 10


def _placeholder_issues(content: Content) -> Iterator[ContentIssue]:
    known = {normalize_name(dimension.name) for dimension in content.dimensions}
    for name in placeholder_names(content.template or ""):
        if normalize_name(name) not in known:
            yield ContentIssue(
                "template", f"no dimension is named like the placeholder [{name}]; {_dimensions_remedy(content)}"
            )


def _dimensions_remedy(content: Content) -> str:
    names = ", ".join(dimension.name for dimension in content.dimensions[:_MAX_SHOWN_DIMENSIONS])
    return f"add one, or use one of these: {names}" if names else "add one to dimensions"


def _dimension_issues(content: Content) -> Iterator[ContentIssue]:
    seen: set[str] = set()
    for number, dimension in enumerate(content.dimensions):
        field = f"dimensions.{number}"
        if has_control_characters(dimension.name):
            yield ContentIssue(f"{field}.name", "must not contain control characters, line breaks or tabs")
        elif not normalize_name(dimension.name):
            yield ContentIssue(f"{field}.name", "must not be empty")
        elif normalize_name(dimension.name) in seen:
            yield ContentIssue(f"{field}.name", f"another dimension has the name {dimension.name}")
        seen.add(normalize_name(dimension.name))
        yield from _level_issues(field, dimension)


def _level_issues(field: str, dimension: Dimension) -> Iterator[ContentIssue]:
    if not dimension.levels:
        yield ContentIssue(f"{field}.levels", "must have at least one level")
    scores: set[float] = set()
    for number, level in enumerate(dimension.levels):
        if level.score in scores:
            yield ContentIssue(
                f"{field}.levels.{number}.score", f"another level of {dimension.name} has the same score"
            )
        scores.add(level.score)
        if not all(phrase.strip() for phrase in level.phrases):
            yield ContentIssue(f"{field}.levels.{number}", "must have a non-empty label or non-empty options")


def _rule_issues(content: Content) -> Iterator[ContentIssue]:
    levels = {
        normalize_name(dimension.name): [level.score for level in dimension.levels] for dimension in content.dimensions
    }
    return (ContentIssue(*issue) for issue in rule_errors(content.matching_rules, levels))


def _decision_issues(decision: DecisionMethod) -> Iterator[ContentIssue]:
    if decision.pattern is not None and (error := decision_pattern_error(decision.pattern)):
        yield ContentIssue("decision.pattern", error)


def _favors_issues(content: Content) -> Iterator[ContentIssue]:
    favors = content.decision.favors if content.decision else {}
    names = [dimension.name for dimension in content.dimensions]
    for code, name in favors.items():
        if names and name not in names:
            yield ContentIssue(f"decision.favors.{code}", f"must be one of the dimensions: {', '.join(names)}")
    if favors and len(set(favors.values())) == 1:
        yield ContentIssue("decision.favors", "must name two different dimensions")


def _metric_issues(metrics: tuple[DerivedMetric, ...]) -> Iterator[ContentIssue]:
    for number, metric in enumerate(metrics):
        if not metric.name.strip() or has_control_characters(metric.name):
            yield ContentIssue(f"derivedMetrics.{number}.name", "must be text in one line, and not blank")
        elif metric.name in [earlier.name for earlier in metrics[:number]]:
            yield ContentIssue(f"derivedMetrics.{number}.name", f"{metric.name} is used twice")
        if error := expression_issue(metric.value):
            yield ContentIssue(f"derivedMetrics.{number}.value", error)


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


def _decision_json(decision: DecisionMethod) -> dict[str, Any]:
    return _present(
        pattern=decision.pattern,
        rubric=decision.rubric,
        judgeModel=decision.judge_model,
        favors=dict(decision.favors),
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


@dataclass(frozen=True)
class Definition:
    head: DefinitionHead
    version: int
    content: Content
    scenario_count: int

    @property
    def warnings(self) -> tuple[ContentIssue, ...]:
        return tuple(content_warnings(self.content))


@dataclass(frozen=True)
class Labels:
    """Contains name, folder and tags of a definition, and the label of a version. In an update, None keeps a value; an
    empty folder or label removes it."""

    name: str | None = None
    folder: str | None = None
    tags: tuple[str, ...] | None = None
    version_label: str | None = None

    def apply_to(self, head: DefinitionHead) -> DefinitionHead:
        return replace(
            head,
            name=head.name if self.name is None else self.name,
            folder=head.folder if self.folder is None else self.folder or None,
            tags=head.tags if self.tags is None else tuple(sorted(set(self.tags))),
        )
