"""A scenario is one concrete case of a definition; a manifest says in which pages a definition's scenarios lie."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.turns.conversation import Criteria, FailureMode
from cupel_core.domain.turns.model_request import Message, Role

MAX_SCENARIOS = 100_000
"""Per definition."""
PAGE_SIZE = 1_000
TAIL_LENGTH = 8
"""Of a definition's id in those of its scenarios."""


@dataclass(frozen=True)
class Scenario:
    """Messages to begin with, and what is known about the case: a score per dimension, and anything else."""

    id: str
    name: str
    messages: tuple[Message, ...]
    dimensions: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    instructions: str | None = None
    """What the simulated user wants; the target is not told."""
    max_messages: int | None = None
    criteria: Criteria = field(default_factory=Criteria)
    assertions: tuple[Assertion, ...] = ()
    persona_ids: tuple[str, ...] = ()
    """Each persona has a conversation of its own; without any, nobody in particular speaks."""

    @property
    def variables(self) -> Mapping[str, Any]:
        """What `{{name}}` in the value of an assertion stands for."""
        found = self.metadata.get("vars")
        return found if isinstance(found, Mapping) else {}

    def to_json(self) -> dict[str, object]:
        """What is not set is left out."""
        criteria = self.criteria
        optional = {
            "instructions": self.instructions,
            "maxMessages": self.max_messages,
            "successCriteria": criteria.success,
            "failureCriteria": criteria.failure,
            "failureCriteriaMode": str(criteria.mode) if criteria.mode is not FailureMode.ON_MAX_MESSAGES else None,
            "assertions": [assertion.to_json() for assertion in self.assertions] or None,
            "personaIds": list(self.persona_ids) or None,
        }
        return {
            "id": self.id,
            "name": self.name,
            "messages": [{"role": str(message.role), "content": message.content} for message in self.messages],
            "dimensions": self.dimensions,
            "metadata": self.metadata,
            **{name: value for name, value in optional.items() if value is not None},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scenario":
        return cls(
            id=data["id"],
            name=data["name"],
            messages=tuple(Message(Role(message["role"]), message["content"]) for message in data["messages"]),
            dimensions=data["dimensions"],
            metadata=data["metadata"],
            instructions=data.get("instructions"),
            max_messages=data.get("maxMessages"),
            criteria=Criteria(
                data.get("successCriteria"),
                data.get("failureCriteria"),
                FailureMode(data.get("failureCriteriaMode", FailureMode.ON_MAX_MESSAGES)),
            ),
            assertions=tuple(map(Assertion.from_json, data.get("assertions") or ())),
            persona_ids=tuple(data.get("personaIds") or ()),
        )


def scenario_id(definition_id: str, ordinal: int) -> str:
    """Unique in a definition, and in its forks: an ordinal is given once, also after all scenarios were replaced."""
    return f"scn_{definition_id[-TAIL_LENGTH:]}_{ordinal:06d}"


def ordinal_of(scenario_id: str) -> int | None:
    """The ordinal in an id; None for what is no scenario's id."""
    number = scenario_id.rpartition("_")[2]
    return int(number) if number.isascii() and number.isdigit() else None


def owner_tail(scenario_id: str) -> str | None:
    """The last characters of the id of the definition that first had it; None for what is no scenario's id."""
    prefix, _, rest = scenario_id.partition("_")
    tail, _, number = rest.partition("_")
    return tail if prefix == "scn" and len(tail) == TAIL_LENGTH and number else None


class CastRun(NamedTuple):
    """So many scenarios in a row that name the same personas."""

    length: int
    persona_ids: tuple[str, ...]


@dataclass(frozen=True)
class ScenarioPage:
    """An immutable object of up to 1,000 scenarios, with what a start wants to know of them without reading it."""

    key: str
    count: int
    cast: tuple[CastRun, ...] | None = ()
    """Who speaks in them, in runs of the same personas. Empty when nobody is named, None where only the page tells."""
    contested: bool = False
    """When any of them has a select-best assertion."""

    def to_json(self) -> list[object]:
        """What is as in most pages is left out."""
        cast = None if self.cast is None else [[run.length, list(run.persona_ids)] for run in self.cast]
        if self.contested:
            return [self.key, self.count, cast, True]
        return [self.key, self.count] if cast == [] else [self.key, self.count, cast]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> "ScenarioPage":
        key, count, *marks = data
        cast = marks[0] if marks else ()
        runs = None if cast is None else tuple(CastRun(length, tuple(personas)) for length, personas in cast)
        return cls(key, count, runs, len(marks) > 1)


_CAST_LENGTH = 1_000
"""Characters at most that a page's casts may take: a manifest is one item of 400 KB with a hundred pages."""


def cast_of(scenarios: Iterable[Scenario]) -> tuple[CastRun, ...] | None:
    """Who speaks in a page of scenarios, as the page keeps it."""
    groups = groupby(scenario.persona_ids for scenario in scenarios)
    runs = tuple(CastRun(sum(1 for _ in group), personas) for personas, group in groups)
    if not any(run.persona_ids for run in runs):
        return ()
    length = sum(len(persona) + 4 for run in runs for persona in run.persona_ids) + 10 * len(runs)
    return runs if length <= _CAST_LENGTH else None


class Place(NamedTuple):
    """Where a scenario lies: its page, and its offset in there."""

    page: ScenarioPage
    offset: int


@dataclass(frozen=True)
class Manifest:
    """The ordered pages of a definition's scenarios. A scenario is found by its position 0 … total-1."""

    revision: int = 0
    pages: tuple[ScenarioPage, ...] = ()
    next_ordinal: int = 1

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((page.count for page in self.pages), initial=0))

    @property
    def total(self) -> int:
        return self._starts[-1]

    def position_of(self, ordinal: int) -> int | None:
        """Where the scenario of this ordinal is: ordinals are given without gaps, also when all are replaced."""
        position = ordinal - (self.next_ordinal - self.total)
        return position if 0 <= position < self.total else None

    def place(self, position: int) -> Place:
        if not 0 <= position < self.total:
            raise IndexError(position)
        number = bisect_right(self._starts, position) - 1
        return Place(self.pages[number], position - self._starts[number])

    def to_json(self) -> dict[str, object]:
        pages = [page.to_json() for page in self.pages]
        return {"revision": self.revision, "pages": pages, "nextOrdinal": self.next_ordinal}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Manifest":
        pages = tuple(map(ScenarioPage.from_json, data["pages"]))
        return cls(data["revision"], pages, data["nextOrdinal"])
