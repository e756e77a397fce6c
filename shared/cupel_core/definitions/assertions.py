"""What is wrong with the assertions of a scenario or a definition, as the author wrote them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.domain.scoring.assertion_rules import complaints
from cupel_core.errors import FieldError, Invalid
from cupel_core.providers import provider_of


def errors_of(assertions: Sequence[Mapping[str, Any]], field: str) -> tuple[FieldError, ...]:
    """Empty when there is nothing wrong; `field` is what the list is called, such as `items.3.assertions`."""
    wrong = tuple(FieldError(*complaint) for complaint in complaints(list(assertions), field))
    return wrong or tuple(_unknown_providers(assertions, field))


def _unknown_providers(assertions: Sequence[Mapping[str, Any]], field: str) -> Iterator[FieldError]:
    for number, assertion in enumerate(assertions):
        if (model := assertion.get("provider")) is not None:
            yield from _unknown_provider(f"{field}.{number}.provider", model)
        yield from _unknown_providers(assertion.get("assert") or (), f"{field}.{number}.assert")


def _unknown_provider(field: str, model: str) -> Iterator[FieldError]:
    try:
        provider = provider_of(model, field)
    except Invalid as invalid:
        yield from invalid.errors
        return
    if provider.name == CONNECTOR:
        yield FieldError(field, "must be a model; a connector is no model")
