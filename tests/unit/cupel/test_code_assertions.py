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
from cupel_core.scoring.check_result import CodeFailed, NotComputable
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
        ("import os\nos._exit(3)", "the code ended with 3"),
        ("print('x' * 5_000_000)", "prints or returns more than 4,000,000 bytes"),
        ("while True:\n    print('x' * 1_000)", "prints or returns more than 4,000,000 bytes"),
        ("import time\ntime.sleep(60)", "takes more than 1 s"),
        ("x = [0]\nwhile True: x += x", "MemoryError"),
    ],
)
def test_code_that_exceeds_its_limits_has_no_result(code: str, why: str) -> None:
    with pytest.raises(NotComputable) as raised:
        run_code(code, CodeLimits(seconds=1 if "sleep" in code else 30, memory_mb=200))
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero (line 1)"),
        ("import sys\nsys.exit(3)", "the code failed: SystemExit: 3 (line 2)"),
        ("a b", "the code failed: SyntaxError"),
        ("object()", "TypeError: Object of type object is not JSON serializable"),
        ("json.loads(output)['total'] == 5", "the code failed: JSONDecodeError"),
    ],
)
def test_an_exception_of_code_is_its_failure(code: str, why: str) -> None:
    with pytest.raises(CodeFailed) as raised:
        run_code(code)
    assert why in str(raised.value)


@pytest.mark.parametrize("kind", ["python", "not-python"])
def test_code_that_fails_on_an_answer_is_a_failure_of_the_answer(kind: str) -> None:
    [result] = results({"type": kind, "value": "json.loads(output)['total'] == 5"})
    assert (result.passed, result.score, result.error) == (False, 0.0, None)
    assert result.reason.startswith("the code failed: JSONDecodeError")


@pytest.mark.parametrize("text", ["import missing_module", "def other(output, context): pass", "a b"])
def test_code_whose_file_cannot_be_loaded_is_an_error(folder: Path, text: str) -> None:
    (folder / "broken.py").write_text(text)
    [result] = results({"type": "python", "value": "file://broken.py"})
    assert result.passed is None
    assert "the code failed: broken.py: " in str(result.error)


def test_a_transform_may_be_the_function_of_a_file(folder: Path) -> None:
    (folder / "change.py").write_text(
        "def get_transform(output, context):\n    return output + context['vars']['x']\n"
        "def fail(output, context):\n    return output['x']\n"
    )
    changed, failed = results(
        {"type": "equals", "value": "Hellobecause", "transform": "file://change.py"},
        {"type": "not-equals", "value": "Hello", "transform": "file://change.py:fail"},
    )
    assert changed.passed
    assert (failed.passed, failed.score) == (False, 0.0)
    assert failed.reason.startswith("file://change.py:fail: the code failed: change.py: TypeError")


def test_code_may_make_the_value_of_an_assertion(folder: Path) -> None:
    (folder / "values.py").write_text(
        "def get_assert(output, context):\n    return [output[0], context['vars']['x'][0]]\n"
        "def nothing(output, context):\n    return None\n"
    )
    missing, unusable = results(
        {"type": "contains-all", "config": {"valueFunction": "file://values.py"}},
        {"type": "contains-all", "config": {"valueFunction": "file://values.py:nothing"}},
    )
    assert (missing.passed, missing.reason) == (False, 'the output has "H"; the output lacks "b"')
    assert unusable.passed is None


def test_code_of_a_value_is_refused_unless_code_is_allowed() -> None:
    assertion = {"type": "contains", "config": {"valueFunction": "file://values.py"}}
    with pytest.raises(UsageError, match=r"config\.valueFunction: is code.*--allow-code"):
        cupel.evaluate(definition(assertion), "sim/echo", progress=False)


def test_each_of_several_transforms_gets_what_the_one_before_it_returns(folder: Path) -> None:
    (folder / "change.py").write_text(
        "def get_transform(output, context):\n    return {'said': output}\n"
        "def shout(output, context):\n    return output.upper()\n"
    )
    transforms = ["file://change.py", "output.said", "file://change.py:shout"]
    [result] = results({"type": "equals", "value": "HELLO", "transform": transforms})
    assert result.passed


def test_several_transforms_are_refused_unless_code_is_allowed() -> None:
    with pytest.raises(UsageError, match=r"transform: must be an expression"):
        cupel.evaluate(
            definition({"type": "equals", "value": "x", "transform": ["output", "output"]}), "sim/echo", progress=False
        )


def test_a_transform_of_other_code_is_refused_unless_code_is_allowed() -> None:
    with pytest.raises(UsageError, match="is code that is not run here"):
        cupel.evaluate(
            definition({"type": "equals", "value": "x", "transform": "output + 'x'"}), "sim/echo", progress=False
        )


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
    with pytest.raises(UsageError, match=r"JavaScript needs Node\.js"):
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


def test_a_scoring_function_without_a_threshold_is_given_none(folder: Path) -> None:
    (folder / "score.py").write_text(
        "def func(metrics, context):\n"
        "    return {'pass': True, 'score': context.get('threshold', 0.25), 'reason': ''}\n"
    )
    [result] = results(
        {
            "type": "assert-set",
            "config": {"scoringFunction": "file://score.py"},
            "assert": [{"type": "contains", "value": "Hello"}],
        }
    )
    assert result.score == 0.25
