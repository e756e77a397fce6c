"""Lists the combinations of the levels of a definition's dimensions; the last dimension changes fastest.

Combinations are computed from their index and not stored: a matrix of 100,000 needs no more memory than one of ten. If
matching rules leave some out, the numbers of the others are listed.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from math import prod
from random import Random

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, Level
from cupel_core.domain.definitions.matching_rules import allows
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.templates import Template, normalize_name


class LevelOptionChoice(StrEnum):
    """The way in which one of a level's phrases is chosen for the text."""

    FIRST = "first"
    RANDOM = "random"
    """The phrase is drawn with the seed and the combination's index, so the same seed always gives the same texts."""


@dataclass(frozen=True)
class Matrix:
    content: Content
    options: LevelOptionChoice = LevelOptionChoice.FIRST
    seed: int = 0

    @property
    def size(self) -> int:
        """Return the number of combinations that the rules allow; 1 without dimensions."""
        return len(self._combinations) if self.content.matching_rules else self._product

    @property
    def rule_checks(self) -> int:
        return self._product * len(self.content.matching_rules)

    @property
    def max_text_length(self) -> int:
        phrases = ([phrase for level in each.levels for phrase in level.phrases] for each in self.content.dimensions)
        longest = (max(map(len, texts), default=0) for texts in phrases)
        return self._template.max_length(dict(zip(self._names, longest, strict=True)))

    def __iter__(self) -> Iterator[Scenario]:
        return (self.scenario(index, self.text(index)) for index in range(self.size))

    def levels(self, index: int) -> tuple[Level, ...]:
        if not 0 <= index < self.size:
            raise IndexError(index)
        return self._levels_of(self._combinations[index])

    def phrases(self, index: int) -> tuple[str, ...]:
        if self.options is LevelOptionChoice.FIRST:
            return tuple(level.phrases[0] for level in self.levels(index))
        rng = Random(f"{self.seed}:{index}")  # noqa: S311 - reproducible, not secret
        return tuple(rng.choice(level.phrases) for level in self.levels(index))

    def text(self, index: int) -> str:
        return self._template.render(dict(zip(self._names, self.phrases(index), strict=True)))

    def scenario(self, index: int, text: str) -> Scenario:
        """Return the scenario of a combination with the prompt `text`; its id is assigned when it is stored."""
        names = [dimension.name for dimension in self.content.dimensions]
        levels = self.levels(index)
        return Scenario(
            id="",
            name=single_line(" · ".join(f"{name}: {level.label}" for name, level in zip(names, levels, strict=True))),
            messages=(Message(MessageRole.USER, text),),
            dimensions={name: level.score for name, level in zip(names, levels, strict=True)},
            metadata={"combination": self._combinations[index]},
        )

    def _levels_of(self, combination: int) -> tuple[Level, ...]:
        levels = []
        for dimension in reversed(self.content.dimensions):
            combination, position = divmod(combination, len(dimension.levels))
            levels.append(dimension.levels[position])
        return tuple(reversed(levels))

    @property
    def _product(self) -> int:
        return prod(len(dimension.levels) for dimension in self.content.dimensions)

    @cached_property
    def _combinations(self) -> Sequence[int]:
        rules = self.content.matching_rules
        if not rules:
            return range(self._product)
        return [number for number in range(self._product) if allows(rules, self._scores(number))]

    def _scores(self, combination: int) -> dict[str, float]:
        levels = self._levels_of(combination)
        return {name: level.score for name, level in zip(self._names, levels, strict=True)}

    @cached_property
    def _template(self) -> Template:
        return Template.parse(self.content.template or "")

    @cached_property
    def _names(self) -> list[str]:
        return [normalize_name(dimension.name) for dimension in self.content.dimensions]
