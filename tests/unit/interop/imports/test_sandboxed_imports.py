"""An import of any content ends within its limits, with an error that names the field."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.domain.definitions.drafts import ImportedSuite
from cupel_core.interop.imports import creation
from cupel_core.interop.imports.creation import ImportContext, import_dataset, import_promptfoo
from cupel_core.interop.imports.promptfoo.templates import render
from cupel_core.sandbox import pool
from cupel_core.sandbox.templating.errors import RenderError
from tests.unit.interop.imports.reading import read_suite

CONTEXT = ImportContext("ws_a", datetime(2026, 11, 22, tzinfo=UTC), dry_run=True)

MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 20)
)
ALIASES = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
DUMPED = "{% set a = [1] %}" + "{% set a = [a, a] %}" * 40 + "{{ a | dump }}"
UNCLOSED = "{{" * 100_000 + "}"


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(creation, "LIMITS", replace(creation.LIMITS, cpu_seconds=2.0))
    pool.reset_budgets()
    yield
    pool.reset_budgets()


def _config(prompt: str) -> str:
    return f"prompts: [{prompt!r}]\nproviders: [echo]\ntests: [{{vars: {{x: y}}}}]\n"


@pytest.mark.parametrize(
    "config",
    [MERGES, _config(DUMPED), _config(UNCLOSED)],
    ids=["merge keys", "dump", "unclosed"],
)
def test_a_configuration_beyond_the_limits_is_an_invalid_field(config: str) -> None:
    started_at = time.process_time()
    with pytest.raises(Invalid) as refused:
        import_promptfoo(CONTEXT, config, {"a" * 200 + ".txt": "x"})
    assert [error.field for error in refused.value.errors] == ["config"]
    assert refused.value.detail.startswith(("config: reading it takes more", "config: reading it needs more"))
    assert time.process_time() - started_at < 0.4


def test_aliases_of_any_size_are_an_invalid_field() -> None:
    with pytest.raises(Invalid, match=r"config: .*(the configuration is too large|reading it takes more)"):
        import_promptfoo(CONTEXT, ALIASES, {})


def test_a_dataset_of_any_depth_is_an_invalid_field() -> None:
    with pytest.raises(Invalid, match=r"content: .*nested too deeply"):
        import_dataset(CONTEXT, "[" * 200_000, DatasetFormat.INSPECT, "deep", None)


def test_a_dataset_is_imported_with_its_scorer() -> None:
    text = '{"input": "1+1", "target": "2"}'
    imported = import_dataset(CONTEXT, text, DatasetFormat.INSPECT, "sums", DatasetScorer.MATCH)
    assert [definition.draft.name for definition in imported.definitions] == ["sums"]


@pytest.mark.parametrize("part", ["slice", "batch"])
def test_a_list_of_a_hundred_million_parts_is_not_made(part: str) -> None:
    with pytest.raises(RenderError, match="at most 50,000 parts"):
        render("{{ [1] | " + part + "(100000000, 'y') | list | length }}", {})


def test_a_list_is_sliced() -> None:
    assert render("{{ [1, 2, 3] | slice(2) | list }}{{ [1, 2, 3] | batch(2) | list }}", {}) == "1,2,31,2,3"


def test_a_suite_is_the_same_after_the_sandbox() -> None:
    suite = read_suite(
        {
            "description": "Weather",
            "prompts": ["Is it {{ weather }}?", "{{ missing"],
            "providers": ["openai:gpt-5-mini", "echo"],
            "tests": [
                {"vars": {"weather": "wet"}, "assert": [{"type": "contains", "value": "yes"}, {"type": "javascript"}]}
            ],
            "unknown": 1,
        }
    )
    assert suite.report.skipped
    assert decode(ImportedSuite, encode(suite)) == suite
