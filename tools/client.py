"""`python -m tools.client --update`: write the Python client's methods; without the option, compare them.

Every operation of the HTTP API becomes a method of `cupel/operation_methods.py`, unless `cupel/client.py` defines it.
"""

import argparse
import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent, wrap
from typing import Any, get_args, get_origin

from cupel_core.contract.operation import Operation, Revalidated, Tagged
from cupel_core.contract.query import Parameter, parameter_of
from cupel_core.interfaces.http.operations import name_of
from cupel_core.interfaces.routes import load_all

_PACKAGE = Path(__file__).parents[1] / "cupel"
FILE = _PACKAGE / "operation_methods.py"
_HEAD = '''"""A method for each operation of the HTTP API, as `python -m tools.client --update` writes them."""

from cupel.json_types import Json, TaggedJson
from cupel.pages import Pages
from cupel.transport import Transport, segment


class OperationMethods(Transport):
    """The methods whose parameters are those of their operations; `Client` adds the others."""
'''
_BODIES = {
    "create_branch": "fork",
    "create_comparison": "body",
    "create_eval": "body",
    "create_rescore": "overrides",
    "create_run": "specification",
    "estimate_run": "specification",
    "fork_definition": "changes",
    "generate_persona_message": "conversation",
    "generate_scenarios": "generation",
    "import_promptfoo": "body",
    "import_scenarios": "body",
    "plan_comparison": "request",
    "rerun_run": "overrides",
    "update_message": "change",
}
"""Maps methods to published names of bodies that do not follow from the name of their operation."""
_TEXT_WIDTH = 112
_USUAL_PAGE_SIZE = 100


def render() -> str:
    own = _methods_of((_PACKAGE / "client.py").read_text())
    operations = (each for each in load_all() if not each.is_of_openai and each.function.__name__ not in own)
    ordered = sorted(operations, key=lambda each: (each.tag, each.path, each.method))
    return _format(_HEAD + "".join(f"\n{indent(_method(each), '    ')}" for each in ordered))


def _methods_of(source: str) -> set[str]:
    return {each.name for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)}


def _format(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(FILE), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout  # noqa: S603


def _method(operation: Operation) -> str:
    arguments = ", ".join(_arguments(operation))
    return (
        f"def {operation.function.__name__}({arguments}) -> {_returns(operation)}:\n"
        f'    """{_docstring(operation)}"""\n'
        f"    {_statement(operation)}\n"
    )


def _arguments(operation: Operation) -> Iterator[str]:
    """Yield required arguments by position, then the body, then optional arguments by name."""
    yield "self"
    query = list(_query(operation))
    yield from (f"{name}: str" for name in operation.path_names)
    yield from (f"{each.name}: {_type(each)}" for each, _ in query if each.default is each.empty)
    if operation.body:
        is_optional = _body_default(operation) is not inspect.Parameter.empty
        yield f"{_body_name(operation)}: {'Json | None = None' if is_optional else 'Json'}"
    optional = [_optional(each) for each, _ in query if each.default is not each.empty]
    if operation.if_match:
        optional.append("if_match: str | None = None")
    yield from ("*", *optional) if optional else ()


def _optional(argument: inspect.Parameter) -> str:
    if type(argument.default) is int:
        return f"{argument.name}: int = {argument.default}"
    return f"{argument.name}: {_type(argument)} | None = None"


def _query(operation: Operation) -> Iterator[tuple[inspect.Parameter, Parameter]]:
    """Yield the arguments in the query, except those with which `Pages` reads a list."""
    for each in operation.arguments:
        parameter = parameter_of(each.annotation)
        if parameter and not parameter.is_header and not (_is_paged(operation) and each.name in ("limit", "cursor")):
            yield each, parameter


def _type(argument: inspect.Parameter) -> str:
    kind = get_args(argument.annotation)[0]
    choices = [each for each in (get_args(kind) or (kind,)) if each is not type(None)]
    if get_origin(kind) is Sequence:
        return "list[int]" if choices == [int] else "list[str]"
    return {int: "int", float: "float", bool: "bool"}.get(choices[0], "str")


def _is_paged(operation: Operation) -> bool:
    return any(each.name == "cursor" for each in operation.arguments)


def _is_whole_list(operation: Operation) -> bool:
    return operation.is_read and operation.function.__name__.startswith("list_") and not _is_paged(operation)


def _body_name(operation: Operation) -> str:
    name = operation.function.__name__
    verb, _, thing = name.partition("_")
    usual = "options" if _body_default(operation) is not inspect.Parameter.empty else thing
    return _BODIES.get(name) or ("changes" if verb == "update" else usual)


def _body_default(operation: Operation) -> Any:
    return next(each.default for each in operation.arguments if each.name == "body")


def _returns(operation: Operation) -> str:
    if operation.response is None:
        return "None"
    if _is_paged(operation):
        return "Pages"
    if _is_whole_list(operation):
        return "list[Json]"
    has_tag = get_origin(operation.types["return"]) in (Tagged, Revalidated)
    return "TaggedJson" if has_tag else "Json"


def _docstring(operation: Operation) -> str:
    """Return the summary and the description; a quotation mark at the end would end the docstring."""
    paragraphs = [f"{operation.summary}.", *(operation.description or "").split("\n")]
    lines = "\n\n".join("\n".join(wrap(each, _TEXT_WIDTH)) for each in paragraphs if each)
    return lines if "\n" not in lines else f"{indent(lines, '    ').strip()}\n    "


def _statement(operation: Operation) -> str:
    path = operation.path.removeprefix("/v1")
    for name in operation.path_names:
        path = path.replace(f"{{{name}}}", f"{{segment({name})}}")
    address = f'{"f" if operation.path_names else ""}"{path}"'
    sent = [f"{name_of(operation, each, parameter)}={each.name}" for each, parameter in _query(operation)]
    if _is_paged(operation):
        size = _page_size(operation)
        return f"return self._pages({', '.join([address, *([f'page_size={size}'] if size else []), *sent])})"
    if operation.is_read:
        read = f"self._get({', '.join([address, *sent])})"
        return f'return list({read}["items"])' if _is_whole_list(operation) else f"return {read}"
    options = [f'"{operation.method}"', address]
    if operation.body:
        is_optional = _body_default(operation) is not inspect.Parameter.empty
        options.append(f"{_body_name(operation)}{' or {}' if is_optional else ''}")
    options += ["has_key=True"] if operation.replay else []
    options += ["is_repeatable=True"] if operation.is_repeatable else []
    options += ["if_match=if_match"] if operation.if_match else []
    options += sent
    return f"{'' if operation.response is None else 'return '}self._send({', '.join(options)})"


def _page_size(operation: Operation) -> int | None:
    """Return the largest limit of a list, if it is not the usual one."""
    limits = (parameter_of(each.annotation) for each in operation.arguments if each.name == "limit")
    size = next((each.constraints["le"] for each in limits if each), _USUAL_PAGE_SIZE)
    return None if size == _USUAL_PAGE_SIZE else int(size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the methods")
    if parser.parse_args().update:
        FILE.write_text(render())
    elif FILE.read_text() != render():
        sys.exit("the client's methods are old: python -m tools.client --update")


if __name__ == "__main__":
    main()
