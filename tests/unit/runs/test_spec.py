"""Run specifications are stored with idempotency keys and schedules, so their text must not change."""

from cupel_core.domain.runs.spec import EvalRunOptions, EvalRunSpec, RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.runs.spec import scheduled_from_text, spec_from_text, spec_to_text

STORED = (
    '{"definition_id":"def_1","eval_id":null,"evaluation":{"embedding_model":null,"evaluator_headers_version":null,'
    '"evaluator_url":null,"judge_model":"sim/judge","persona_model":null},"experiment_id":null,"max_turns":null,'
    '"models":["sim/steady"],"persona_ids":null,"playground":false,"priority":"NORMAL","repeats":1,'
    '"sample_percentage":100,"sample_seed":null,"scenario_ids":[],"schedule_id":null,"temperature":null}'
)


def test_a_specification_is_stored_as_in_earlier_versions() -> None:
    spec = RunSpec("def_1", plain_targets("sim/steady"), grader_config=GraderConfig("sim/judge"))
    assert spec_to_text(spec) == STORED
    assert spec_from_text(STORED) == spec


def test_the_pace_of_a_run_is_stored_with_its_specification() -> None:
    spec = RunSpec("def_1", plain_targets("sim/steady"), max_concurrency=3, stagger_ms=(200, 400))
    assert spec_from_text(spec_to_text(spec)) == spec


def test_the_summarizer_of_a_run_is_stored_only_if_there_is_one() -> None:
    for summarizer in (None, "sim/judge"):
        graders = GraderConfig(summarizer_model=summarizer)
        specs = (
            RunSpec("def_1", plain_targets("sim/steady"), grader_config=graders),
            EvalRunSpec("evl_1", EvalRunOptions(grader_config=graders)),
        )
        for spec in specs:
            stored = spec_to_text(spec)
            assert ("summarizer_model" in stored) is (summarizer is not None)
            assert scheduled_from_text(stored) == spec
