"""Validation of the models that grade."""

from collections.abc import Iterator

from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.errors import FieldError
from cupel_core.providers import model_name_error

_MODELS = {"judge_model": "judgeModel", "persona_model": "personaModel", "embedding_model": "embeddingModel"}


def grader_config_errors(grader_config: GraderConfig) -> Iterator[FieldError]:
    for name, field in _MODELS.items():
        model: str | None = getattr(grader_config, name)
        if model is not None and (error := model_name_error(model)):
            yield FieldError(field, error)
