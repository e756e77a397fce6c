"""Collects the files of which the stack is built, those of a clone or of the installed package, and builds them."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cupel_core
from cupel.errors import UsageError
from cupel.stack.locks import lock_file
from cupel.stack.paths import StackPaths
from cupel.stack.subprocesses import child_environment, run
from cupel.whole_files import replace_file

PACKAGED = Path(__file__).parent / "packaged"
"""The wheel has here the files of a clone that are not part of its two packages (hatch_build.py lists them)."""
_CORE = Path(cupel_core.__file__).parent
_PACKAGE = Path(__file__).parents[2]

_CORE_FILES = ("cupel_core/**/*.py", "cupel_core/interfaces/graphql/*.graphql", "cupel_core/interfaces/*.json*")
_DEPLOYED = (
    "template.yaml",
    "uv.lock",
    "shared/Makefile",
    "statemachines/*.json",
    *(f"shared/{pattern}" for pattern in _CORE_FILES),
    "functions/**/*.py",
    "web/Makefile",
    "web/build.py",
    # In a clone, the page is built from its sources; the package contains the built page.
    "web/*.json",
    "web/*.ts",
    "web/index.html",
    "web/scripts/*",
    "web/src/**/*",
    "web/dist/**/*",
)
_TOOLS = (
    "pyproject.toml",
    "samconfig.toml",
    "cupel/__init__.py",
    "cupel/json_types.py",
    "cupel/whole_files.py",
    "cupel/stack/__init__.py",
    "cupel/stack/asgi.py",
    "cupel/stack/access/*.py",
    "cupel/stack/durability/*.py",
)


def deployed_files(paths: StackPaths) -> dict[str, Path]:
    return _find(paths, _DEPLOYED)


def generate(paths: StackPaths) -> None:
    if (paths.repository / "tools/generate.py").is_file():
        run([sys.executable, "-m", "tools.generate"], paths, child_environment(paths))


def refresh(paths: StackPaths) -> None:
    """Replace the copy of the sources, if the stack uses one: the package may have been upgraded."""
    if not paths.is_copy:
        return
    unfinished = paths.repository.with_name("sources.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    write_sources(paths, unfinished)
    shutil.rmtree(paths.repository, ignore_errors=True)
    unfinished.rename(paths.repository)
    replace_file(paths.state / ".gitignore", "*\n")  # The folder may be part of the user's own repository.


def write_sources(paths: StackPaths, folder: Path) -> None:
    """Copy everything that `sam build` and the local stack read. Raises UsageError if the folder has files already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder")
    generate(paths)
    for name, path in _find(paths, _DEPLOYED + _TOOLS).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def _find(paths: StackPaths, patterns: tuple[str, ...]) -> dict[str, Path]:
    if not paths.is_copy:
        return _glob(paths.repository, patterns)
    own = tuple(pattern for pattern in patterns if pattern.startswith("cupel/"))
    core = {f"shared/{name}": path for name, path in _glob(_CORE.parent, _CORE_FILES).items()}
    return _glob(PACKAGED, patterns) | _glob(_PACKAGE, own) | core


def _glob(root: Path, patterns: tuple[str, ...]) -> dict[str, Path]:
    paths = (path for pattern in patterns for path in root.glob(pattern) if path.is_file())
    return {path.relative_to(root).as_posix(): path for path in paths}


def sources_digest(paths: StackPaths) -> str:
    digest = hashlib.sha256()
    for name, path in sorted(deployed_files(paths).items()):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_built(paths: StackPaths, digest: str) -> bool:
    record = _build_record(paths)
    return record.is_file() and record.read_text() == digest and paths.build.is_dir()


def build(paths: StackPaths, digest: str) -> None:
    """Build the template. The layer is built for this machine, on which the embedded cloud runs the handlers."""
    _build_record(paths).unlink(missing_ok=True)
    environment = child_environment(paths) | {"ARCHITECTURE": "host"}
    command = ["sam", "build", "--build-dir", str(paths.build), "--template-file", "template.yaml"]
    run(command, paths, environment, paths.tools / "build.log")
    replace_file(_build_record(paths), digest)


@contextmanager
def build_lock(paths: StackPaths) -> Iterator[None]:
    """Lock the build while it is built and deployed: it must not change while another process deploys it."""
    paths.tools.mkdir(parents=True, exist_ok=True)
    with lock_file(paths.tools / "build.lock"):
        yield


def _build_record(paths: StackPaths) -> Path:
    return paths.tools / "build.digest"
