"""Reads import graphs of Python and TypeScript sources with `ast` and regular expressions; nothing is imported."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class ImportKind(StrEnum):
    START = "start"
    LATER = "later"
    TYPES = "types"
    """An import below `if TYPE_CHECKING`, or an `import type` of TypeScript."""


class Import(NamedTuple):
    source: str
    target: str
    kind: ImportKind


type Graph = Mapping[str, Iterable[str]]


def python_modules(root: Path, folders: Iterable[str]) -> dict[str, Path]:
    """Return the modules below the folders by name; `folder` itself is on Python's path and part of no name."""
    return {
        ".".join(path.relative_to(root / folder).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    }


def python_imports(modules: Mapping[str, Path]) -> Iterator[Import]:
    """Yield the imports between the modules, each once per kind."""
    for name, path in modules.items():
        is_package = path.name == "__init__.py"
        found = _statements(ast.parse(path.read_text(), str(path)), ImportKind.START)
        targets = ((target, kind) for node, kind in found for target in _targets(node, name, is_package, modules))
        yield from (Import(name, target, kind) for target, kind in dict.fromkeys(targets) if target != name)


def _statements(node: ast.AST, kind: ImportKind) -> Iterator[tuple[ast.Import | ast.ImportFrom, ImportKind]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, kind
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        kind = ImportKind.LATER
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for each in node.body:
            yield from _statements(each, ImportKind.TYPES)
        for each in node.orelse:
            yield from _statements(each, kind)
        return
    for child in ast.iter_child_nodes(node):
        yield from _statements(child, kind)


def _targets(
    node: ast.Import | ast.ImportFrom, module: str, is_package: bool, modules: Mapping[str, Path]
) -> Iterator[str]:
    """Yield the modules that a statement imports; `from a import b` imports the module `a.b` if there is one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
        return
    base = node.module or ""
    if node.level:
        parts = module.split(".")
        above = parts[: len(parts) - node.level + is_package]
        base = ".".join([*above, *filter(None, [node.module])])
    for alias in node.names:
        for candidate in (f"{base}.{alias.name}", base):
            if candidate in modules:
                yield candidate
                break


_TYPESCRIPT_IMPORT = re.compile(r"""^\s*(?:import|export)\s+(type\s)?[^;"']*?from\s+["'](\.[^"']+)["']""", re.MULTILINE)
_BARE_IMPORT = re.compile(r"""\bimport\s*(\()?\s*["'](\.[^"']+)["']""")
_SUFFIXES = ("", ".ts", ".tsx", "/index.ts", "/index.tsx")


def typescript_imports(folder: Path) -> Iterator[Import]:
    """Yield the imports between the files below a folder, named by their path in it."""
    for path in typescript_files(folder):
        for target, kind in dict.fromkeys(_typescript_targets(path.read_text())):
            if found := _resolve(path.parent / target):
                yield Import(str(path.relative_to(folder)), str(found.relative_to(folder.resolve())), kind)


def typescript_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".ts", ".tsx"))


def _typescript_targets(text: str) -> Iterator[tuple[str, ImportKind]]:
    for types, target in _TYPESCRIPT_IMPORT.findall(text):
        yield target, ImportKind.TYPES if types else ImportKind.START
    for call, target in _BARE_IMPORT.findall(text):
        yield target, ImportKind.LATER if call else ImportKind.START


def _resolve(target: Path) -> Path | None:
    candidates = (Path(f"{target}{suffix}") for suffix in _SUFFIXES)
    return next((path.resolve() for path in candidates if path.is_file()), None)


def cycles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of more than one node, each sorted, the largest first.

    Kosaraju's algorithm: a depth-first search gives the order in which nodes finish. Searches of the reversed graph,
    from the nodes in reverse of that order, each reach exactly one component.
    """
    seen: set[str] = set()
    left = [each for node in graph for each in _search(node, graph, seen)]
    reverse: dict[str, list[str]] = {}
    for source, targets in graph.items():
        for target in targets:
            reverse.setdefault(target, []).append(source)
    seen = set()
    components = [sorted(_search(node, reverse, seen)) for node in reversed(left)]
    return sorted((each for each in components if len(each) > 1), key=lambda each: (-len(each), each))


def _search(start: str, graph: Graph, seen: set[str]) -> list[str]:
    """Return the nodes that are reached and not yet seen, in the order in which a depth-first search leaves them."""
    if start in seen:
        return []
    seen.add(start)
    left: list[str] = []
    path = [(start, iter(graph.get(start, ())))]
    while path:
        node, targets = path[-1]
        target = next((each for each in targets if each not in seen), None)
        if target is None:
            left.append(node)
            path.pop()
        else:
            seen.add(target)
            path.append((target, iter(graph.get(target, ()))))
    return left


def as_graph(imports: Iterable[Import]) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {}
    for each in imports:
        graph.setdefault(each.source, []).append(each.target)
        graph.setdefault(each.target, [])
    return graph
