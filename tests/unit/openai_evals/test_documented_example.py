"""The example of docs/openai-evals-api.md is run."""

from typing import Any

import pytest
from openai import OpenAI

from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.unit.api.client import Client


@pytest.mark.usefixtures("finish_starts")
def test_the_example_starts_a_run(openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    (example,) = (block.text for block in blocks_of(ROOT / "docs/openai-evals-api.md") if block.language == "python")
    names: dict[str, Any] = {}
    monkeypatch.setattr("openai.OpenAI", lambda **_: openai)
    exec(compile(example, "openai-evals-api.md", "exec"), names)  # noqa: S102 - our own documentation
    assert names["run"].status == "queued"
    assert names["run"].result_counts.total == 1
