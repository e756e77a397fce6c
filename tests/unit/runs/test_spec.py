"""Run specifications are stored with idempotency keys and schedules: two are the same if their texts are."""

import pytest

from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec
from cupel_core.domain.runs.targets import Target, plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.runs.spec import scheduled_from_text, spec_from_text, spec_to_text

GRADERS = GraderConfig("sim/judge", summarizer_model="sim/rater")
SPECS = [
    RunSpec("def_1", plain_targets("sim/steady"), grader_config=GraderConfig("sim/judge")),
    RunSpec("def_1", plain_targets("sim/steady"), max_concurrency=3, stagger_ms=(200, 400)),
    RunSpec("def_1", (Target("sim/steady", "calm", {"temperature": 0.0}),), params={"temperature": None, "topP": 0.5}),
    RunSpec("def_1", (), scenario_ids=("scn_1",), persona_ids=(), disabled_graders=("judge_model",), report=True),
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_specification_is_read_as_it_was_stored(spec: RunSpec) -> None:
    assert spec_from_text(spec_to_text(spec)) == spec
    assert scheduled_from_text(spec_to_text(spec)) == spec


def test_the_settings_of_a_run_of_an_eval_are_read_as_they_were_stored() -> None:
    labels = LabelChanges("nightly", ("a",))
    spec = EvalRunSpec("evl_1", grader_config=GRADERS, labels=labels, stagger_ms=(200, 400))
    assert scheduled_from_text(spec_to_text(spec)) == spec
