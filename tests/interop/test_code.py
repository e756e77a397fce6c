"""Assertions of code, by promptfoo and, imported into a definition file, by Cupel in process."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cupel
from cupel.cli import app
from cupel.session import Session
from tests.interop import tools

type Json = dict[str, Any]

CONFIG = Path(__file__).parent / "code" / "promptfooconfig.yaml"


def by_promptfoo(home: Path) -> list[Json]:
    output = home / "results.json"
    tools.promptfoo(
        home, "eval", "-c", CONFIG.name, "-o", str(output), "--no-cache", "--no-table", folder=CONFIG.parent
    )
    results = json.loads(output.read_text())["results"]["results"]
    return [
        {"passed": each["success"], "score": round(each["score"], 9), "metrics": each["namedScores"]}
        for each in sorted(results, key=lambda each: each["testIdx"])
    ]


def by_cupel(folder: Path) -> list[Json]:
    file = folder / "code.yaml"
    imported = CliRunner().invoke(app, ["import", "promptfoo", str(CONFIG), "--output", str(file)], obj=Session())
    assert imported.exit_code == 0, imported.stderr
    scorings = [each.scoring for each in cupel.evaluate(file, "sim/echo", allow_code=True, progress=False).results]
    return [
        {"passed": each.success, "score": round(each.score or 0, 9), "metrics": dict(each.metrics)}
        for each in scorings
        if each
    ]


def test_both_tools_agree_about_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_promptfoo(tmp_path)
    monkeypatch.setenv("PATH", f"{tools.BINARIES}:/usr/bin:/bin")
    assert by_cupel(tmp_path) == expected
    assert {each["passed"] for each in expected} == {True, False}
