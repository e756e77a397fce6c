"""Jobs whose message was lost, or whose worker died, are sent again."""

from datetime import timedelta

from cupel_core.analysis import comparisons
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import JobRequest
from cupel_core.domain.analysis.comparison_requests import ComparisonSpec, SideSpec
from cupel_core.store import jobs
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.job_recovery import RESEND_AFTER, recover_jobs
from tests.compared_runs import carry_out_jobs, run_of
from tests.started_runs import NOW, receive_bodies

LATER = NOW + RESEND_AFTER


def plenty() -> float:
    return 600.0


def lost(cloud: Settings) -> JobRequest:
    """A job whose message is lost."""
    first, second = (run_of("def_shared", passes) for passes in ("+", "-"))
    view, _ = comparisons.request("acme", ComparisonSpec(SideSpec(first.id), SideSpec(second.id)), NOW)
    assert len(receive_bodies(cloud.analyze_queue_url)) == 1
    return JobRequest(workspace="acme", job_id=view.comparison.job_id)


def test_a_job_that_nobody_works_on_is_sent_again(cloud: Settings) -> None:
    request = lost(cloud)
    assert recover_jobs(LATER - timedelta(seconds=1), plenty) == 0
    assert recover_jobs(LATER, plenty) == 1
    assert receive_bodies(cloud.analyze_queue_url)[-1] == request.to_body()


def test_it_is_not_sent_every_minute(cloud: Settings) -> None:
    lost(cloud)
    assert [recover_jobs(LATER + timedelta(minutes=n), plenty) for n in range(3)] == [1, 0, 1]


def test_a_job_with_a_worker_is_left_alone(cloud: Settings) -> None:
    request = lost(cloud)
    jobs.claim(request, NOW, LATER + timedelta(minutes=5))
    assert recover_jobs(LATER, plenty) == 0
    assert recover_jobs(LATER + timedelta(minutes=5) + RESEND_AFTER, plenty) == 1


def test_one_that_has_ended_is_looked_at_once(cloud: Settings) -> None:
    request = lost(cloud)
    jobs.erase("acme", request.job_id)
    assert recover_jobs(LATER, plenty) == 0
    assert list(jobs.list_open()) == []


def test_what_is_sent_again_is_carried_out_once(cloud: Settings) -> None:
    lost(cloud)
    recover_jobs(utc_now() + timedelta(days=1), plenty)
    assert carry_out_jobs() == ["completed"]


def test_without_time_nothing_is_sent(cloud: Settings) -> None:
    lost(cloud)
    assert recover_jobs(LATER, lambda: 2.0) == 0
