"""The layer and the wheel contain the generated files, also if they are built from a clone that has none of them."""

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from cupel.stack.paths import find_stack_paths
from cupel.stack.subprocesses import child_environment
from tests.packaging.test_wheel import run_with_cache
from tools import generate

CLONE = find_stack_paths(Path(__file__).parent)
CORE_FILES = [name.removeprefix("shared/") for name in generate.GENERATED if name.startswith("shared/")]
PAGE = "web/dist/index.html"


@pytest.fixture
def fresh_clone(tmp_path: Path) -> Path:
    """The files of this clone that git knows, with a page that is built already, which would take half a minute."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", ":!tests", ":!web/src"]
    names = subprocess.run(listed, cwd=CLONE.repository, capture_output=True, text=True, check=True).stdout.splitlines()
    clone = tmp_path / "clone"
    for name in names:
        if (CLONE.repository / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(CLONE.repository / name, clone / name)
    (clone / "web/dist").mkdir()
    (clone / PAGE).write_text("<!doctype html>")
    assert not any((clone / name).exists() for name in generate.GENERATED)
    return clone


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    return dict(generate.render())


def install_nothing(clone: Path) -> None:
    """Replace the uv of the clone by one that installs and compiles nothing but the file that the layer reduces."""
    uv = clone / ".cupel/uv/bin/uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "*compileall*) ;;\n"
        '"pip install"*) while [ "$1" != --target ]; do shift; done\n'
        '  mkdir -p "$2/botocore/data" && echo \'{"partitions": []}\' > "$2/botocore/data/endpoints.json" ;;\n'
        f'*) exec "{shutil.which("uv", path=child_environment(CLONE)["PATH"])}" "$@" ;;\n'
        "esac\n"
    )
    uv.chmod(0o755)


def call(command: list[str], clone: Path, **variables: str) -> None:
    environment = child_environment(CLONE) | variables
    finished = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_the_layer_contains_what_is_generated_while_it_is_built(fresh_clone: Path, expected: dict[str, bytes]) -> None:
    """Without the packages that the functions need, which each test with a stack installs and compiles."""
    install_nothing(fresh_clone)
    artifacts = fresh_clone / "artifacts"
    artifacts.mkdir()
    makefile = ["make", "--file", "shared/Makefile", "build-SharedLayer"]
    call(makefile, fresh_clone, ARTIFACTS_DIR=str(artifacts), ARCHITECTURE="host")
    for name in CORE_FILES:
        assert (artifacts / "python" / name).read_bytes() == expected[f"shared/{name}"]


def test_the_distributions_contain_what_is_generated_while_they_are_built(
    fresh_clone: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    build = ["uv", "build", "--quiet", "--wheel", "--sdist", "--out-dir", str(tmp_path), str(fresh_clone)]
    run_with_cache(build)
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert {name: archive.read(name) for name in CORE_FILES} == {
            name: expected[f"shared/{name}"] for name in CORE_FILES
        }
    shutil.unpack_archive(sdist, tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert {name: (unpacked / name).read_bytes() for name in expected} == expected
