"""With what a workspace's runs are evaluated unless the run or its eval says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.resources import headers as secret_headers
from cupel_core.resources.references import evaluation_errors, refusal
from cupel_core.store import evaluation_settings

_OWNER = "evaluator"
_MODELS = ("judge_model", "persona_model", "embedding_model")


@dataclass(frozen=True)
class Evaluator:
    """Who is asked outside; without headers, those that are stored stay."""

    url: str
    headers: Mapping[str, str] | None = field(default=None, repr=False)


class SettingsChanges(TypedDict, total=False):
    """What is to be changed; what is left out stays, and None unsets it."""

    judge_model: str | None
    persona_model: str | None
    embedding_model: str | None
    evaluator: Evaluator | None


@dataclass(frozen=True)
class EvaluationSettings:
    """Of the evaluator's headers only the names are told."""

    evaluation: Evaluation
    header_names: tuple[str, ...]


def evaluation_of(workspace: str) -> Evaluation:
    return read(workspace).evaluation


def evaluator_headers(workspace: str, evaluation: Evaluation) -> Mapping[str, str]:
    """The values at the evaluation's version of them, also when they were set anew since."""
    return secret_headers.read(workspace, _OWNER, evaluation.evaluator_headers_version)


def read(workspace: str) -> EvaluationSettings:
    return EvaluationSettings(*evaluation_settings.get(workspace))


def configure(workspace: str, changes: SettingsChanges) -> EvaluationSettings:
    """Invalid names each model whose provider is not known."""
    stated: Mapping[str, Any] = changes
    given = {name: stated[name] for name in _MODELS if name in stated}
    errors = list(evaluation_errors(Evaluation(**given)))
    if errors:
        raise refusal(errors)
    before = read(workspace)
    if "evaluator" in changes:
        given |= _evaluator(workspace, before, changes["evaluator"])
    evaluation_settings.change(workspace, given)
    after = read(workspace)
    if before.header_names and not after.header_names:
        secret_headers.forget(workspace, _OWNER)
    return after


def _evaluator(workspace: str, before: EvaluationSettings, wanted: Evaluator | None) -> dict[str, Any]:
    if wanted is not None and wanted.headers is None:
        if before.header_names:
            secret_headers.check_move("evaluator.headers", before.evaluation.evaluator_url or "", wanted.url)
        return {"evaluator_url": wanted.url}
    stored = secret_headers.keep(workspace, _OWNER, (wanted and wanted.headers) or {})
    return {
        "evaluator_url": wanted and wanted.url,
        "evaluator_headers_version": stored["headersVersion"],
        "evaluator_header_names": stored["headerNames"] or None,
    }
