"""Transforms: the closed part of JavaScript that selects what an assertion checks."""

import json
from typing import Any

import pytest

from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.output_transforms import TransformError, compose, parse_transform, transform_error
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import TransformFailed
from cupel_core.scoring.score import score
from cupel_core.scoring.transforms import transformed
from tests.unit.scoring.conftest import ScriptedGrader

OUTPUT = json.dumps({"name": " Ada ", "items": [{"id": 7}, {"id": 8}], "note": "id: 42\nend", "a-b": None})


@pytest.mark.parametrize(
    ("transform", "value"),
    [
        ("output", OUTPUT),
        ("JSON.parse(output).name.trim()", "Ada"),
        ("JSON.parse(output).items[1].id", 8),
        ("JSON.parse(output)?.items?.[0]?.id", 7),
        ("JSON.parse(output)['items']['1'].id", 8),
        ("output['0']", "{"),
        ("JSON.parse(output).items.length", 2),
        ("JSON.parse(output).items.at(-1).id", 8),
        ("(JSON.parse(output)).note.split('\\n')[1]", "end"),
        ("JSON.parse(output).note.match(/id: (\\d+)/)[1]", "42"),
        ("JSON.parse(output).note.match(/^END$/im)[0]", "end"),
        ("JSON.parse(output).note.match(/[a-z]+/g).join('-')", "id-end"),
        ("JSON.parse(output).note.replace(/(\\d)(\\d)/, '$2$1')", "id: 24\nend"),
        ("JSON.parse(output).note.replace(/[a-z]/gi, '')", ": 42\n"),
        ("JSON.parse(output).note.replace('d', 'D').toUpperCase()", "ID: 42\nEND"),
        ("JSON.parse(output).note.replaceAll('d', '').toLowerCase()", "i: 42\nen"),
        ("JSON.parse(output).name.slice(1, -1)", "Ada"),
        ("JSON.parse(output).name.substring(4, 1)", "Ada"),
        ("String(JSON.parse(output).items[0])", "[object Object]"),
        ("JSON.parse(output).note.match(/[a-z]+/g).toString()", "id,end"),
        ("output => JSON.parse(output).items.slice(1)", [{"id": 8}]),
        ("(output, context) => output.split('')[0];", "{"),
        ("return JSON.parse(output).name.trimEnd();", " Ada"),
    ],
)
async def test_a_transform_selects_from_the_output(transform: str, value: Any) -> None:
    assert transform_error(transform) is None
    assert await transformed(transform, OUTPUT) == value


@pytest.mark.parametrize(
    ("transform", "value"),
    [
        ("output.length", 9),
        ("output.slice(0, 2)", "\U0001f600"),
        ("output.substring(2, 5)", "a\U0001f600"),
        ("output.at(2)", "a"),
        ("output.split('')[2]", "a"),
        ("output.slice(5).trim().length", 1),
    ],
)
async def test_positions_are_code_units_and_white_space_is_that_of_javascript(transform: str, value: Any) -> None:
    assert await transformed(transform, "\U0001f600a\U0001f600\ufeffb\u00a0\u3000") == value


@pytest.mark.parametrize(
    "transform",
    [
        "",
        "fetch('https://x')",
        "output + 'x'",
        "output.constructor.constructor('return 1')()",
        "context.vars.x",
        "process.env",
        "output.trim(1)",
        "output.split()",
        "output.match('x')",
        "output.match(/(a+)+/)",
        "output.match(/a/y)",
        "output[-1]",
        "output[0",
        "JSON.stringify(output)",
        "output.map(x => x)",
        "`${output}`",
        "output" + ".a" * 51,
        "x" * 1_001,
        3,
    ],
)
def test_anything_else_is_refused(transform: Any) -> None:
    assert transform_error(transform)


@pytest.mark.parametrize(
    "transform",
    [
        "JSON.parse(output).name",
        "JSON.parse(output)['1'].x[0]",
        "String(output.match(/a\\/b/g)).split('\\n').join(\"'\")",
        "output.slice(0, -3).replace(/[/]x/, '\\\\$1')",
    ],
)
def test_a_written_transform_has_the_same_steps(transform: str) -> None:
    assert parse_transform(compose(transform) or "") == parse_transform(transform)


def test_the_second_of_two_transforms_starts_from_the_result_of_the_first() -> None:
    assert compose("JSON.parse(output).name", "output.trim()") == "JSON.parse(output).name.trim()"
    assert compose("output.trim()", "JSON.parse(output)[0]") == "JSON.parse(output.trim())[0]"
    with pytest.raises(TransformError):
        compose("output.trim()", "x")


@pytest.mark.parametrize(
    ("transform", "output"),
    [
        ("JSON.parse(output).a", "no JSON"),
        ("JSON.parse(output).a", "{}"),
        ("JSON.parse(output)[1]", "[1]"),
        ("JSON.parse(output)", "[" * 5_000),
        ("JSON.parse(output)", "NaN"),
        ("JSON.parse(output).trim()", "1"),
        ("JSON.parse(output).a", '{"a": null}'),
        ("JSON.parse(JSON.parse(output))", '{"a": 1}'),
        ("output.match(/x(y)/)[1]", "abc"),
        ("output.at(3)", "abc"),
        ("output.replaceAll('a', '" + "b" * 900 + "')", "a" * 2_000),
    ],
)
async def test_an_output_of_another_form_cannot_be_transformed(transform: str, output: str) -> None:
    with pytest.raises(TransformFailed):
        await transformed(transform, output)


async def results(output: str, *assertions: dict[str, Any]) -> list[tuple[bool | None, str]]:
    scored = await score(
        list(map(Assertion.from_json, assertions)), AssertionContext(output), ScriptedGrader("").graders()
    )
    return [(result.passed, result.reason) for result in scored.results]


async def test_an_assertion_checks_what_its_transform_returns() -> None:
    assertions = [
        {"type": "equals", "value": "Ada", "transform": "JSON.parse(output).name.trim()"},
        {"type": "is-json", "value": {"type": "array", "minItems": 2}, "transform": "JSON.parse(output).items"},
    ]
    assert [passed for passed, _ in await results(OUTPUT, *assertions)] == [True, True]


@pytest.mark.parametrize("kind", ["contains", "not-contains"])
async def test_an_answer_that_cannot_be_transformed_fails(kind: str) -> None:
    [(passed, reason)] = await results("Ada", {"type": kind, "value": "x", "transform": "JSON.parse(output).name"})
    assert (passed, reason) == (False, "JSON.parse(output).name: the output is not JSON")


async def test_a_transform_that_is_no_longer_accepted_is_an_error() -> None:
    [(passed, _)] = await results("Ada", {"type": "contains", "value": "x", "transform": "output.map(f)"})
    assert passed is None
