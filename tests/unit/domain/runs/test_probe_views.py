"""The times of a probe as it is read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ProbeStatus, Run
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.runs.views import ProbeView

CREATED = datetime(2026, 11, 22, tzinfo=UTC)
FAILED = CREATED + timedelta(minutes=1)
RESTARTED = CREATED + timedelta(minutes=2)
RUN = Run(
    workspace="ws_a",
    id="run_a",
    definition_id="def_a",
    definition_version=1,
    plan=Plan(plain_targets("sim/steady"), (1,), 1),
    sample_percentage=100,
    sample_seed=1,
    snapshot_key="",
    created_at=CREATED,
    updated_at=CREATED,
    definition_name="rating",
    scenario_count=1,
    scenario_total=1,
)
ERROR = ProbeError(0, "scn_1", "sim/steady", ProbeErrorCode.TIMEOUT, "no", 4, FAILED)


def view(conversation: ConversationState | None = None) -> ProbeView:
    return ProbeView(
        run=RUN,
        index=0,
        status=ProbeStatus.QUEUED,
        case=CaseView("scn_1"),
        column=RUN.plan.columns[0],
        repeat=0,
        retry_round=2,
        attempts=(ERROR,),
        partial_conversation=conversation,
    )


def test_a_retried_probe_was_updated_when_it_failed() -> None:
    assert view().updated_at == FAILED


def test_a_retried_probe_that_runs_was_updated_when_it_started_again() -> None:
    assert view(ConversationState((), started_at=RESTARTED)).updated_at == RESTARTED


def test_an_errored_probe_of_an_earlier_release_started_when_its_checkpoint_says() -> None:
    errored = replace(view(ConversationState((), started_at=RESTARTED)), outcome=ERROR)
    assert errored.started_at == RESTARTED


def test_an_errored_probe_started_when_its_conversation_did() -> None:
    errored = replace(view(), outcome=replace(ERROR, started_at=RESTARTED))
    assert errored.started_at == RESTARTED
