import dataclasses
import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, field
from pathlib import Path
from typing import Any

import pydantic
import pytest

import cupel_core
from cupel_core.base.deferred import dataclass, replace


@pytest.fixture(params=[1, 2], ids=["alone", "beside a thread"], autouse=True)
def _threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods are generated in one of two ways."""
    monkeypatch.setattr(threading, "active_count", lambda: request.param)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the classes whose methods were generated, in that order."""
    names: list[str] = []

    def record(cls: type, **options: bool) -> type:
        if cls.__name__ not in names:
            names.append(cls.__name__)
        return original(cls, **options)

    original = dataclasses.dataclass
    monkeypatch.setattr(dataclasses, "dataclass", record)
    return names


def _declare(decorate: Callable[..., Any]) -> tuple[type, type]:
    @decorate(frozen=True)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False, repr=False)

        @functools.cached_property
        def total(self) -> int:
            return self.x + self.y

    @decorate(frozen=True)
    class NamedPoint(Point):
        name: str = "origin"

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("name is empty")

    return Point, NamedPoint


def test_methods_are_generated_with_the_first_object(generated: list[str]) -> None:
    point, named_point = _declare(dataclass)
    assert generated == []
    point(1)
    assert generated == ["Point"]
    named_point(1)
    assert generated == ["Point", "NamedPoint"]


@pytest.mark.parametrize("ask", [dataclasses.fields, dataclasses.is_dataclass, pydantic.TypeAdapter])
def test_methods_are_generated_when_fields_are_asked_for(ask: Callable[[type], object], generated: list[str]) -> None:
    _, named_point = _declare(dataclass)
    ask(named_point)
    assert generated == ["NamedPoint", "Point"]


@pytest.mark.parametrize("index", [0, 1])
def test_objects_behave_as_those_of_dataclasses(index: int) -> None:
    ours, theirs = _declare(dataclass)[index], _declare(dataclasses.dataclass)[index]
    for cls in (ours, theirs):
        assert cls(1) == cls(1, tags=["a"])
        assert cls(1) != cls(2)
        assert hash(cls(1)) == hash(cls(1))
        assert cls(1).total == 3
    assert repr(ours(1, y=5)) == repr(theirs(1, y=5))
    assert dataclasses.asdict(ours(1)) == dataclasses.asdict(theirs(1))
    assert dataclasses.replace(ours(1), x=4) == ours(4)
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]


@pytest.mark.parametrize(("arguments", "values"), [((), {}), ((1, 2, [], "n", 5), {}), ((1,), {"z": 1})])
def test_wrong_arguments_are_reported_as_by_dataclasses(arguments: tuple[Any, ...], values: dict[str, int]) -> None:
    messages = []
    for decorate in (dataclass, dataclasses.dataclass):
        cls = _declare(decorate)[1]
        with pytest.raises(TypeError) as caught:
            cls(*arguments, **values)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_frozen_object_cannot_be_changed() -> None:
    point = _declare(dataclass)[0](1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x


def test_post_init_of_the_first_object_runs() -> None:
    with pytest.raises(ValueError, match="name is empty"):
        _declare(dataclass)[1](1, name="")


def test_a_plain_class_derived_from_a_data_class_may_call_its_init() -> None:
    class Twice(_declare(dataclass)[0]):  # type: ignore[misc]
        def __init__(self, x: int) -> None:
            super().__init__(2 * x)

    assert Twice(3).x == 6
    assert Twice(4).x == 8


def test_a_class_with_its_own_init_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Own has an __init__ of its own: use dataclasses\.dataclass"):

        @dataclass
        class Own:
            def __init__(self) -> None:
                """Takes nothing."""


def test_threads_that_make_the_first_objects_together_all_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    thread_count = 8
    monkeypatch.setattr(threading, "active_count", lambda: thread_count)
    for _ in range(50):
        cls = _declare(dataclass)[1]
        barrier = threading.Barrier(thread_count)
        objects = []

        def make(cls: type = cls, barrier: threading.Barrier = barrier, objects: list[object] = objects) -> None:
            barrier.wait()
            objects.append(cls(1, name="a"))

        threads = [threading.Thread(target=make) for _ in range(thread_count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert objects == [cls(1, name="a")] * thread_count


def test_every_data_class_of_ours_can_be_generated() -> None:
    classes = list(_our_data_classes())
    assert len(classes) > 300
    for cls in classes:
        assert dataclasses.fields(cls) is not None


def _our_data_classes() -> Iterator[type]:
    folder = Path(cupel_core.__path__[0])
    for path in folder.rglob("*.py"):
        module = importlib.import_module(".".join(path.relative_to(folder.parent).with_suffix("").parts))
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__ and dataclasses.is_dataclass(value):
                yield value


def test_replace_gives_a_copy_without_the_values_of_cached_properties() -> None:
    @dataclass(frozen=True)
    class Side:
        length: int
        unit: str = "m"

        @functools.cached_property
        def area(self) -> int:
            return self.length**2

    side = Side(2)
    assert side.area == 4
    longer = replace(side, length=3)
    assert (longer, longer.area) == (Side(3), 9)
    assert (side, side.area) == (Side(2), 4)
    assert replace(longer, unit="km") == Side(3, "km")
    with pytest.raises(TypeError, match=r"Side has no field width"):
        replace(side, width=1)  # type: ignore[call-arg]


def test_replace_refuses_classes_that_set_more_than_they_are_given() -> None:
    @dataclass(frozen=True)
    class Counted:
        name: str
        count: int = field(default=0, init=False)

    @dataclass(frozen=True)
    class Checked:
        name: str

        def __post_init__(self) -> None:
            assert self.name

    for made in (Counted("a"), Checked("a")):
        with pytest.raises(TypeError, match="sets more than it is given"):
            replace(made, name="b")
