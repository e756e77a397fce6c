"""Lists: every command that lists something has the same option that limits it."""

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from cupel.cli import app
from cupel.commands.lists import DEFAULT_LIMIT
from tests.unit.cupel.fake_api import Cupel, FakeApi, a_run

LISTED_COMPLETELY = {
    ("models",): "the price list, which comes with the release",
    ("providers",): "a closed set",
}


def listing(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    """Commands that list something, and groups that do so without a subcommand."""
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from listing(each, (*path, name))
        if not command.invoke_without_command:
            return
    if isinstance(command, TyperCommand | TyperGroup) and (command.help or "").startswith("List "):
        yield path, command


LISTING = dict(listing(typer.main.get_command(app)))


def options(path: tuple[str, ...]) -> dict[str, object]:
    return {each.name or "": each for each in LISTING[path].params}


@pytest.mark.parametrize("path", sorted(LISTING.keys() - LISTED_COMPLETELY.keys()), ids=" ".join)
def test_every_list_has_the_same_limit(path: tuple[str, ...]) -> None:
    limit = options(path)["limit"]
    described = [getattr(limit, name) for name in ("opts", "default", "help")]
    assert described == [["--limit"], DEFAULT_LIMIT, "Maximum number to list."]


def test_lists_without_a_limit_are_those_that_are_bounded() -> None:
    assert {path for path in LISTING if "limit" not in options(path)} == LISTED_COMPLETELY.keys()


@pytest.mark.parametrize("command", ["personas", "tokens", "schedules", "runs"])
def test_a_list_ends_at_its_limit_and_says_so(api: FakeApi, cupel: Cupel, command: str) -> None:
    api.lists[command] = [{"id": f"{command}_{index}"} for index in range(5)]
    listed = cupel(command, "--limit", "3", "--json")
    assert listed.stdout.count('"id"') == 3
    assert listed.stderr == "the first 3; --limit shows more\n"
    assert [request.url.params["limit"] for request in api.requests] == ["3", "1"]  # the API's pages have two


def test_a_list_below_its_limit_is_complete_without_a_remark(api: FakeApi, cupel: Cupel) -> None:
    api.lists["personas"] = [{"id": "per_1"}, {"id": "per_2"}]
    assert cupel("personas", "--limit", "3", "--json").stderr == ""
    assert cupel("personas", "--limit", "2", "--json").stderr == ""


@pytest.mark.parametrize("command", ["probes", "transcripts"])
def test_a_cut_list_of_a_run_says_of_how_many(api: FakeApi, cupel: Cupel, command: str) -> None:
    api.runs = [a_run(progress={"total": 1_200, "completed": 1_200, "failed": 0})]
    api.lists[f"runs/run_1/{command}"] = [{"id": f"{index}", "modelId": "x/y"} for index in range(5)]
    assert cupel(command, "run_1", "--limit", "3", "--json").stderr == "3 of 1,200; --limit shows more\n"
    filtered = cupel(command, "run_1", "--limit", "3", "--json", "--model", "x/y")
    assert filtered.stderr == "the first 3; --limit shows more\n"
