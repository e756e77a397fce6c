"""Checks, before anything is called, that the scenarios of a definition can be told apart, asked and scored."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import MissingValue
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_values import missing_variables
from cupel_core.domain.scoring.assertions import Assertion

MAX_MISFITS = 20
"""No more misfits than this are reported, because most have one cause."""


class RepeatedName(NamedTuple):
    """The scenario at `position` has the name of the one at `first`."""

    position: int
    first: int
    name: str

    @property
    def message(self) -> str:
        return f"scenario {self.first + 1} has the name {self.name}, too; give each scenario a name of its own"


class Misfit(NamedTuple):
    field: str
    """The field is relative to the scenario, or to the content if `is_shared`; it is empty for the scenario itself."""
    message: str
    """A clause about the scenario that says what a prompt or an assertion needs."""
    is_shared: bool = False


def repeated_names(names: Iterable[str | None]) -> Iterator[RepeatedName]:
    """Yield the scenarios whose name an earlier one has. Scenarios without a name get one when they are stored."""
    first_of_name: dict[str, int] = {}
    for position, name in enumerate(names):
        if name and (first := first_of_name.setdefault(name, position)) != position:
            yield RepeatedName(position, first, name)


def misfits(content: Content, scenario: Scenario) -> Iterator[Misfit]:
    """Yield the placeholders of prompts and the variables of assertions for which the scenario has no value."""
    for prompt in content.prompts:
        try:
            content.opening_of(scenario, prompt)
        except MissingValue as missing:
            yield Misfit("", str(missing))
    for field, name in _missing_values(scenario.assertions, scenario, "assertions"):
        yield Misfit(field, f"has no variable {{{{{name}}}}}; add {name} to its metadata.vars")
    for field, name in _missing_values(content.assertions, scenario, "assertions"):
        yield Misfit(field, f"has no variable {{{{{name}}}}}; add {name} to its metadata.vars", is_shared=True)


def _missing_values(checks: Sequence[Assertion], scenario: Scenario, field: str) -> Iterator[tuple[str, str]]:
    for number, check in enumerate(checks):
        for name in missing_variables(check.value, scenario.variables):
            yield f"{field}.{number}.value", name
        yield from _missing_values(check.parts, scenario, f"{field}.{number}.assert")
