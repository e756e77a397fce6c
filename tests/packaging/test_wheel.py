"""The wheel in clean environments, one per supported Python that is installed.

A project with its own packages `shared`, `api` and `probe` uses it.
"""

import json
import subprocess
import tomllib
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cupel.errors import CupelError
from cupel.stack.paths import StackPaths, find_stack_paths
from cupel.stack.sources import sources_digest, write_sources
from cupel.stack.subprocesses import child_environment, run
from tests.packaging.interpreters import RUNNING, SUPPORTED, find_interpreters, name_of

PATHS = find_stack_paths(Path(__file__).parent)
PROJECT = tomllib.loads((PATHS.repository / "pyproject.toml").read_text())["project"]
ABSENT = ["aws_lambda_powertools", "boto3", "botocore", "cryptography", "jwt", "pynamodb", "samcli"]
MAX_PACKAGES = 46
FILES = {
    "shared/__init__.py": "GREETING = 'Hello'\n",
    "api/__init__.py": "from shared import GREETING\n\ndef agent(messages):\n    return f'{GREETING}, Ada'\n",
    "probe/__init__.py": "DEFINITION = {\n"
    "    'content': {'assertions': [{'type': 'contains', 'value': 'Hello'}]},\n"
    "    'scenarios': [{'name': 'greeting', 'prompt': 'Hello!'}],\n"
    "}\n",
    "evaluate.py": "import json\n"
    "from importlib.util import find_spec\n\n"
    "import cupel, cupel_core\n"
    "from api import agent\n"
    "from probe import DEFINITION\n\n"
    "if __name__ == '__main__':\n"
    "    evaluation = cupel.evaluate(DEFINITION, [agent, 'sim/echo'], seed=1)\n"
    "    results = [(each.target, str(each.status), each.success) for each in evaluation.results]\n"
    "    functions = ['authorize', 'dispatch', 'finish', 'generate', 'schedule', 'score', 'sweep']\n"
    "    print(json.dumps({\n"
    "        'results': results,\n"
    "        'version': cupel.__version__,\n"
    "        'installed': [cupel.__file__, cupel_core.__file__],\n"
    f"        'importable': [name for name in [*functions, *{ABSENT}] if find_spec(name)],\n"
    "    }))\n",
}


class Distributions(NamedTuple):
    wheel: Path
    sdist: Path
    requirements: Path
    """The locked requirements without extras."""


class Installation(NamedTuple):
    """An environment that holds the wheel and its locked requirements, and nothing else."""

    python: Path

    def run(self, program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python.parent / program), *arguments],
            cwd=folder,
            env=child_environment(PATHS),
            capture_output=True,
            text=True,
            check=False,
        )


def run_with_cache(command: list[str]) -> None:
    """Run uv without the network, or, if its cache lacks something, with it."""
    try:
        run([*command, "--offline"], PATHS, child_environment(PATHS))
    except CupelError:
        run(command, PATHS, child_environment(PATHS))


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    run_with_cache(["uv", "build", "--quiet", "--out-dir", str(folder)])
    requirements = folder / "requirements.txt"
    export = ["uv", "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes"]
    run([*export, "--output-file", str(requirements)], PATHS, child_environment(PATHS))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Distributions(wheel, sdist, requirements)


@pytest.fixture(scope="module")
def install(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installation]:
    """`install("3.12")` is the environment of that Python."""

    @cache
    def install(version: str) -> Installation:
        python = tmp_path_factory.mktemp("environment") / "venv/bin/python"
        run_with_cache(["uv", "venv", "--quiet", "--python", str(find_interpreters()[version]), str(python.parents[1])])
        command = ["uv", "pip", "install", "--quiet", "--no-deps", "--python", str(python), str(distributions.wheel)]
        run_with_cache([*command, "--requirements", str(distributions.requirements)])
        return Installation(python)

    return install


@pytest.fixture(params=find_interpreters())
def installation(request: pytest.FixtureRequest, install: Callable[[str], Installation]) -> Installation:
    return install(request.param)


@pytest.fixture
def on_running_python(install: Callable[[str], Installation]) -> Installation:
    return install(name_of(RUNNING))


def test_the_running_python_is_supported_and_tested() -> None:
    assert RUNNING in SUPPORTED
    assert name_of(RUNNING) in find_interpreters()


def test_the_project_declares_the_supported_versions() -> None:
    minors = [minor for _, minor in SUPPORTED]
    assert PROJECT["requires-python"] == f">=3.{minors[0]},<3.{minors[-1] + 1}"
    prefix = "Programming Language :: Python :: 3."
    declared = [each.removeprefix(prefix) for each in PROJECT["classifiers"] if each.startswith(prefix)]
    assert declared == [str(minor) for minor in minors]


def test_the_wheel_holds_two_typed_packages(distributions: Distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as archive:
        names = set(archive.namelist())
    top_level = {name.partition("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == {"cupel", "cupel_core"}
    assert {"cupel/py.typed", "cupel_core/py.typed"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_metadata_are_valid(distributions: Distributions) -> None:
    run(
        ["twine", "check", "--strict", str(distributions.wheel), str(distributions.sdist)],
        PATHS,
        child_environment(PATHS),
    )


def test_the_locked_requirements_are_those_the_wheel_declares_and_few(installation: Installation) -> None:
    python = str(installation.python)
    run(["uv", "pip", "check", "--python", python], PATHS, child_environment(PATHS))
    listed = run(["uv", "pip", "list", "--format", "json", "--python", python], PATHS, child_environment(PATHS))
    assert len(json.loads(listed)) <= MAX_PACKAGES


def test_a_project_with_packages_of_the_same_names_can_evaluate(installation: Installation, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    finished = installation.run("python", "-W", "error", "evaluate.py", folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    printed: dict[str, Any] = json.loads(finished.stdout)
    assert printed["results"] == [
        ["connector/agent", "COMPLETED", True],
        ["sim/echo", "COMPLETED", True],
    ]
    assert printed["version"] == PROJECT["version"]
    assert all(str(installation.python.parents[1]) in path for path in printed["installed"])
    assert printed["importable"] == []


def test_the_command_evaluates_a_file_outside_a_clone(installation: Installation, tmp_path: Path) -> None:
    sample = tmp_path / "evals" / "value-dilemma.yaml"
    sample.parent.mkdir()
    sample.write_text((PATHS.repository / "samples/value-dilemma.yaml").read_text())
    arguments = ["run", "evals/value-dilemma.yaml", "--in-process", "--models", "sim/steady", "--junit", "report.xml"]
    finished = installation.run("cupel", *arguments, folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "sim/steady" in finished.stdout
    assert (tmp_path / "report.xml").is_file()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_stack_outside_of_a_clone_is_built_from_the_same_sources(
    on_running_python: Installation, tmp_path: Path
) -> None:
    code = (
        "from pathlib import Path\n"
        "from cupel.stack.sources import sources_digest\n"
        "from cupel.stack.paths import find_stack_paths\n"
        "from cupel.stack.sources import refresh\n"
        "paths = find_stack_paths(Path.cwd())\n"
        "paths.tools.mkdir()\n"
        "refresh(paths)\n"
        "print(sources_digest(paths))"
    )
    finished = on_running_python.run("python", "-c", code, folder=tmp_path)
    copied = StackPaths(tmp_path / ".cupel/sources", tmp_path / ".cupel")
    assert (finished.stdout.strip(), finished.stderr) == (sources_digest(copied), "")
    assert (copied.state / ".gitignore").read_text() == "*\n"
    write_sources(PATHS, tmp_path / "of the clone")
    packaged, of_the_clone = contents(copied.repository), contents(tmp_path / "of the clone")
    assert without_page(packaged) == without_page(of_the_clone)
    # The package contains the page as it was built, a clone what it is built from.
    assert ("web/dist/index.html" in packaged, "web/src/main.tsx" in packaged) == (True, False)
    assert ("web/dist/index.html" in of_the_clone, "web/src/main.tsx" in of_the_clone) == (False, True)


def without_page(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if not name.startswith("web/")}


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["up"], "stack"),
        (["tokens", "bootstrap", "--stack-name", "cupel"], "stack"),
        (["run", "evals.yaml", "--in-process", "--models", "bedrock/amazon.nova-lite-v1:0"], "bedrock"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_needs_an_extra_names_the_command_that_installs_it(
    arguments: list[str], extra: str, on_running_python: Installation, tmp_path: Path
) -> None:
    (tmp_path / "evals.yaml").write_text("name: Greeting\ncontent: {system: Be brief.}\nscenarios: [{prompt: Hello}]\n")
    finished = on_running_python.run("cupel", *arguments, folder=tmp_path)
    assert finished.returncode == 2
    assert f"pip install 'cupel[{extra}]=={PROJECT['version']}'" in finished.stderr
