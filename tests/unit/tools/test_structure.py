"""`make structure` counts packages, imports and cycles in a small made-up clone."""

from pathlib import Path

import pytest

from tools.import_graph import Import, ImportKind, cycles, python_imports, python_modules, typescript_imports
from tools.structure import arrows, package_of, read_sources, report, single_importers, sizes

FILES = {
    "shared/cupel_core/__init__.py": "",
    "shared/cupel_core/errors.py": "class AppError(Exception): ...\n",
    "shared/cupel_core/store/__init__.py": "",
    "shared/cupel_core/store/keys.py": "from cupel_core.errors import AppError\n",
    "shared/cupel_core/store/runs.py": (
        "from typing import TYPE_CHECKING\n"
        "from cupel_core.store import keys\n"
        "from .leaves import add\n"
        "if TYPE_CHECKING:\n    from cupel_core.runs import start\n"
    ),
    "shared/cupel_core/store/leaves.py": "def add():\n    from cupel_core.store.runs import create\n",
    "shared/cupel_core/runs/__init__.py": "",
    "shared/cupel_core/runs/start.py": "import cupel_core.store.runs\nfrom cupel_core.errors import AppError\n"
    + "#\n" * 400,
    "functions/api/__init__.py": "",
    "functions/api/app.py": "from cupel_core.runs.start import start_run\nimport boto3\n",
    "cupel/__init__.py": "",
    "cupel/cli.py": "from cupel_core.errors import AppError\n",
    "bench/run.py": "import cupel.cli\n",
    "tests/test_run.py": "\n\n",
    "web/src/lib/format.ts": 'import type { Run } from "../api/types";\nimport {\n  pad,\n} from "./pad";\n',
    "web/src/lib/pad.ts": 'export { format } from "./format";\n',
    "web/src/lib/pad.test.ts": 'import { pad } from "./pad";\n',
    "web/src/api/types.ts": 'import "../lib/pad";\nconst later = () => import("./later");\nimport x from "react";\n',
    "web/src/api/later.tsx": "",
}
RUNS, LEAVES = "cupel_core.store.runs", "cupel_core.store.leaves"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_imports_are_those_between_modules_with_their_kind(root: Path) -> None:
    modules = python_modules(root, ("shared", "functions"))
    assert set(python_imports(modules)) == {
        Import("cupel_core.store.keys", "cupel_core.errors", ImportKind.START),
        Import(RUNS, "cupel_core.store.keys", ImportKind.START),
        Import(RUNS, LEAVES, ImportKind.START),
        Import(RUNS, "cupel_core.runs.start", ImportKind.TYPES),
        Import(LEAVES, RUNS, ImportKind.LATER),
        Import("cupel_core.runs.start", RUNS, ImportKind.START),
        Import("cupel_core.runs.start", "cupel_core.errors", ImportKind.START),
        Import("api.app", "cupel_core.runs.start", ImportKind.START),
    }


def test_imports_of_typescript_are_those_of_relative_paths(root: Path) -> None:
    assert set(typescript_imports(root / "web/src")) == {
        Import("lib/format.ts", "api/types.ts", ImportKind.TYPES),
        Import("lib/format.ts", "lib/pad.ts", ImportKind.START),
        Import("lib/pad.ts", "lib/format.ts", ImportKind.START),
        Import("lib/pad.test.ts", "lib/pad.ts", ImportKind.START),
        Import("api/types.ts", "lib/pad.ts", ImportKind.START),
        Import("api/types.ts", "api/later.tsx", ImportKind.LATER),
    }


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({}, []),
        ({"a": ["b"], "b": ["c"]}, []),
        ({"a": ["a"]}, []),
        ({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}, [["a", "b"], ["c", "d"]]),
        ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"], "d": ["e"], "e": ["d", "a"]}, [["a", "b", "c"], ["d", "e"]]),
        ({str(node): [str((node + 1) % 5_000)] for node in range(5_000)}, [sorted(map(str, range(5_000)))]),
    ],
    ids=["empty", "chain", "itself", "two", "three and two", "longer than the recursion limit"],
)
def test_cycles_are_strongly_connected_components(graph: dict[str, list[str]], found: list[list[str]]) -> None:
    assert cycles(graph) == found


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("cupel_core.store.runs", "cupel_core.store"),
        ("cupel_core.errors", "cupel_core.errors"),
        ("api.app", "api"),
        ("cupel.commands.run", "cupel"),
    ],
)
def test_a_package_is_an_entry_of_the_core_or_a_folder_on_top(module: str, package: str) -> None:
    assert package_of(module) == package


def test_arrows_count_pairs_of_modules(root: Path) -> None:
    assert arrows(read_sources(root).executed) == {
        ("cupel_core.store", "cupel_core.errors"): 1,
        ("cupel_core.runs", "cupel_core.errors"): 1,
        ("cupel_core.runs", "cupel_core.store"): 1,
        ("api", "cupel_core.runs"): 1,
        ("cupel", "cupel_core.errors"): 1,
    }


def test_modules_with_a_single_importer_are_found(root: Path) -> None:
    assert single_importers(read_sources(root)) == {
        "cupel_core.runs.start": "api.app",
        "cupel_core.store.keys": RUNS,
        LEAVES: RUNS,
    }


def test_files_and_lines_are_counted_by_folder(root: Path) -> None:
    found = dict(sizes(root))
    assert found["cupel"] == (2, 1)
    assert found["tests"] == (1, 2)
    assert (found["web/src"].files, found["web/src (*.test.*)"]) == (4, (1, 1))


def test_the_report_names_packages_cycles_and_large_modules(root: Path) -> None:
    lines = list(report(root, with_lists=True))
    assert "packages: 5, with 5 imports along 5 arrows between them" in lines
    assert "  entries of shared/cupel_core: 3 (2 folders, 1 loose files)" in lines
    assert "    api -> cupel_core.runs: 1" in lines
    assert "import cycles of packages: 0" in lines
    assert lines[lines.index("import cycles of files when they are imported: 0") + 2 :][:2] == [
        "import cycles of files with imports inside functions: 1",
        f"  {LEAVES} <-> {RUNS}",
    ]
    assert f"  cupel_core.runs.start <-> {LEAVES} <-> {RUNS}" in lines
    assert "modules with a single importer: 3 of 12 (405 lines)" in lines
    assert "    cupel_core.runs.start (402 lines) <- api.app" in lines
    assert "modules above 400 lines: 1" in lines
    assert "  lib/format.ts <-> lib/pad.ts" in lines
    assert "  api <-> lib" in lines
