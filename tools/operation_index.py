"""`python -m tools.operation_index --update`: write the index of operations; without the option, compare it.

The index is committed: it shows every operation with its path and role on one page.
"""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from cupel_core.contract.operation import Operation, operations_of

CORE = Path(__file__).parents[1] / "shared/cupel_core"
FILE = CORE / "interfaces/index.py"
_HEAD = '''"""Every operation with its path and role, as `python -m tools.operation_index --update` writes it."""

from cupel_core.contract.operation import ADMIN, MEMBER, OPERATOR, PUBLIC, VIEWER
from cupel_core.contract.routes import Route

# fmt: off
INDEX = (
'''


def find_operations() -> Iterator[Operation]:
    """Yield the operations of all modules that declare any, by path and method."""
    found = [each for module in _modules() for each in operations_of(import_module(module))]
    yield from sorted(found, key=lambda each: (each.path, each.method))


def _modules() -> Iterator[str]:
    for path in sorted(CORE.rglob("*.py")):
        if "import" in (text := path.read_text()) and "\n@operation(" in text:
            yield ".".join(path.relative_to(CORE.parent).with_suffix("").parts)


def render() -> str:
    return _HEAD + "".join(map(_line, find_operations())) + ")\n"


def _line(each: Operation) -> str:
    role = each.minimum_role.name if each.minimum_role else "PUBLIC"
    labellers = ", is_for_labellers=True" if each.is_for_labellers else ""
    return f'    Route("{each.id}", "{each.method}", "{each.path}", {role}, "{each.module}"{labellers}),\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the index")
    if parser.parse_args().update:
        FILE.write_text(render())
    elif FILE.read_text() != render():
        sys.exit("the index of operations is old: python -m tools.operation_index --update")


if __name__ == "__main__":
    main()
