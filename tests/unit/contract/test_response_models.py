"""Responses read the attributes of the values that they describe."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import Field, ValidationError

from cupel_core import contract
from cupel_core.contract.common import ResponseModel, read_from


class Money(NamedTuple):
    nano_usd: int


class MoneyResponse(ResponseModel):
    nano_usd: int


@dataclass(frozen=True)
class Bill:
    number: int
    parts: tuple[Money, ...]
    notes: MappingProxyType[str, Any]
    payer_name: str
    refund: Money | None = None

    @property
    def total(self) -> Money:
        return Money(sum(each.nano_usd for each in self.parts))


class BillResponse(ResponseModel):
    number: int
    parts: list[MoneyResponse]
    notes: dict[str, Any]
    total: MoneyResponse
    payer: Annotated[str, read_from("payer_name")]
    refunded_nano_usd: Annotated[int | None, Field(description="Null without a refund"), read_from("refund.nano_usd")]


class RefundedBillResponse(ResponseModel):
    refunded_nano_usd: Annotated[int | None, read_from("refund.nano_usd")] = None


BILL = Bill(7, (Money(1), Money(2)), MappingProxyType({"a": [1]}), "Ann", Money(5))


def test_a_response_has_the_attributes_of_a_value_and_of_the_values_in_it() -> None:
    assert BillResponse.from_value(BILL).model_dump(by_alias=True) == {
        "number": 7,
        "parts": [{"nanoUsd": 1}, {"nanoUsd": 2}],
        "notes": {"a": [1]},
        "total": {"nanoUsd": 3},
        "payer": "Ann",
        "refundedNanoUsd": 5,
    }


def test_further_attributes_take_precedence_over_those_of_the_value() -> None:
    response = BillResponse.from_value(BILL, number=8, refund=Money(9))

    assert (response.number, response.refunded_nano_usd, response.payer) == (8, 9, "Ann")


def test_a_field_below_an_attribute_that_is_none_has_its_default() -> None:
    assert RefundedBillResponse.from_value(Bill(1, (), MappingProxyType({}), "Ann")).refunded_nano_usd is None


def test_an_attribute_that_neither_the_value_nor_the_caller_has_is_an_error() -> None:
    with pytest.raises(ValidationError, match="payer_name"):
        BillResponse.from_value(object(), number=1, parts=(), notes={}, total=Money(0), refund=Money(0))


def test_a_response_is_still_made_of_its_fields() -> None:
    total = MoneyResponse(nano_usd=0)

    assert BillResponse(number=1, parts=[], notes={}, total=total, payer="Ann", refunded_nano_usd=None).payer == "Ann"


def test_a_response_is_read_again_from_its_json():
    written = MoneyResponse(nano_usd=5).model_dump_json(by_alias=True)

    assert written == '{"nanoUsd":5}'
    assert MoneyResponse.model_validate_json(written) == MoneyResponse(nano_usd=5)


def _responses(model: type[ResponseModel] = ResponseModel) -> Iterator[type[ResponseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _responses(each)


def test_a_field_that_is_declared_again_is_read_from_the_same_attribute() -> None:
    for module in iter_modules(contract.__path__):
        import_module(f"{contract.__name__}.{module.name}")
    declared_again = [
        f"{model.__name__}.{name}"
        for model in _responses()
        if model.__module__.startswith(contract.__name__)
        for base in model.__mro__[1:]
        if issubclass(base, ResponseModel)
        for name, field in base.model_fields.items()
        if model.model_fields[name].validation_alias != field.validation_alias
    ]
    assert declared_again == []
