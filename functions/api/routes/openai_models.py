"""OpenAI's Models: the models of all providers that Cupel knows. Runs accept others, too."""

from typing import Any
from urllib.parse import unquote

from api.routing import OpenAIRouter
from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import NotFound
from cupel_core.domain.openai_evals.models import from_target, to_target
from cupel_core.domain.resources.providers import ModelView

router = OpenAIRouter()


@router.operation("listOpenAIModels")
def list_models() -> dict[str, Any]:
    return {"object": "list", "data": [_document(model) for model in accounts.list_models(router.workspace)]}


@router.operation("getOpenAIModel")
def get_model(model: str) -> dict[str, Any]:
    return _get(unquote(model))


@router.operation("getOpenAIModelOfProvider")
def get_model_of_provider(provider: str, name: str) -> dict[str, Any]:
    return _get(unquote(f"{provider}/{name}"))


def _get(name: str) -> dict[str, Any]:
    found = (model for model in accounts.list_models(router.workspace) if model.id == to_target(name))
    model = next(found, None)
    if model is None:
        raise NotFound(f"there is no known model {name}")
    return _document(model)


def _document(model: ModelView) -> dict[str, Any]:
    return {"id": from_target(model.id), "object": "model", "created": 0, "owned_by": model.provider.name}
