"""Describes scenarios, the concrete test cases of a definition, and manifests, which list a definition's pages of
them."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import accumulate, chain, groupby
from typing import Annotated, Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import ROW, encode
from cupel_core.domain.conversations.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.parts import LargestFiles, largest_files
from cupel_core.domain.conversations.tool_results import ScriptedResult
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.left_out_checks import LeftOutChecks

MAX_SCENARIOS = 100_000
PAGE_SIZE = 1_000
MAX_PAGE_BYTES = 4_000_000
"""The JSON of a page with more than one scenario has at most this many bytes; parsed, it takes about five times as much
memory."""
MAX_PAGES = 200
"""A definition has at most this many pages, because its manifest is one item of at most 400 KB. 100,000 short scenarios
take at most 199 pages."""
ID_TAIL_LENGTH = 8
"""The ids of scenarios contain this many of the last characters of their definition's id."""


@dataclass(frozen=True)
class Scenario:
    id: str
    name: str
    messages: tuple[Message, ...]
    dimensions: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    instructions: str | None = None
    """The simulated user's goal, which the target does not see."""
    follow_ups: tuple[str, ...] = ()
    """User messages that follow the first answer in order, instead of the definition's."""
    separate_turns: bool = False
    """Each message is asked without the earlier ones."""
    max_messages: int | None = None
    criteria: Criteria = field(default_factory=Criteria)
    assertions: tuple[Assertion, ...] = ()
    persona_ids: tuple[str, ...] = ()
    """Each persona has its own conversation; without any, the user has no persona."""
    messages_by_prompt: dict[str, tuple[Message, ...]] = field(default_factory=dict)
    """Messages in place of `messages` for prompts of the definition whose texts were rendered elsewhere."""
    tool_results: tuple[ScriptedResult, ...] = ()
    """Results of tool calls; the first that matches a call answers it."""
    left_out_checks: LeftOutChecks = field(default_factory=dict)
    """Counts, by type, checks that an import left out of `assertions`."""

    @property
    def variables(self) -> Mapping[str, Any]:
        """Return the values of the `{{variables}}` in assertion values."""
        variables = self.metadata.get("vars")
        return variables if isinstance(variables, Mapping) else {}

    @property
    def all_messages(self) -> Iterator[Message]:
        return chain(self.messages, *self.messages_by_prompt.values())

    @property
    def has_files(self) -> bool:
        return any(message.parts for message in self.all_messages)

    def to_json(self) -> dict[str, object]:
        criteria = self.criteria
        optional = {
            "instructions": self.instructions,
            "followUps": list(self.follow_ups) or None,
            "separateTurns": self.separate_turns or None,
            "maxMessages": self.max_messages,
            "successCriteria": criteria.success,
            "failureCriteria": criteria.failure,
            "failureCriteriaMode": str(criteria.mode)
            if criteria.mode is not FailureCriteriaMode.ON_MAX_MESSAGES
            else None,
            "assertions": [assertion.to_json() for assertion in self.assertions] or None,
            "personaIds": list(self.persona_ids) or None,
            "messagesByPrompt": {
                prompt_id: [message.to_json() for message in messages]
                for prompt_id, messages in self.messages_by_prompt.items()
            }
            or None,
            "toolResults": [encode(result) for result in self.tool_results] or None,
            "leftOutChecks": dict(self.left_out_checks) or None,
        }
        return {
            "id": self.id,
            "name": self.name,
            "messages": [message.to_json() for message in self.messages],
            "dimensions": self.dimensions,
            "metadata": self.metadata,
            **{name: value for name, value in optional.items() if value is not None},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scenario":
        return cls(
            id=data["id"],
            name=data["name"],
            messages=tuple(map(Message.from_json, data["messages"])),
            dimensions=data["dimensions"],
            metadata=data["metadata"],
            instructions=data.get("instructions"),
            follow_ups=tuple(data.get("followUps") or ()),
            separate_turns=data.get("separateTurns") or False,
            max_messages=data.get("maxMessages"),
            criteria=Criteria(
                data.get("successCriteria"),
                data.get("failureCriteria"),
                FailureCriteriaMode(data.get("failureCriteriaMode", FailureCriteriaMode.ON_MAX_MESSAGES)),
            ),
            assertions=tuple(map(Assertion.from_json, data.get("assertions") or ())),
            persona_ids=tuple(data.get("personaIds") or ()),
            messages_by_prompt={
                prompt_id: tuple(map(Message.from_json, messages))
                for prompt_id, messages in (data.get("messagesByPrompt") or {}).items()
            },
            tool_results=tuple(map(ScriptedResult.from_json, data.get("toolResults") or ())),
            left_out_checks=data.get("leftOutChecks") or {},
        )


def scenario_id(definition_id: str, ordinal: int) -> str:
    """Return an id that is unique in a definition and its forks; ordinals are never reused, even after a
    replacement."""
    return f"scn_{definition_id[-ID_TAIL_LENGTH:]}_{ordinal:06d}"


def ordinal_of(scenario_id: str) -> int | None:
    """Return None if it is not a scenario's id."""
    number = scenario_id.rpartition("_")[2]
    return int(number) if number.isascii() and number.isdigit() else None


def definition_tail(scenario_id: str) -> str | None:
    """Return the last characters of the id of the original definition; None if it is not a scenario's id."""
    prefix, _, rest = scenario_id.partition("_")
    tail, _, number = rest.partition("_")
    return tail if prefix == "scn" and len(tail) == ID_TAIL_LENGTH and number else None


class PersonaSpan(NamedTuple):
    """Describes `length` consecutive scenarios with the same personas."""

    length: int
    persona_ids: tuple[str, ...]


@dataclass(frozen=True)
class ScenarioPage:
    """Describes a stored, immutable object with up to PAGE_SIZE scenarios, and what starting a run needs to know of
    it."""

    key: str
    count: int
    personas: tuple[Annotated[PersonaSpan, ROW], ...] | None = ()
    """The personas are run-length encoded; empty if there are none, None if only the stored page has them."""
    needs_selection: bool = False
    needs_models: bool = False
    models: tuple[str, ...] | None = ()
    """The assertions name these models; None if only the stored page has them."""
    largest_files: tuple[tuple[str, int], ...] = ()
    """Each format of files in the messages has the size of its largest file."""
    size: int = 0

    @property
    def mean_size(self) -> float:
        return self.size / self.count


MAX_TEXT_LENGTH = 500_000
_MAX_PERSONAS_LENGTH = 1_000
"""The personas of a page have at most this many characters, because a manifest with MAX_PAGES is one item of at most
400 KB."""
_MAX_MODELS_LENGTH = 500
"""The models of a page have at most this many characters as ASCII JSON, for the same reason."""


def page_models(names: Iterable[str]) -> tuple[str, ...] | None:
    """Return the distinct names as stored in `ScenarioPage`; None if they are too long for it."""
    models = tuple(sorted(set(names)))
    return models if sum(len(json.dumps(name)) + 1 for name in models) <= _MAX_MODELS_LENGTH else None


def largest_files_of(scenarios: Iterable[Scenario]) -> LargestFiles:
    messages = chain.from_iterable(scenario.all_messages for scenario in scenarios)
    return largest_files(chain.from_iterable(message.parts for message in messages))


def persona_spans(scenarios: Iterable[Scenario]) -> tuple[PersonaSpan, ...] | None:
    """Return the personas of scenarios as stored in `ScenarioPage`; None if they are too long for it."""
    groups = groupby(scenario.persona_ids for scenario in scenarios)
    spans = tuple(PersonaSpan(sum(1 for _ in group), persona_ids) for persona_ids, group in groups)
    if not any(span.persona_ids for span in spans):
        return ()
    length = sum(len(persona_id) + 4 for span in spans for persona_id in span.persona_ids) + 10 * len(spans)
    return spans if length <= _MAX_PERSONAS_LENGTH else None


class PagePosition(NamedTuple):
    page: ScenarioPage
    offset: int


class NumberedPage(NamedTuple):
    page: ScenarioPage
    first_ordinal: int


@dataclass(frozen=True)
class Manifest:
    """Lists the pages of a definition version's scenarios. Positions are 0 … total-1; ordinals ascend with them.
    Adjacent pages that fit into one are merged when one of them changes."""

    revision: int = 0
    """Counts changes of the scenarios up to this manifest, and identifies the manifest within the definition."""
    pages: tuple[Annotated[ScenarioPage, ROW], ...] = ()
    next_ordinal: int = 1
    first_ordinals: tuple[int, ...] = ()
    """The first ordinal of each page; empty while ordinals have no gaps, that is, until an inner scenario is
    deleted."""

    @classmethod
    def of(cls, revision: int, pages: Sequence[NumberedPage], next_ordinal: int) -> "Manifest":
        without_gaps = cls(revision, tuple(each.page for each in pages), next_ordinal)
        firsts = tuple(each.first_ordinal for each in pages)
        return without_gaps if firsts == without_gaps._first_ordinals else replace(without_gaps, first_ordinals=firsts)

    @property
    def numbered_pages(self) -> tuple[NumberedPage, ...]:
        return tuple(map(NumberedPage, self.pages, self._first_ordinals))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((page.count for page in self.pages), initial=0))

    @cached_property
    def _first_ordinals(self) -> tuple[int, ...]:
        if self.first_ordinals:
            return self.first_ordinals
        return tuple(self.next_ordinal - self.total + start for start in self._starts[:-1])

    @property
    def total(self) -> int:
        return self._starts[-1]

    @property
    def case_count(self) -> int | None:
        """Return the number of scenarios with each of their personas; None if only the stored pages have all
        personas."""
        if any(page.personas is None for page in self.pages):
            return None
        spans = [span for page in self.pages for span in page.personas or (PersonaSpan(page.count, ()),)]
        return sum(span.length * max(1, len(span.persona_ids)) for span in spans)

    def page_number_of(self, ordinal: int) -> int | None:
        """Return the number of the only page that may have the scenario with this ordinal; None if none can."""
        number = bisect_right(self._first_ordinals, ordinal) - 1
        return number if number >= 0 and ordinal < self.next_ordinal else None

    def start_of(self, page_number: int) -> int:
        return self._starts[page_number]

    def locate(self, position: int) -> PagePosition:
        number = self.page_number_at(position)
        return PagePosition(self.pages[number], position - self._starts[number])

    def page_number_at(self, position: int) -> int:
        """Return the number of the page at a position. Raises IndexError outside of 0 … total-1."""
        if not 0 <= position < self.total:
            raise IndexError(position)
        return bisect_right(self._starts, position) - 1

    def size_at(self, position: int) -> float:
        """Return about how many bytes the scenario's JSON has, which is the mean of its page."""
        return self.locate(position).page.mean_size
