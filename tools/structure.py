"""`make structure`: print the packages and files of the sources, and the imports between them.

Imports inside functions count. Imports below `if TYPE_CHECKING` and `import type` count only where the output says so.
A package is an entry of shared/cupel_core (a folder or a loose file), a function, or the folder `cupel`.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.import_graph import (
    Import,
    ImportKind,
    as_graph,
    cycles,
    python_imports,
    python_modules,
    typescript_files,
    typescript_imports,
)

ROOT = Path(__file__).parents[1]
PRODUCT = ("shared", "functions", "cupel", "web/src")
TOOLS = ("bench", "tools")
CORE = "cupel_core"
SMALL_LINES = 60
LARGE_LINES = 400


class Size(NamedTuple):
    files: int
    lines: int


class Sources(NamedTuple):
    modules: dict[str, Path]
    imports: list[Import]

    @property
    def executed(self) -> list[Import]:
        return [each for each in self.imports if each.kind is not ImportKind.TYPES]

    def lines(self, module: str) -> int:
        return count_lines(self.modules[module])


def read_sources(root: Path) -> Sources:
    modules = python_modules(root, ("shared", "functions"))
    modules |= {name: path for name, path in python_modules(root, ("",)).items() if name.split(".")[0] == "cupel"}
    return Sources(modules, list(python_imports(modules)))


def count_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def package_of(module: str) -> str:
    """Return `cupel_core.<entry>`, or the first part of a name of any other package."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == CORE else 1])


def arrows(imports: Iterable[Import]) -> Counter[tuple[str, str]]:
    pairs = {(each.source, each.target) for each in imports}
    packages = ((package_of(source), package_of(target)) for source, target in sorted(pairs))
    return Counter((source, target) for source, target in packages if source != target)


def single_importers(sources: Sources) -> dict[str, str]:
    """Return the only importer of each module that has one, both by name; packages themselves are left out."""
    importers: dict[str, set[str]] = {}
    for each in sources.executed:
        importers.setdefault(each.target, set()).add(each.source)
    is_file = {name for name, path in sources.modules.items() if path.name != "__init__.py"}
    return {name: min(found) for name, found in sorted(importers.items()) if len(found) == 1 and name in is_file}


def sizes(root: Path) -> Iterator[tuple[str, Size]]:
    """Yield the size of the product and of the tests by folder; unit tests of the page are beside its sources."""
    for folder in (*PRODUCT, *TOOLS, "tests"):
        if (root / folder).is_dir():
            files = [*(root / folder).rglob("*.py"), *typescript_files(root / folder)]
            yield folder, _size(path for path in files if ".test." not in path.name)
    yield "web/src (*.test.*)", _size(path for path in typescript_files(root / "web/src") if ".test." in path.name)


def _size(paths: Iterable[Path]) -> Size:
    lines = [count_lines(path) for path in paths]
    return Size(len(lines), sum(lines))


def report(root: Path, *, with_lists: bool) -> Iterator[str]:
    sources = read_sources(root)
    yield from _size_lines(root)
    yield from _package_lines(sources, with_lists=with_lists)
    yield from _cycle_lines(sources)
    yield from _module_lines(sources, with_lists=with_lists)
    yield from _web_lines(root / "web/src")


def _size_lines(root: Path) -> Iterator[str]:
    yield "files and lines"
    found = dict(sizes(root))
    for folder, size in found.items():
        yield f"  {folder:24}{size.files:6,} {size.lines:9,}"
    for name, folders in (("product", set(PRODUCT)), ("tools", set(TOOLS)), ("tests", {*found} - {*PRODUCT, *TOOLS})):
        files, lines = map(sum, zip(*(found[each] for each in folders if each in found), strict=True))
        yield f"  {'total of ' + name:24}{files:6,} {lines:9,}"


def _package_lines(sources: Sources, *, with_lists: bool) -> Iterator[str]:
    packages: dict[str, list[str]] = {}
    for module in sources.modules:
        packages.setdefault(package_of(module), []).append(module)
    packages.pop(CORE, None)
    between = arrows(each for each in sources.executed if CORE not in (each.source, each.target))
    entries = [each for each in packages if each.startswith(f"{CORE}.")]
    folders = [each for each in entries if sources.modules[each].name == "__init__.py"]
    loose = len(entries) - len(folders)
    yield ""
    yield f"packages: {len(packages)}, with {sum(between.values()):,} imports along {len(between)} arrows between them"
    yield f"  entries of shared/{CORE}: {len(entries)} ({len(folders)} folders, {loose} loose files)"
    inner = [pair for pair in between if all(each.startswith(f"{CORE}.") for each in pair)]
    yield f"  arrows between entries of shared/{CORE}: {len(inner)}"
    yield "  package                        files    lines  imports  imported by (packages)"
    for name, modules in sorted(packages.items()):
        targets = sum(1 for source, _ in between if source == name)
        origins = sum(1 for _, target in between if target == name)
        lines = sum(map(sources.lines, modules))
        yield f"  {name:30}{len(modules):6} {lines:8,} {targets:8} {origins:12}"
    if with_lists:
        yield "  arrows, with the number of imports"
        yield from (f"    {source} -> {target}: {count}" for (source, target), count in sorted(between.items()))
    yield from _cycle_section("import cycles of packages", cycles(_package_graph(between)))


def _package_graph(between: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    return as_graph(Import(source, target, ImportKind.START) for source, target in between)


def _cycle_lines(sources: Sources) -> Iterator[str]:
    """Yield import cycles of files: at the start, with imports inside functions, and with those for types."""
    at_start = [each for each in sources.imports if each.kind is ImportKind.START]
    yield from _cycle_section("import cycles of files when they are imported", cycles(as_graph(at_start)))
    yield from _cycle_section(
        "import cycles of files with imports inside functions", cycles(as_graph(sources.executed))
    )
    with_types = cycles(as_graph(sources.imports))
    yield from _cycle_section("import cycles of files with imports for types, too", with_types)


def _module_lines(sources: Sources, *, with_lists: bool) -> Iterator[str]:
    single = single_importers(sources)
    small = [name for name in single if sources.lines(name) <= SMALL_LINES]
    total = sum(map(sources.lines, single))
    yield ""
    yield f"modules with a single importer: {len(single)} of {len(sources.modules)} ({total:,} lines)"
    same = [name for name, importer in single.items() if package_of(name) == package_of(importer)]
    yield f"  imported from their own package: {len(same)}"
    yield f"  of at most {SMALL_LINES} lines: {len(small)}"
    if with_lists:
        yield from (f"    {name} ({sources.lines(name)} lines) <- {single[name]}" for name in single)
    large = {name: lines for name in sources.modules if (lines := sources.lines(name)) > LARGE_LINES}
    yield ""
    yield f"modules above {LARGE_LINES} lines: {len(large)}"
    yield from (f"  {lines:5} {name}" for name, lines in sorted(large.items(), key=lambda each: -each[1]))


def _web_lines(folder: Path) -> Iterator[str]:
    imports = [each for each in typescript_imports(folder) if ".test." not in each.source]
    values = [each for each in imports if each.kind is not ImportKind.TYPES]
    yield from _cycle_section("import cycles of files in web/src", cycles(as_graph(values)))
    yield from _cycle_section("import cycles of files in web/src with imports of types", cycles(as_graph(imports)))
    folders = (each._replace(source=_folder(each.source), target=_folder(each.target)) for each in imports)
    between = [each for each in folders if each.source != each.target]
    yield from _cycle_section("import cycles of folders in web/src with imports of types", cycles(as_graph(between)))


def _folder(name: str) -> str:
    return str(Path(name).parent)


def _cycle_section(title: str, found: list[list[str]]) -> Iterator[str]:
    yield ""
    yield f"{title}: {len(found)}"
    yield from (f"  {' <-> '.join(each)}" for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="also print every arrow and every single importer")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="the clone to read; this one by default")
    arguments = parser.parse_args()
    print(*report(arguments.root.resolve(), with_lists=arguments.list), sep="\n")


if __name__ == "__main__":
    main()
