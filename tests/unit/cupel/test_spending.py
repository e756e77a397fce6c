"""The API, the command and the metric report the same spend, because all read it from the outcome."""

import json

import pytest

from cupel.columns import RunColumn
from cupel.in_process.probes import as_json, transcript_json
from cupel.results import tabulate
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.contract.run_probes import ProbeErrorResponse
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.runs.probing.invocation import InvocationTotals
from cupel_core.runs.workflow_tasks import spent_metric
from cupel_core.store.outcome_items import from_item, to_item
from tests.started_runs import NOW
from tests.unit.cupel.fake_api import column_fields

MODEL = "openai/m"
CALL = Usage(10, 5)


def stored(outcome: Outcome) -> Outcome:
    return from_item(to_item(RunRef("ws_a", "run_a"), 1, outcome))


def transcript() -> Transcript:
    state = ConversationState(
        (), 2, CALL, cost_usd=0.5, judge_spend=Spend(1, CALL, 0.25), persona_spend=Spend(1, CALL, 0.125)
    )
    summary = Summary("1", "yes", NOW, spend=Spend(1, CALL, 0.0625))
    return Transcript(0, "scn_1", MODEL, NOW, state, summary=summary)


def error() -> ProbeError:
    spending = Spending(Spend(1, CALL, 2.0), judge=Spend(2, CALL, 4.0))
    return ProbeError(1, "scn_1", MODEL, ProbeErrorCode.JUDGE_ERROR, "no", 1, NOW, spending=spending)


def test_the_api_the_command_and_the_metric_agree() -> None:
    answered, failed = stored(transcript()), stored(error())
    assert isinstance(answered, Transcript)
    assert isinstance(failed, ProbeError)
    column = Column(Target(MODEL))
    errored = {**column_fields(MODEL), "scenarioId": "scn_1", "error": as_json(ProbeErrorResponse.from_value(failed))}
    api = transcript_json("run_a", column, CaseView(), 0, answered), errored
    totals = InvocationTotals()
    totals.add([answered, failed])
    in_api = api[0]["totalSpend"]["costUsd"] + api[1]["error"]["totalSpend"]["costUsd"]
    in_command = tabulate([RunColumn(MODEL, MODEL)], 2, [api[0]], [api[1]])[0].cost_usd
    assert (in_api, in_command, totals.spent_usd) == (6.9375, 6.9375, 6.9375)


def test_the_metric_of_a_workflow_s_task_has_its_spend_by_provider_even_if_it_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run_task() -> None:
        with spent_metric() as add_spend:
            for spend in (Spend(1, CALL, 0.25), Spend(1, CALL, 0.5)):
                add_spend("openai/judge", spend)
            add_spend("anthropic/judge", Spend())
            raise RetryableError("later")

    with pytest.raises(RetryableError):
        run_task()
    published = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["provider"], each["service"], each["SpentUsd"]) for each in published] == [
        ("openai", "cupel", [0.75])
    ]
