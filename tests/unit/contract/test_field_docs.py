"""Descriptions and examples of fields are the docstrings below them."""

from typing import Annotated

import pytest
from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel
from cupel_core.contract.field_docs import FieldDoc, docs_of, parse

Name = Annotated[str, Field(max_length=9, description="A name")]


class AddressInput(RequestModel):
    """Where a letter goes to."""

    street_name: Name
    """The street and the number. Example: Main Street 5"""
    floor: int | None = None
    zip_code: Name


class HomeAddressInput(AddressInput):
    floor: int | None = None
    """Counted from the ground floor, which is 0."""
    street_name: Name


class AddressResponse(ResponseModel):
    street_name: str
    """The street and the number, which are longer than fits on one
    line.

    Example: "17"
    """
    lines: list[str]
    """Example: ["Main Street 5", "17033 Neubrandenburg"]"""


def test_the_docstring_below_a_field_describes_it() -> None:
    assert docs_of(AddressInput) == {"street_name": FieldDoc("The street and the number", "Main Street 5")}


def test_fields_of_bases_are_described_unless_the_class_declares_them_again() -> None:
    assert docs_of(HomeAddressInput) == {"floor": FieldDoc("Counted from the ground floor, which is 0", None)}


def test_the_annotations_of_a_class_are_not_needed() -> None:
    class Place:
        """Python 3.14 makes the annotations of a class when they are read, and `vars` has none before."""

    Place.__name__, Place.__module__ = "AddressInput", __name__
    assert "__annotations__" not in vars(Place)
    assert docs_of(Place) == docs_of(AddressInput)


@pytest.mark.parametrize(
    ("docstring", "doc"),
    [
        ("Seconds until it ends.", FieldDoc("Seconds until it ends", None)),
        ("Seconds. Null for none.", FieldDoc("Seconds. Null for none", None)),
        ("Example: 4", FieldDoc(None, 4)),
        ('Example: "4"', FieldDoc(None, "4")),
        ("A name.\n\n    Example: late refund", FieldDoc("A name", "late refund")),
        ('Parts.\n\nExample: [{"a": 1,\n    "b": null}]', FieldDoc("Parts", [{"a": 1, "b": None}])),
    ],
)
def test_an_example_is_json_or_a_text(docstring: str, doc: FieldDoc) -> None:
    assert parse(docstring) == doc


def test_a_schema_has_the_docstrings_as_descriptions() -> None:
    properties = AddressInput.model_json_schema()["properties"]

    assert properties["streetName"]["description"] == "The street and the number"
    assert properties["zipCode"]["description"] == "A name"
    assert "description" not in properties["floor"]


def test_a_schema_of_a_response_has_them_too() -> None:
    properties = AddressResponse.model_json_schema(mode="serialization")["properties"]

    assert properties["streetName"]["description"].endswith("longer than fits on one line")
    assert docs_of(AddressResponse)["street_name"].example == "17"
    assert docs_of(AddressResponse)["lines"].example == ["Main Street 5", "17033 Neubrandenburg"]
