"""Exported logs, read by Inspect itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interop import tools
from tests.interop.conftest import Cupel

_SCRIPT = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
logs = list_eval_logs(sys.argv[1])
log = logs[0].name
header, full_log = read_eval_log(log, header_only=True), read_eval_log(log)
summaries = read_eval_log_sample_summaries(log)
first = full_log.samples[0]
sample = read_eval_log_sample(log, id=first.id, epoch=first.epoch)
print(json.dumps({
    "logs": len(logs), "task": header.eval.task, "model": header.eval.model, "status": header.status,
    "metrics": {name: metric.value for name, metric in header.results.scores[0].metrics.items()},
    "scorers": [score.name for score in header.results.scores],
    "samples": [[s.id, s.epoch, s.scores["success"].value, s.output.completion] for s in full_log.samples],
    "summaries": [[s.id, s.epoch, s.scores["success"].value] for s in summaries],
    "roles": [message.role for message in sample.messages], "input": sample.input,
    "tokens": sample.output.usage.total_tokens, "explanation": sample.scores["success"].explanation,
    "usage": header.stats.model_usage["sim/echo"].total_tokens,
}))
"""

type Json = dict[str, Any]


@pytest.fixture
def log(cupel: Cupel, tmp_path: Path) -> Json:
    """The log of an exported run, as Inspect reads it."""
    cupel("export", cupel.run_id, "--format", "inspect", "--output", str(tmp_path / "logs"))
    read: Json = json.loads(tools.inspect(_SCRIPT, str(tmp_path / "logs")))
    return read


def test_inspect_lists_reads_and_opens_a_log(cupel: Cupel, log: Json) -> None:
    transcripts = list(cupel.client.list_transcripts(cupel.run_id))
    passed = [transcript["result"]["success"] for transcript in transcripts]
    assert (log["logs"], log["task"], log["model"]) == (1, "Every deterministic assertion", "sim/echo")
    assert log["metrics"]["accuracy"] == pytest.approx(sum(passed) / len(passed))
    assert len(log["samples"]) == len(log["summaries"]) == len(transcripts)
    samples = {(sample_id, epoch): (value, answer) for sample_id, epoch, value, answer in log["samples"]}
    first = transcripts[0]
    assert samples[first["scenarioId"], 1] == ("C" if passed[0] else "I", first["content"]["messages"][-1]["content"])
    assert {epoch for _, epoch, _, _ in log["samples"]} == {1, 2}
    assert log["roles"] == ["user", "assistant"]
    assert log["usage"] == sum(transcript["tokenCount"] for transcript in transcripts)
