"""Configurations of the kinds that repositories of applications hold, by promptfoo and, imported, by Cupel in process.

Each folder is one. `echo` answers the prompt itself, and the models of a server answer the last message: `echo` with
it, and `message` with the message that it contains as JSON.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import cupel
from cupel.cli import app
from cupel.in_process.probes import ProbeResult
from cupel.session import Session
from tests.interop import tools
from tests.interop.model_server import serve

type Json = dict[str, Any]

CONFIGURATIONS = Path(__file__).parent / "configurations"
NAMES = sorted(path.name for path in CONFIGURATIONS.iterdir())
DIFFERENCES: dict[str, tuple[int, str]] = {
    "empty_values": (4, "an assertion that cannot be computed leaves a test without a verdict; promptfoo fails it"),
    "no_weights": (
        2,
        "a set whose weight is 0 decides nothing; in promptfoo it fails a test, which no other type does",
    ),
}
"""It says of each configuration how many of its rows differ, and why."""


class Row(NamedTuple):
    """It is the result of one test with one prompt, by the last message that was sent."""

    message: str
    passed: bool | None
    score: float


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serve({"echo": lambda text: {"content": _asked_for(text)}, "message": _message_in}) as port:
        yield port


def _asked_for(text: str) -> str:
    """Return the answer that a message asks for: JSON alone would be a chat for promptfoo."""
    return text.removeprefix("Reply: ")


def _message_in(text: str) -> Json:
    message: Json = json.loads(_asked_for(text))
    return message


@pytest.fixture(scope="module")
def folder(port: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the configurations, with the port of the server."""
    folder = tmp_path_factory.mktemp("configurations") / "copied"
    copytree(CONFIGURATIONS, folder)
    for config in folder.glob("*/promptfooconfig.yaml"):
        config.write_text(config.read_text().replace("PORT", str(port)))
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, Json]:
    """promptfoo's results of all configurations."""
    return tools.promptfoo_suites(folder.parent, [folder / name / "promptfooconfig.yaml" for name in NAMES])


def promptfoo_rows(results: Json) -> Iterator[Row]:
    """Return the rows that have checks: promptfoo passes the others, and Cupel gives them no verdict."""
    for result in results["results"]:
        if (result.get("gradingResult") or {}).get("componentResults") or not result["success"]:
            yield Row(_last_message(result["prompt"]["raw"]), result["success"], round(result["score"], 9))


def _last_message(prompt: str) -> str:
    """Return the last message of a prompt. One that is JSON is written as promptfoo stores it."""
    try:
        parsed = json.loads(prompt)
    except ValueError:
        return prompt
    is_chat = isinstance(parsed, list) and parsed and isinstance(parsed[-1], dict) and "content" in parsed[-1]
    return str(parsed[-1]["content"]) if is_chat else json.dumps(parsed)


def cupel_results(config: Path, port: int) -> Iterator[ProbeResult]:
    file = config.parent / "definition.yaml"
    arguments = ["import", "promptfoo", str(config), "--output", str(file), "--json"]
    imported = CliRunner().invoke(app, arguments, obj=Session())
    assert imported.exit_code == 0, imported.stderr
    document = json.loads(imported.stdout)
    for number, definition in enumerate(document["definitions"], start=1):
        targets = definition.get("targets") or definition["models"]
        names = {str(target["model"] if isinstance(target, dict) else target).partition("/")[0] for target in targets}
        providers = {name: {"base_url": f"http://127.0.0.1:{port}/v1", "api_key": "x"} for name in names - {"sim"}}
        source = file if number == 1 else file.with_name(f"definition-{number}.yaml")
        repeats = document["repeats"]
        options: Json = {"providers": providers, "repeats": repeats, "allow_code": True, "progress": False}
        yield from cupel.evaluate(source, targets, **options).results


def cupel_row(result: ProbeResult) -> Row:
    transcript, scoring = result.transcript, result.scoring
    assert transcript and scoring  # noqa: PT018 - both are None of a probe that is left out
    return Row(_last_message(transcript.messages[-2].content), scoring.success, round(scoring.score or 0, 9))


@pytest.mark.parametrize("name", NAMES)
def test_both_tools_agree_about_a_configuration(
    name: str, folder: Path, port: int, expected: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tools.BINARIES}:/usr/bin:/bin")
    theirs = Counter(promptfoo_rows(expected[name]))
    results = cupel_results(folder / name / "promptfooconfig.yaml", port)
    ours = Counter(cupel_row(result) for result in results if result.transcript and result.scoring)
    missing = theirs - ours
    count, why = DIFFERENCES.get(name, (0, ""))
    assert missing.total() == count, f"{why} {missing} {ours - theirs}"
    assert {row.passed for row in theirs} == {True, False}
