"""A decorator checks many cheap cases in one test, because a test of its own costs more than such a check."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

type Check = Callable[..., Awaitable[None] | None]


def in_one_test(
    names: str | Sequence[str], cases: Iterable[Any], ids: Iterable[object] | Callable[[Any], object] | None = None
) -> Callable[[Check], Check]:
    """Run all cases of a test function in one test. It takes the arguments of `pytest.mark.parametrize`.

    Every case is run, and the failure names each case that failed. The cases share the fixtures of the test.
    """
    arguments = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
    listed = [*cases]
    named = [*map(ids or _name, listed)] if ids is None or callable(ids) else [*ids]
    assert listed
    assert len(named) == len(listed)

    def decorate(check: Check) -> Check:
        @wraps(check)
        def test(**fixtures: Any) -> None:
            with _all(named) as attempt:
                for name, case in zip(named, listed, strict=True):
                    with attempt(name):
                        check(**fixtures, **_values(case))

        @wraps(check)
        async def async_test(**fixtures: Any) -> None:
            with _all(named) as attempt:
                for name, case in zip(named, listed, strict=True):
                    with attempt(name):
                        await check(**fixtures, **_values(case))  # type: ignore[misc]

        signature = inspect.signature(check)
        assert set(arguments) <= set(signature.parameters)
        made: Any = async_test if inspect.iscoroutinefunction(check) else test
        left = [each for name, each in signature.parameters.items() if name not in arguments]
        made.__signature__ = signature.replace(parameters=left)
        return made  # type: ignore[no-any-return]

    def _values(case: Any) -> dict[str, Any]:
        if isinstance(case, ParameterSet):
            assert not case.marks
            case = case.values[0] if len(arguments) == 1 else case.values
        return dict(zip(arguments, (case,) if len(arguments) == 1 else case, strict=True))

    return decorate


def _name(case: Any) -> object:
    return case.id if isinstance(case, ParameterSet) else repr(case)


@contextmanager
def _all(names: Sequence[object]) -> Iterator[Any]:
    failures: list[str] = []

    @contextmanager
    def attempt(name: object) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - the other cases follow
            failures.append(f"{name}: {type(error).__name__}: {error}")

    yield attempt
    if failures:
        pytest.fail(f"{len(failures)} of {len(names)} cases:\n\n" + "\n\n".join(failures))
