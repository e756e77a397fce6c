"""What a newcomer reads after a mistake: what was found, what is accepted, and what to do.

The files are in mistakes/. No message may have words of a library.
"""

import re
import shutil
from pathlib import Path

import httpx
import pytest
from typer.testing import Result

from tests.unit.cupel.fake_api import Cupel, FakeApi

FILES = Path(__file__).parent / "mistakes"
FIELDS = (
    "a definition file has fields with a colon, at least name and scenarios. "
    "Known fields: id, name, folder, tags, content, scenarios, generate, personas, connectors"
)
LIBRARY_WORDS = re.compile(
    r"Input should|Value error|String should|Field required|Errno|mapping values|cannot start any token|<\w+ \w+>"
    r"|Traceback|pydantic|httpx"
)

DEFINITIONS = {
    "afield.yaml": ":4: content.assertions.0.treshold: is not a known field (did you mean threshold?); known fields:",
    "binary.yaml": ": is a binary file, not text",
    "bomb.yaml": ":1: scenarios: exactly one of scenarios and generate is required, but none of them is given",
    "colon.yaml": ":3:17: a colon followed by a space is not possible here; put a text that has one in quotes, or",
    "crit.yaml": '--judge-model: is required: scenario "one" has success or failure criteria',
    "dupkey.yaml": ":2:1: name: this key occurs twice; keep one of them",
    "dupname.yaml": ":7: scenarios.1.name: scenario 1 has the name one, too; give each scenario a name of its own",
    "empty.yaml": f": is empty; {FIELDS}",
    "empty_sc.yaml": ":4: scenarios: must not be empty; add at least one text or one mapping with a prompt",
    "enum.yaml": ":8: scenarios.0.failureCriteriaMode: must be 'on_max_messages' or 'every_turn', not 'always'",
    "key.yaml": ":3: content.sistem: is not a known field (did you mean system?); known fields: system, template,",
    "key2.yaml": ":6: scenarios.0.promt: is not a known field (did you mean prompt?); known fields: name, prompt,",
    "latin1.yaml": ": line 1 is not UTF-8 text. In Windows-1252 (Latin-1) it reads “name: Café”: if that is",
    "list.yaml": f":1: is a list; {FIELDS}",
    "missingvar.yaml": ":3: content.assertions.0.value: scenario 1 has no variable {{fact}}; add fact to its",
    "neg.yaml": ":7: scenarios.0.maxMessages: must be at least 1, not -3",
    "norway.yaml": ":6: scenarios.0.prompt: must be text, not false, which is how YAML reads no and off; put it in",
    "num.yaml": ":6: scenarios.0.prompt: must be text, not 5; put it in quotes",
    "persona.yaml": 'personaIds of "one": unknown persona Nobody; known personas: none',
    "placeholder.yaml": ":3: content.template: no dimension is named like the placeholder [x]; add one, or use one",
    "redos.yaml": ":4: content.assertions.0.value: must not repeat a group that itself repeats something, such as",
    "regex.yaml": ":4: content.assertions.0.value: is not a regular expression: a set is not closed",
    "tab.yaml": ":3:1: a line must not be indented with a tab; use spaces",
    "type.yaml": ":4: content.assertions.0.type: unknown type 'icontain'; did you mean icontains?",
}
TABLES = {
    "bin.csv": ": is a binary file, not text",
    "blank.csv": ": row 2 (line 3) has nothing in the column question, so nothing is asked; fill it in, or",
    "dupcol.csv": ": the columns 2 and 3 are both named answer; rename one of them",
    "foreignhead.csv": ": none of the columns is known to have the prompt. Columns found: Frage, Antwort.",
    "latin.csv": ": line 2 is not UTF-8 text. In Windows-1252 (Latin-1) it reads “Was ist 1+1?,café”: if that is",
    "ragged.csv": ": row 1 (line 2) has 1 cell, but the header has 2; an empty cell needs its separator, too",
    "unclosed.csv": ": the row that starts on line 2 has a quote that is never closed; write a quote within a",
}
ACCEPTED_DEFINITIONS = ("badjson.json", "bom.yaml", "json.yaml", "ok.yaml")
ACCEPTED_TABLES = ("othercol.csv", "semicolon.csv", "semicolon2.csv", "tabs.csv", "trailing.csv")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FILES, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")


def run(cupel: Cupel, name: str, *options: str) -> Result:
    return cupel("run", name, "--in-process", "--models", "sim/steady", *options)


def assert_refused(result: Result, message: str) -> None:
    text = " ".join(result.stderr.replace("│", " ").split())
    assert (result.exit_code, message in text) == (2, True), text
    assert not LIBRARY_WORDS.search(text)


def test_every_file_is_tried() -> None:
    tried = {*DEFINITIONS, *TABLES, *ACCEPTED_DEFINITIONS, *ACCEPTED_TABLES}
    assert tried == {each.name for each in FILES.iterdir()}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_with_a_mistake_is_refused(cupel: Cupel, name: str) -> None:
    message = DEFINITIONS[name]
    assert_refused(run(cupel, name), f"{name}{message}" if message.startswith(":") else message)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_with_a_mistake_is_refused(cupel: Cupel, name: str) -> None:
    assert_refused(cupel("import", "csv", name, "--output", "new.yaml"), f"{name}{TABLES[name]}")


@pytest.mark.parametrize("name", ACCEPTED_DEFINITIONS)
def test_a_definition_with_harmless_differences_runs(cupel: Cupel, name: str) -> None:
    assert run(cupel, name).exit_code == 0


@pytest.mark.parametrize("name", ACCEPTED_TABLES)
def test_a_table_with_harmless_differences_is_imported(cupel: Cupel, name: str) -> None:
    result = cupel("import", "csv", name, "--output", "new.yaml")
    assert (result.exit_code, "imported 1 scenario" in result.stdout) == (0, True), result.stderr


def test_a_table_is_not_run(cupel: Cupel) -> None:
    assert_refused(
        run(cupel, "othercol.csv"), "is a table, not a definition file. Run a file with `scenarios: othercol"
    )


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--temperature", "nan", "must be a number, not NaN"),
        ("--temperature", "inf", "must be at most 2, not an infinite number"),
        ("--temperature", "3", "must be at most 2, not 3"),
        ("--temperature", "hot", "must be a number, not 'hot'"),
        ("--sample", "0", "must be at least 1, not 0"),
        ("--sample", "1.5", "must be an integer, not 1.5"),
        ("--fail-under", "nan", "must be a number, not NaN"),
        ("--budget", "nan", '"nan" is not an amount in US dollars of at least 0.000001'),
    ],
)
def test_an_invalid_number_is_refused(cupel: Cupel, option: str, value: str, message: str) -> None:
    assert_refused(run(cupel, "ok.yaml", option, value), f"Invalid value for '{option}': {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tokens", "create", "--name", "x", "--role", "reader"), "'reader' is not one of 'admin', 'member', 'viewer'"),
        (("schedules", "create", "--definition", "X"), "No such option: --definition. Give it without a name: root"),
        (("teardown",), "It is that of a stack on AWS; `cupel down --discard` deletes a local stack and its data"),
        (("runs", "--limit", "0"), "Invalid value for '--limit': must be at least 1, not 0"),
        (("runs", "--after", "tomorrow"), "tomorrow is not a date or time such as 2026-01-31 or 2026-01-31T09:30"),
    ],
)
def test_a_wrong_option_is_explained(cupel: Cupel, arguments: tuple[str, ...], message: str) -> None:
    assert_refused(cupel(*arguments), message)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (httpx.ConnectError("[Errno 111] Connection refused"), "no server answers at this address"),
        (httpx.ConnectError("[Errno -2] Name or service not known"), "the name of the host is unknown"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] x"), "its certificate is not trusted here"),
        (httpx.UnsupportedProtocol("Request URL is missing"), "the address is not a URL that starts with http:// or"),
        (httpx.ReadTimeout("timed out"), "it did not answer in time"),
        (httpx.ConnectTimeout("timed out"), "no connection was made in time"),
        (httpx.RemoteProtocolError("Server disconnected"), "it closed the connection without an HTTP answer"),
        (httpx.ReadError("[Errno 104] Connection reset by peer"), "the connection was interrupted"),
        (httpx.LocalProtocolError("Illegal header value b'Bearer s'"), "the token or the address has characters that"),
    ],
)
def test_a_server_that_cannot_be_reached_is_explained(
    api: FakeApi, cupel: Cupel, error: httpx.TransportError, message: str
) -> None:
    api.refusals = [error] * 4
    result = cupel("runs")
    assert (result.exit_code, f"http://api.test cannot be reached: {message}" in result.stderr) == (1, True)
    assert not LIBRARY_WORDS.search(result.stderr)


def test_an_address_of_another_server_is_named(api: FakeApi, cupel: Cupel) -> None:
    api.refusals = [httpx.Response(404, text="<html>")]
    assert "http://api.test does not answer like the Cupel API; check CUPEL_API_URL" in cupel("runs").stderr


@pytest.mark.parametrize("address", ["http://[::1", "http://a:b:c"])
def test_an_address_that_is_no_url_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    from typer.testing import CliRunner

    from cupel.cli import app

    monkeypatch.setenv("CUPEL_API_URL", address)
    monkeypatch.setenv("CUPEL_TOKEN", "x")
    assert_refused(CliRunner().invoke(app, ["runs"]), f"{address}: the address is not a URL that starts with http://")
