"""Assertions of Python code, run by `cupel.evaluate` with `allow_code` (tests/interop has those of JavaScript)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

import cupel
from cupel.errors import UsageError
from cupel.in_process.code_runner import CodeLimits, ProcessCodeRunner
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.code_assertions import Code
from tests.conftest import ROOT
from tests.documented_blocks import blocks_of

CHECK = """
import helper

def get_assert(output, context):
    print("printed", flush=True)
    return {"pass": output == helper.EXPECTED, "score": 0.5, "reason": context["vars"]["x"]}

class Checks:
    @staticmethod
    async def later(output, context):
        return len(output) == 5

def func(metrics, context):
    return {"pass": metrics["right"] == 1, "score": metrics["right"] / 2, "reason": "half"}
"""


def definition(*assertions: dict[str, Any]) -> dict[str, Any]:
    scenario = {"prompt": "Hello", "metadata": {"vars": {"x": "because"}}, "assertions": list(assertions)}
    return {"content": {"maxTurns": 1}, "scenarios": [scenario]}


def results(*assertions: dict[str, Any]) -> tuple[AssertionResult, ...]:
    evaluation = cupel.evaluate(definition(*assertions), "sim/echo", allow_code=True, progress=False)
    scoring = evaluation.results[0].scoring
    assert scoring
    return scoring.results


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "check.py").write_text(CHECK)
    (tmp_path / "helper.py").write_text("EXPECTED = 'Hello'\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_code(text: str, limits: CodeLimits | None = None) -> Any:
    runner = ProcessCodeRunner(Path.cwd(), limits or CodeLimits())
    return asyncio.run(runner(Code("python", text=text), ["Hello", {"vars": {}}]))


@pytest.mark.parametrize(
    "code",
    [
        "output == 'Hello'",
        "json.dumps(output) == '\"Hello\"'\n",
        "words = output.split()\nreturn len(words) == 1",
        "  if output:\n    return True\n  return False",
    ],
)
def test_inline_code_is_an_expression_or_the_body_of_a_function(code: str) -> None:
    assert run_code(code) is True


def test_code_may_print_after_its_result() -> None:
    assert run_code("import atexit\natexit.register(print, 'bye')\nreturn True") is True


@pytest.mark.usefixtures("folder")
def test_code_of_files_runs_in_a_process_of_its_own() -> None:
    checked, later, combined = results(
        {"type": "python", "value": "file://check.py"},
        {"type": "python", "value": "file://check.py:Checks.later"},
        {
            "type": "assert-set",
            "config": {"scoringFunction": "file://check.py"},
            "assert": [{"type": "contains", "value": "Hello", "metric": "right"}],
        },
    )
    assert (checked.passed, checked.score, checked.reason) == (True, 0.5, "because")
    assert later.passed is True
    assert (combined.passed, combined.score) == (True, 0.5)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero (line 1)"),
        ("import os\nos._exit(3)", "the code ended with 3"),
        ("import sys\nsys.exit(3)", "the code failed: SystemExit: 3 (line 2)"),
        ("a b", "the code failed: SyntaxError"),
        ("print('x' * 5_000_000)", "prints or returns more than 4,000,000 bytes"),
        ("while True:\n    print('x' * 1_000)", "prints or returns more than 4,000,000 bytes"),
        ("object()", "TypeError: Object of type object is not JSON serializable"),
        ("import time\ntime.sleep(60)", "takes more than 1 s"),
        ("x = [0]\nwhile True: x += x", "MemoryError"),
    ],
)
def test_code_that_fails_or_exceeds_its_limits_has_no_result(code: str, why: str) -> None:
    with pytest.raises(NotComputable) as raised:
        run_code(code, CodeLimits(seconds=1 if "sleep" in code else 30, memory_mb=200))
    assert why in str(raised.value)


def test_code_without_a_result_is_an_error_and_no_failure() -> None:
    [result] = results({"type": "python", "value": "1 / 0"})
    assert result.passed is None


@pytest.mark.parametrize("assertion", [{"type": "python", "value": "True"}, {"type": "not-javascript", "value": "1"}])
def test_code_is_refused_unless_it_is_allowed(assertion: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"scenarios\.0\.assertions\.0\.type: .* is code.*--allow-code"):
        cupel.evaluate(definition(assertion), "sim/echo", progress=False)


def test_a_missing_file_is_refused_before_any_call(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"assertions: missing\.py: no such file"):
        cupel.evaluate(
            definition({"type": "python", "value": "file://missing.py"}), "sim/echo", allow_code=True, progress=False
        )


@pytest.mark.usefixtures("folder")
def test_javascript_needs_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match=r"javascript needs Node\.js"):
        cupel.evaluate(definition({"type": "javascript", "value": "true"}), "sim/echo", allow_code=True, progress=False)


@pytest.mark.parametrize(("limit", "passed"), [(5, True), (4, False)])
def test_a_python_grader_of_openai_runs_as_documented(limit: int, passed: bool) -> None:
    blocks = blocks_of(ROOT / "docs/assertions.md")
    (documented,) = (block.text for block in blocks if "def grade(sample, item)" in block.text)
    scenario = {"prompt": "Hello", "metadata": {"vars": {"item": {"limit": limit}}}}
    content = {"maxTurns": 1, **yaml.safe_load(documented)}
    document = {"content": content, "scenarios": [scenario]}
    evaluation = cupel.evaluate(document, "sim/echo", allow_code=True, progress=False)
    scoring = evaluation.results[0].scoring
    assert scoring
    assert [(each.metric, each.passed, each.score) for each in scoring.results] == [("short", passed, float(passed))]
    with pytest.raises(UsageError, match="is code, which a stack does not run"):
        cupel.evaluate(document, "sim/echo", progress=False)
