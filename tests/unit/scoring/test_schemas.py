"""JSON schemas as AJV validates them: formats, `nullable` and patterns with the flag u."""

from typing import Any

import pytest

from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.schemas import violation


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("uri", "http://a/b?c#d", "http://a b"),
        ("uri", "urn:a:b", "/a/b"),
        ("uri", "http://[::1]:80/", "http://[::g]/"),
        ("uri-reference", "/a/b", "a b"),
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "12:00:00Z", "12:00:00"),
        ("time", "23:59:60Z", "22:59:60Z"),
        ("date-time", "2024-01-01t00:00:00.5+01:00", "2024-01-01T00:00:00"),
        ("iso-time", "12:00:00", "24:00:00"),
        ("duration", "P1DT2H", "PT"),
        ("email", "a.b@c.de", "a..b@c.de"),
        ("hostname", "a.b-c.d", "-a.b"),
        ("ipv4", "1.2.3.4", "01.2.3.4"),
        ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
        ("uuid", "00000000-0000-0000-0000-000000000000", "zz"),
        ("json-pointer", "/a/~0", "/a/~2"),
        ("regex", r"^\p$", "("),
        ("byte", "YWI=", "YW="),
        ("int32", 1.0, 2**31),
    ],
)
def test_formats_are_checked(name: str, valid: Any, invalid: Any) -> None:
    assert violation({"format": name}, valid) is None
    assert violation({"format": name}, invalid) is not None


def test_other_formats_and_types_are_not_checked() -> None:
    assert violation({"format": "color"}, "x") is None
    assert violation({"format": "uri"}, 1) is None


def test_nullable_allows_null_beside_a_type() -> None:
    assert violation({"type": "string", "nullable": True}, None) is None
    assert violation({"type": "string", "nullable": True}, 1) is not None
    assert violation({"type": "string", "nullable": False}, None) is not None
    assert violation({"type": "string", "nullable": True, "enum": ["a"]}, None) is not None


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        (r"^\p{L}+$", "Ünï", "a1"),
        (r"^.$", "\U0001f600", "ab"),
        (r"^\S+$", "a", "a\u00a0b"),
        (r"^[\w\-]+$", "a-b", "é"),
        (r"^a\-b$", "a-b", "ab"),
    ],
)
def test_patterns_are_those_of_javascript(pattern: str, valid: str, invalid: str) -> None:
    assert violation({"pattern": pattern}, valid) is None
    assert violation({"pattern": pattern}, invalid) is not None
    names = {"patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    assert violation(names, {valid: 1}) is None
    assert violation(names, {valid: "x"}) is not None
    assert violation(names, {invalid: 1}) is not None
    assert violation(names | {"additionalProperties": {"type": "null"}}, {invalid: None}) is None


def test_an_invalid_pattern_is_an_error() -> None:
    with pytest.raises(NotComputable, match="not a regular expression"):
        violation({"pattern": "(?P<a>b)"}, "x")
