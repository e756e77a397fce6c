from collections.abc import Iterator

from cupel_core.base.errors import FieldError
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import chat_model_error, model_name_error

_MODELS = {
    "judge_model": ("judgeModel", chat_model_error),
    "persona_model": ("personaModel", chat_model_error),
    "embedding_model": ("embeddingModel", model_name_error),
    "summarizer_model": ("summarizerModel", chat_model_error),
}


def grader_config_errors(grader_config: GraderConfig) -> Iterator[FieldError]:
    for name, (field, find_error) in _MODELS.items():
        model: str | None = getattr(grader_config, name)
        if model is not None and (error := find_error(model)):
            yield FieldError(field, error)
