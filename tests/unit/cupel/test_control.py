"""`cupel pause`, `resume`, `cancel`, `retry`, `expand`, `delete` and `cupel queue`, against the real API function."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.errors import NotFound
from cupel_core.base.ids import new_id
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, Priority, Progress, Run
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.runs import record_outcomes
from cupel_core.store import barrier, dead_letters, governor, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.dead_letters import StoredDeadLetter
from cupel_core.store.settings import Settings
from tests import recorded_outcomes
from tests.answered_runs import AnsweredRun, get_transcript
from tests.conftest import ROOT
from tests.started_runs import NOW, RunSetup, ref_of, slice_message
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def cupel(cloud: Settings) -> Cupel:
    return command_of(connect_to_api_function())


@pytest.fixture
def run(cloud: Settings) -> Run:
    return RunSetup(scenario_count=4, workspace="acme").start()


def output_of(cupel: Cupel, *arguments: str) -> Any:
    result = cupel(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def end(run: Run, errored: set[int]) -> None:
    runs.transition(ref_of(run), Action.START, NOW)
    errors = [
        ProbeError(index, f"scn_{index}", "sim/steady", ProbeErrorCode.TIMEOUT, "late", 4, NOW) for index in errored
    ]
    recorded_outcomes.store_outcomes(run, run.fencing_token, errors)
    recorded_outcomes.count_outcomes(Tree.for_run(run), Node(0, 0), {index: index not in errored for index in range(4)})
    runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    runs.transition(
        ref_of(run), Action.COMPLETE, NOW, settled=Progress(4, 4 - len(errored), len(errored)), completed_at=NOW
    )


def test_a_run_is_paused_resumed_and_cancelled(cupel: Cupel, run: Run):
    statuses = [output_of(cupel, command, run.id)["status"] for command in ("pause", "resume", "cancel")]
    assert statuses == ["PAUSED", "RUNNING", "CANCELLED"]


def test_a_paused_run_is_shown_with_what_to_do_next(cupel: Cupel, run: Run):
    result = cupel("pause", run.id)
    assert "PAUSED (user request)" in result.stdout
    assert f"resume {run.id}" in result.stderr


@pytest.mark.parametrize("command", ["pause", "cancel"])
def test_a_stopped_run_says_how_many_calls_are_in_flight(cupel: Cupel, run: Run, command: str):
    claim = Claim(frozenset({0, 1, 2}), 2e10, 0.0, {0: 1.0, 2: 2.0})
    barrier.acquire(ref_of(run), Node(0, 0), "worker", claim, [0, 1, 2], 0.0)
    expected = "2 calls in flight will still be recorded; no call begins later than 5 s from now"
    assert expected in cupel(command, run.id).stderr


def test_a_refused_transition_is_reported_with_the_status(cupel: Cupel, run: Run):
    cupel("cancel", run.id)
    refused = cupel("resume", run.id)
    assert refused.exit_code == 2
    assert "409 Conflict" in refused.stderr
    assert "CANCELLED" in refused.stderr


@pytest.mark.parametrize("options", [[], ["--model", "sim/steady"], ["--probe", "1"]])
def test_errored_probes_are_retried(cupel: Cupel, run: Run, options: list[str]):
    end(run, errored={1})
    assert output_of(cupel, "retry", run.id, *options)["status"] == "RUNNING"


def test_a_run_that_has_all_its_scenarios_is_not_expanded(cupel: Cupel, run: Run):
    end(run, errored=set())
    refused = cupel("expand", run.id, "--sample", "100")
    assert refused.exit_code == 2
    assert "--sample: " in refused.stderr


def test_queues_are_listed_with_their_counts(cupel: Cupel, run: Run):
    listed = {queue["provider"]: queue for queue in output_of(cupel, "queue")}
    assert (listed["sim"]["pending"], listed["openai"]["pending"]) == (run.plan.total, 0)
    row = next(line for line in cupel("queue").stdout.splitlines() if line.startswith("sim"))
    assert row.split() == ["sim", str(run.plan.total), "0", "0", "0", "running"]


def test_one_queue_is_paused_and_resumed(cupel: Cupel):
    assert "paused" in cupel("queue", "pause", "--provider", "sim").stdout
    assert [queue["paused"] for queue in output_of(cupel, "queue", "--provider", "sim")] == [True]
    assert "idle" in cupel("queue", "resume", "--provider", "sim").stdout


def test_idle_queues_are_only_counted(cupel: Cupel, run: Run):
    shown = cupel("queue")
    assert [line.split()[0] for line in shown.stdout.splitlines() if "running" in line] == ["sim"]
    assert "openai" not in shown.stdout
    assert "idle queues are not shown; --json has all" in shown.stderr


def test_all_queues_are_paused(cupel: Cupel):
    assert all(queue["paused"] for queue in output_of(cupel, "queue", "pause", "--all"))


@pytest.mark.parametrize("options", [[], ["--provider", "sim", "--all"]])
def test_pausing_needs_either_a_provider_or_all(cupel: Cupel, options: list[str]):
    refused = cupel("queue", "pause", *options)
    assert (refused.exit_code, "specify either --provider or --all" in refused.stderr) == (2, True)


@pytest.mark.parametrize("call", ["queue --provider sim pause", "providers --json set openai --disable"])
def test_an_option_before_a_subcommand_is_refused(cupel: Cupel, call: str):
    refused = cupel(*call.split())
    assert (refused.exit_code, "put it after the subcommand" in refused.stderr) == (2, True)
    assert not any(queue["paused"] for queue in output_of(cupel, "queue"))


def test_a_throttled_provider_is_shown_as_such(cupel: Cupel):
    now = datetime.now(UTC).timestamp()
    refused = [
        CallRecord(f"sim/{n}", ProbeErrorCode.RATE_LIMITED, now, wait_seconds=600) for n in (1, 2, 3) for _ in "ab"
    ]
    report = WorkerReport("w", Priority.NORMAL, 4, 0, calls=tuple(refused))
    governor.renew("acme", "sim", Limits(50), report, now)
    assert "throttled until 20" in cupel("queue", "--provider", "sim").stdout


def die(run: Run, indexes: list[int]) -> None:
    """Store a dead letter, as the sweeper does."""
    letter = StoredDeadLetter(new_id("msg"), "sim", Priority.NORMAL, 5, slice_message(run, indexes))
    dead_letters.save(letter, datetime.now(UTC))


def test_dead_letters_are_listed_and_redriven(cupel: Cupel, run: Run):
    barrier.note_error(ref_of(run), Node(0, 0), "KeyError: [x]")
    die(run, [1, 2])
    table = cupel("queue", "dead-letters").stdout
    assert (run.id in table, "KeyError: [x]" in table) == (True, True)
    (dead_letter,) = output_of(cupel, "queue", "dead-letters")
    assert output_of(cupel, "queue", "redrive", dead_letter["messageId"]) == {
        "sent": 1,
        "dropped": 0,
        "runsToRetry": [],
        "unknownMessageIds": [],
    }
    assert "0 sent again, 0 deleted" in cupel("queue", "redrive").stdout


def test_a_dead_letter_of_errored_probes_points_to_the_retry(cupel: Cupel, run: Run):
    end(run, errored={1})
    die(run, [1])
    assert f"retry {run.id}" in cupel("queue", "redrive").stdout


def test_a_run_is_started_with_its_priority(cupel: Cupel):
    sample = str(ROOT / "samples" / "facts.yaml")
    assert output_of(cupel, "run", sample, "--models", "sim/steady", "--priority", "HIGH")["run"]["priority"] == "HIGH"


@pytest.fixture
def answered(cloud: Settings) -> Run:
    return AnsweredRun(workspace="acme").completed()


def test_delete_deletes_a_run(cupel: Cupel, answered: Run) -> None:
    assert cupel("delete", answered.id, "--yes").stdout == f"deleted {answered.id}\n"
    with pytest.raises(NotFound):
        runs.get(ref_of(answered))


def test_delete_deletes_the_conversation_of_a_probe(cupel: Cupel, answered: Run) -> None:
    assert cupel("delete", answered.id, "--probe", "1", "--yes").exit_code == 0
    assert [bool(get_transcript(answered, index).messages) for index in (0, 1)] == [True, False]


def test_delete_asks_first(cupel: Cupel, answered: Run) -> None:
    assert cupel("delete", answered.id).exit_code != 0
    assert runs.get(ref_of(answered)).id == answered.id


def test_a_run_is_shown_with_what_it_has_spent(cupel: Cupel, run: Run):
    spending = Spending(Spend(1, Usage(), 0.5))
    error = ProbeError(0, "scn_0", "sim/steady", ProbeErrorCode.TIMEOUT, "late", 4, NOW, spending=spending)
    record_outcomes.record(run, run.fencing_token, [error])
    assert "1 errored of 4 conversations, spent $0.50" in cupel("show", run.id).stdout
    unpriced = replace(error, probe_index=1, spending=Spending(Spend(1, Usage(), None)))
    record_outcomes.record(run, run.fencing_token, [unpriced])
    assert "2 errored of 4 conversations, spent at least $0.50" in cupel("show", run.id).stdout
