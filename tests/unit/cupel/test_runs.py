"""Names, tags and metadata of runs on the command line."""

import json

import pytest

from tests.unit.cupel.fake_api import Cupel, FakeApi, a_run

TAGS = ("--tag", "nightly", "--tag", "eu")
OPTIONS = ("--name", "Release 2", *TAGS, "--metadata", "commit=6f1b", "--metadata", "url=a=b")
FIELDS = {"name": "Release 2", "tags": ["nightly", "eu"], "metadata": {"commit": "6f1b", "url": "a=b"}}


def test_a_run_is_started_with_labels(api: FakeApi, cupel: Cupel):
    cupel("run", "def_1", "--models", "sim/steady", *OPTIONS)
    (body,) = api.bodies("POST", "/runs")
    assert {name: body[name] for name in FIELDS} == FIELDS


def test_a_run_without_labels_sends_none(api: FakeApi, cupel: Cupel):
    cupel("run", "def_1", "--models", "sim/steady")
    (body,) = api.bodies("POST", "/runs")
    assert FIELDS.keys() & body.keys() == set()


@pytest.mark.parametrize("entry", ["commit", "=x"])
def test_metadata_is_a_key_with_a_value(cupel: Cupel, entry: str):
    result = cupel("run", "def_1", "--models", "sim/steady", "--metadata", entry)
    assert (result.exit_code, f"--metadata: {entry}: expected KEY=VALUE" in result.stderr) == (2, True)


def test_the_labels_of_a_run_are_changed(api: FakeApi, cupel: Cupel):
    result = cupel("runs", "update", "run_1", "--name", "Release 3", "--clear", "tags", "--json")
    assert (result.exit_code, json.loads(result.stdout)["name"]) == (0, "Release 3")
    assert api.bodies("PATCH", "/runs/run_1") == [{"name": "Release 3", "tags": []}]


@pytest.mark.parametrize("options", [(), ("--clear", "status")])
def test_a_change_of_labels_names_what_to_change(cupel: Cupel, options: tuple[str, ...]):
    assert cupel("runs", "update", "run_1", *options).exit_code == 2


def test_filters_of_the_list_are_refused_before_a_subcommand(cupel: Cupel):
    refused = cupel("runs", "--tag", "nightly", "update", "run_1", "--name", "x")
    assert (refused.exit_code, "put it after the subcommand" in refused.stderr) == (2, True)


def test_runs_are_listed_by_name_and_tag(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(name="Release 2")]
    cupel("runs", "--name", "release", "--tag", "nightly")
    sent = api.requests[-1].url.params
    assert (sent["name"], sent["tag"]) == ("release", "nightly")


def test_runs_are_listed_by_metadata(api: FakeApi, cupel: Cupel):
    cupel("runs", "--metadata", "team=search", "--metadata", "url=a=b", "--eval", "evl_1", "--schedule", "sch_1")
    sent = api.requests[-1].url.params
    assert sent.get_list("metadata") == ["team=search", "url=a=b"]
    assert (sent["evalId"], sent["scheduleId"]) == ("evl_1", "sch_1")
