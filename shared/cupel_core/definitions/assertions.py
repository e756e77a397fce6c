from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cupel_core.base.errors import FieldError
from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS, assertion_issues
from cupel_core.domain.scoring.assertions import NOT
from cupel_core.providers import chat_model_error, model_name_error


def assertion_errors(
    assertions: Sequence[Mapping[str, Any]], field: str, *, allow_code: bool = False
) -> tuple[FieldError, ...]:
    """Return everything invalid about the assertions. `field` is the name of the list, such as `items.3.assertions`."""
    errors = tuple(FieldError(*issue) for issue in assertion_issues(list(assertions), field, allow_code=allow_code))
    return errors or tuple(_provider_errors(assertions, field))


def _provider_errors(assertions: Sequence[Mapping[str, Any]], field: str) -> Iterator[FieldError]:
    for number, assertion in enumerate(assertions):
        model = assertion.get("provider")
        if model is not None and (error := _model_error(assertion, model)):
            yield FieldError(f"{field}.{number}.provider", error)
        yield from _provider_errors(assertion.get("assert") or (), f"{field}.{number}.assert")


def _model_error(assertion: Mapping[str, Any], model: str) -> str | None:
    """Return the error of a model that judges, or makes the vectors of an assertion that compares meanings."""
    kind = ASSERTION_KINDS.get(str(assertion["type"]).removeprefix(NOT))
    return chat_model_error(model) if kind and kind.needs_judge else model_name_error(model)
