"""The wheel in a clean environment, used by a project with its own packages `shared`, `api` and `probe`."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cupel.errors import CupelError
from cupel.stack.paths import find_stack_paths
from cupel.stack.subprocesses import child_environment, run

PATHS = find_stack_paths(Path(__file__).parent)
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
    "        'installed': [cupel.__file__, cupel_core.__file__],\n"
    "        'functions': [name for name in functions if find_spec(name)],\n"
    "    }))\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["uv", "build", "--wheel", "--quiet", "--out-dir", str(folder)]
    try:
        run([*build, "--offline"], PATHS, child_environment(PATHS))
    except CupelError:  # uv's cache has no build backend
        run(build, PATHS, child_environment(PATHS))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and its locked requirements, and nothing else."""
    environment = tmp_path_factory.mktemp("environment") / "venv"
    variables = child_environment(PATHS) | {"UV_PROJECT_ENVIRONMENT": str(environment), "UV_PYTHON": sys.executable}
    run(["uv", "sync", "--frozen", "--no-dev", "--no-install-project", "--quiet"], PATHS, variables)
    interpreter = environment / "bin" / "python"
    install = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(interpreter), str(wheel)]
    run(install, PATHS, variables)
    return interpreter


def test_the_wheel_holds_two_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"cupel", "cupel_core"}


def test_the_locked_requirements_are_those_the_wheel_declares(python: Path) -> None:
    run(["uv", "pip", "check", "--python", str(python)], PATHS, child_environment(PATHS))


def test_a_project_with_packages_of_the_same_names_can_evaluate(python: Path, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    finished = subprocess.run(
        [str(python), "-W", "error", "evaluate.py"],
        cwd=tmp_path,
        env=child_environment(PATHS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    printed: dict[str, Any] = json.loads(finished.stdout)
    assert printed["results"] == [
        ["connector/agent", "COMPLETED", True],
        ["sim/echo", "COMPLETED", True],
    ]
    assert all(str(python.parent.parent) in path for path in printed["installed"])
    assert printed["functions"] == []
