"""Serves OpenAI's Models: the models of all providers that Cupel knows. Runs accept others, too."""

from typing import Any
from urllib.parse import unquote

from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import NotFound
from cupel_core.contract.operation import (
    VIEWER,
    Call,
    operation,
)
from cupel_core.domain.openai_evals.models import from_target, to_target
from cupel_core.domain.resources.providers import ModelView


@operation("GET /openai/v1/models", "List models", role=VIEWER, returns="The models")
def list_openai_models(call: Call) -> dict[str, Any]:
    return {"object": "list", "data": [_document(model) for model in accounts.list_models(call.workspace)]}


@operation("GET /openai/v1/models/{model}", "Get a model", role=VIEWER, returns="The model")
def get_openai_model(call: Call, model: str) -> dict[str, Any]:
    return _get(call, unquote(model))


@operation(
    "GET /openai/v1/models/{provider}/{name}",
    "Get a model whose name has its provider",
    role=VIEWER,
    returns="The model",
)
def get_openai_model_of_provider(call: Call, provider: str, name: str) -> dict[str, Any]:
    return _get(call, unquote(f"{provider}/{name}"))


def _get(call: Call, name: str) -> dict[str, Any]:
    found = (model for model in accounts.list_models(call.workspace) if model.id == to_target(name))
    model = next(found, None)
    if model is None:
        raise NotFound(f"there is no known model {name}")
    return _document(model)


def _document(model: ModelView) -> dict[str, Any]:
    return {"id": from_target(model.id), "object": "model", "created": 0, "owned_by": model.provider.name}
