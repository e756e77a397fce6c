"""Error details as built by shared/cupel_core/base/errors.py."""

from cupel_core.base.errors import FieldError, Invalid


def test_one_invalid_field_is_named_in_the_detail() -> None:
    error = Invalid.field("models", "must not be empty")
    assert error.detail == "models: must not be empty"
    assert error.errors == (FieldError("models", "must not be empty"),)


def test_the_detail_joins_the_invalid_fields() -> None:
    errors = [FieldError("models.1", "is unknown"), FieldError("repeats", "must be at least 1")]
    error = Invalid.fields(errors)
    assert error.detail == "models.1: is unknown; repeats: must be at least 1"
    assert error.errors == tuple(errors)


def test_the_detail_has_at_most_five_fields_but_the_errors_have_all() -> None:
    errors = [FieldError(f"models.{number}", "is unknown") for number in range(7)]
    error = Invalid.fields(errors)
    assert error.detail.split("; ") == [f"models.{number}: is unknown" for number in range(5)]
    assert error.errors == tuple(errors)


def test_errors_are_renamed_with_their_detail() -> None:
    renamed = Invalid.field("a", "must be a number").with_fields(lambda field: f"run.{field}")
    assert (renamed.detail, [each.field for each in renamed.errors]) == ("run.a: must be a number", ["run.a"])


def test_an_error_of_no_field_keeps_its_detail() -> None:
    assert Invalid("too many").with_fields(str.upper).detail == "too many"
