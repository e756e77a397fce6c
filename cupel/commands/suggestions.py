"""Completes names for the shell and suggests them when one is misspelled, without a request."""

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

import typer

from cupel_core.domain.text.near_names import did_you_mean


def choice_of[T: StrEnum](kind: type[T]) -> Callable[[str], T]:
    def parse(text: str) -> T:
        for member in kind:
            if member.casefold() == text.casefold():
                return member
        known = list(map(str, kind))
        raise typer.BadParameter(f"unknown value {text}{did_you_mean(text, known)}; known values: {', '.join(known)}")

    return parse


def choice_option(kind: type[StrEnum], metavar: str, help_text: str) -> Any:
    return typer.Option(parser=choice_of(kind), metavar=metavar, autocompletion=complete_choice(kind), help=help_text)


def parse_time(text: str) -> str:
    """Parse a date or time, in the user's zone unless it names another, as the API accepts it."""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise typer.BadParameter(f"{text} is not a date or time such as 2026-01-31 or 2026-01-31T09:30") from None


def complete_choice(kind: type[StrEnum]) -> Callable[[str], list[str]]:
    return lambda incomplete: _starting_with(incomplete, map(str, kind))


def complete_model(incomplete: str) -> list[str]:
    from cupel_core.domain.conversations import simulation
    from cupel_core.providers import PROVIDERS, prices

    before, comma, last = incomplete.rpartition(",")
    known = [f"sim/{name}" for name in simulation.MODELS]
    known += [model.id for provider in PROVIDERS for model in prices.known_models(provider)]
    return [f"{before}{comma}{name}" for name in _starting_with(last, dict.fromkeys(known))]


def complete_provider(incomplete: str) -> list[str]:
    from cupel_core.providers import PROVIDERS

    return _starting_with(incomplete, PROVIDERS)


def _starting_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.casefold().startswith(incomplete.casefold())]
