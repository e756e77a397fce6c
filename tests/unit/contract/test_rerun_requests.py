"""What the request for a rerun replaces."""

import pytest

from cupel_core.contract.run_requests import RerunRun
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target

RUN = RunSpec(definition_id="def_1", targets=(Target("sim/steady"),), profile_id="prof_1", profile_version=3)


@pytest.mark.parametrize(
    ("config", "profile"),
    [
        ({}, ("prof_1", 3)),
        ({"profileId": "prof_2"}, ("prof_2", None)),
        ({"profileId": "prof_1"}, ("prof_1", None)),
        ({"profileId": "prof_2", "profileVersion": 1}, ("prof_2", 1)),
        ({"profileId": None}, (None, None)),
    ],
)
def test_a_rerun_with_a_profile_has_its_newest_version_unless_another_is_given(
    config: dict[str, object], profile: tuple[str | None, int | None]
) -> None:
    rerun = RerunRun.model_validate({"config": config}).spec("run_1").apply_to(RUN)
    assert (rerun.profile_id, rerun.profile_version) == profile
