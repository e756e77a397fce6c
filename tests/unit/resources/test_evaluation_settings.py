"""A workspace's default graders, and its execution counter."""

import pytest

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.domain.resources.evaluation_settings import EvaluationSettings, EvaluatorEndpoint, SettingsChanges
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.resources import evaluation_settings
from cupel_core.store import counters
from tests.unit.concurrent_removal import set_during_removal

URL = "https://evaluator.test/score"


def test_nothing_is_set_at_first() -> None:
    assert evaluation_settings.workspace_grader_config("acme") == GraderConfig()


def test_omitted_fields_stay_and_none_unsets() -> None:
    evaluation_settings.update_settings("acme", {"judge_model": "sim/contrarian", "persona_model": "sim/bold"})
    evaluation_settings.update_settings(
        "acme", {"persona_model": None, "embedding_model": "openai/text-embedding-3-small"}
    )
    assert evaluation_settings.workspace_grader_config("acme") == GraderConfig(
        "sim/contrarian", None, "openai/text-embedding-3-small"
    )


def test_each_model_of_an_unknown_provider_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        evaluation_settings.update_settings("acme", {"judge_model": "x", "embedding_model": "nobody/y"})
    assert [error.field for error in refused.value.errors] == ["judgeModel", "embeddingModel"]


def test_a_simulated_model_that_does_not_exist_grades_nothing() -> None:
    with pytest.raises(Invalid) as refused:
        evaluation_settings.update_settings("acme", {"judge_model": "sim/stedy", "analysis_model": "sim/bolt"})
    assert [(error.field, "did you mean sim/" in error.message) for error in refused.value.errors] == [
        ("judgeModel", True),
        ("analysisModel", True),
    ]


def test_the_evaluators_headers_are_read_by_version() -> None:
    before = evaluation_settings.update_settings(
        "acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "old"})}
    ).grader_config
    after = evaluation_settings.update_settings(
        "acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "new"})}
    ).grader_config
    assert evaluation_settings.evaluator_headers("acme", before) == {"X-Key": "old"}
    assert evaluation_settings.evaluator_headers("acme", after) == {"X-Key": "new"}


def test_only_the_names_of_the_evaluators_headers_are_readable() -> None:
    evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "s3cret"})})
    assert evaluation_settings.get_settings("acme").header_names == ("X-Key",)
    assert "s3cret" not in str(evaluation_settings.get_settings("acme"))


def test_the_same_address_keeps_the_evaluators_headers() -> None:
    evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "x"})})
    after = evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(f"{URL}/")})
    assert after.header_names == ("X-Key",)


@pytest.mark.parametrize("url", ["https://elsewhere.test/score", f"{URL}/v2", URL.replace("https", "http")])
def test_another_address_needs_the_evaluators_headers_again(url: str) -> None:
    evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "x"})})
    with pytest.raises(Invalid, match=r"evaluator\.headers: must be set again"):
        evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(url)})


def test_an_evaluator_that_is_unset_takes_its_headers_along() -> None:
    before = evaluation_settings.update_settings(
        "acme", {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "x"})}
    ).grader_config
    assert evaluation_settings.update_settings("acme", {"evaluator": None}) == EvaluationSettings(
        GraderConfig(), (), revision=2
    )
    with pytest.raises(NotFound):
        evaluation_settings.evaluator_headers("acme", before)


def test_headers_that_are_set_during_their_removal_are_removed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with_headers: SettingsChanges = {"evaluator": EvaluatorEndpoint(URL, {"X-Key": "x"})}
    evaluation_settings.update_settings("acme", with_headers)
    set_during_removal(monkeypatch, lambda: evaluation_settings.update_settings("acme", with_headers))
    after = evaluation_settings.update_settings("acme", {"evaluator": EvaluatorEndpoint(URL, {})})
    assert after == evaluation_settings.get_settings("acme")
    assert (after.header_names, after.grader_config.evaluator_headers_version) == ((), None)


def test_headers_of_the_workspaces_evaluator_do_not_go_to_an_evals_own() -> None:
    of_workspace = GraderConfig("sim/contrarian", evaluator_url=URL, evaluator_headers_version="v1")
    merged = GraderConfig(evaluator_url="https://elsewhere.test").with_defaults(of_workspace)
    assert (merged.judge_model, merged.evaluator_headers_version) == ("sim/contrarian", None)
    assert GraderConfig("sim/bold").with_defaults(of_workspace).evaluator_headers_version == "v1"


def test_executions_are_counted_per_workspace() -> None:
    assert [counters.next_execution_id(each) for each in ("acme", "acme", "other", "acme")] == [1, 2, 1, 3]
