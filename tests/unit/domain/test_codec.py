import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.comparison_requests import ComparisonSpec
from cupel_core.domain.analysis.experiments import ExperimentDesign
from cupel_core.domain.codec import INLINE, ROW, WRITTEN, Imported, JsonName, decode, decode_all, encode
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.reports.trials import Trial
from cupel_core.domain.runs.run import Progress, RunFailure, StartedBy
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.scoring.selections import Selection


class Shade(StrEnum):
    DARK = "dark"
    LIGHT = "light"


class Size(NamedTuple):
    width: int
    height: int = 1


@dataclass(frozen=True)
class Point:
    x_offset: int = 0
    y_offset: int = 0


@dataclass(frozen=True)
class Shape:
    kind: Annotated[str, JsonName("type")]
    shade: Shade | None = None
    size: Annotated[Size, ROW] = Size(1)  # noqa: RUF009 - it never changes
    place: Annotated[Point, INLINE] = Point()
    weight: Annotated[float, WRITTEN] = 1.0
    parts: tuple["Shape", ...] = ()
    sizes: Mapping[str, Annotated[Size, ROW]] = field(default_factory=dict)
    counts: Mapping[int, int] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    shades: frozenset[Shade] = frozenset()
    by_shade: Mapping[Shade, Point] = field(default_factory=dict)
    pair: tuple[Shade, int] | None = None
    drawn_at: datetime | None = None
    day: date | None = None
    note: str | None = "none"
    anything: Any = None


class Text:
    def __init__(self, text: str) -> None:
        self.text = text

    def to_json(self) -> str:
        return self.text

    @classmethod
    def from_json(cls, data: str) -> "Text":
        return cls(data)


@dataclass(frozen=True)
class Letter:
    body: Text
    place: Annotated[Any, Imported("cupel_core.domain.runs.run", "RunFailure")] | None = None


@dataclass(frozen=True)
class Ambiguous:
    value: Point | Size


FULL = Shape(
    "square",
    Shade.DARK,
    Size(2, 3),
    Point(4),
    0.5,
    (Shape("dot"),),
    {"small": Size(1, 2)},
    {7: 8},
    Counter({"a": 2}),
    frozenset({Shade.LIGHT, Shade.DARK}),
    {Shade.LIGHT: Point(y_offset=5)},
    (Shade.LIGHT, 6),
    datetime(2026, 11, 30, 7, 5, 1, 250_000, tzinfo=UTC),
    date(2026, 11, 30),
    None,
    {"any": [1]},
)


def test_each_kind_of_field_has_its_json() -> None:
    assert encode(FULL) == {
        "type": "square",
        "shade": "dark",
        "size": [2, 3],
        "xOffset": 4,
        "weight": 0.5,
        "parts": [{"type": "dot", "weight": 1.0}],
        "sizes": {"small": [1, 2]},
        "counts": {"7": 8},
        "words": {"a": 2},
        "shades": ["dark", "light"],
        "byShade": {"light": {"yOffset": 5}},
        "pair": ["light", 6],
        "drawnAt": "2026-11-30T07:05:01.250Z",
        "day": "2026-11-30",
        "note": None,
        "anything": {"any": [1]},
    }


def test_a_value_is_read_back_from_its_json() -> None:
    read = decode(Shape, json.loads(json.dumps(encode(FULL))))
    assert read == FULL
    assert isinstance(read.words, Counter)


def test_fields_with_their_defaults_are_left_out_and_read_as_the_defaults() -> None:
    assert encode(Shape("dot")) == {"type": "dot", "weight": 1.0}
    assert decode(Shape, {"type": "dot"}) == Shape("dot")


def test_null_is_read_as_the_default_of_a_field_that_cannot_be_none() -> None:
    read = decode(Shape, {"type": "dot", "parts": None, "weight": None, "note": None})
    assert read == Shape("dot", note=None)


def test_unknown_names_are_ignored() -> None:
    assert decode(Point, {"xOffset": 1, "zOffset": 2}) == Point(1)


def test_a_required_field_that_is_absent_is_an_error() -> None:
    with pytest.raises(TypeError, match="kind"):
        decode(Shape, {"weight": 2.0})


def test_a_list_of_values_is_read_in_order() -> None:
    assert decode_all(Point, [{"xOffset": 1}, {}]) == (Point(1), Point())


def test_a_class_with_json_of_its_own_keeps_it_and_a_late_class_is_imported() -> None:
    letter = Letter(Text("hello"), RunFailure("probing", "no disk"))
    assert encode(letter) == {"body": "hello", "place": {"where": "probing", "why": "no disk"}}
    read = decode(Letter, encode(letter))
    assert (read.body.text, read.place) == ("hello", letter.place)


def test_a_field_of_several_classes_needs_json_of_its_own() -> None:
    with pytest.raises(TypeError, match="define to_json and from_json"):
        encode(Ambiguous(Point()))


STORED = (
    ComparisonSpec,
    ExperimentDesign,
    Manifest,
    Trial,
    Progress,
    StartedBy,
    RunSpend,
    Selection,
)
MOMENTS = st.datetimes(min_value=datetime(2020, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001 - aware by timezones
    lambda moment: moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)
)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module", autouse=True)
def typed_values() -> Iterator[None]:
    """Let Hypothesis make values of the classes; the fields of a deferred data class are known once asked for."""
    for cls in object.__subclasses__():
        if cls.__module__.startswith("cupel_core.domain"):
            is_dataclass(cls)
    with temporary_strategies({datetime: MOMENTS, float: NUMBERS}):
        yield


@contextmanager
def temporary_strategies(strategies: Mapping[type, st.SearchStrategy[Any]]) -> Iterator[None]:
    before = {kind: st.from_type(kind) for kind in strategies}
    for kind, strategy in strategies.items():
        st.register_type_strategy(kind, strategy)
    yield
    for kind, strategy in before.items():
        st.register_type_strategy(kind, strategy)


@pytest.mark.parametrize("kind", STORED)
def test_stored_values_are_read_back_from_their_json(kind: type) -> None:
    @given(st.from_type(kind))
    def check(value: Any) -> None:
        assert decode(kind, json.loads(json.dumps(encode(value)))) == value

    check()
