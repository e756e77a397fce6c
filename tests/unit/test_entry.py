"""The entry of all functions. Each test has an interpreter of its own, because the collector's settings are global."""

import os
import subprocess
import sys
from pathlib import Path

from tests.unit.test_template import ROOT

APP = """
import gc
imported = [[] for _ in range(1_000)]
was_collected = gc.isenabled()
def handler(event, context):
    return event
"""


def run(folder: Path, script: str) -> str:
    """The output of a script that finds a function `echo`."""
    (folder / "echo").mkdir()
    (folder / "echo/app.py").write_text(APP)
    paths = os.pathsep.join([str(folder), str(ROOT / "functions")])
    command = [sys.executable, "-c", f"import gc, entry\n{script}"]
    finished = subprocess.run(command, env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_an_attribute_is_the_handler_of_the_function(tmp_path: Path) -> None:
    assert run(tmp_path, "print(entry.echo(1, None))") == "1"


def test_nothing_is_collected_during_the_import(tmp_path: Path) -> None:
    assert run(tmp_path, "entry.echo; from echo import app; print(app.was_collected, gc.isenabled())") == "False True"


def test_what_was_imported_is_exempt_from_collections(tmp_path: Path) -> None:
    script = "entry.echo; from echo import app; print(any(each is app.imported for each in gc.get_objects()))"
    assert run(tmp_path, script) == "False"


def test_garbage_in_cycles_never_grows_beyond_the_threshold(tmp_path: Path) -> None:
    script = """
entry.echo
class Node: pass
most = 0
for _ in range(100_000):
    node = Node()
    node.self = node
    most = max(most, gc.get_count()[0])
print(0 < most <= entry.MAX_YOUNG_OBJECTS + 1)
"""
    assert run(tmp_path, script) == "True"


def test_a_failed_import_leaves_the_collector_on(tmp_path: Path) -> None:
    script = """
try:
    entry.nothing
except ModuleNotFoundError:
    print(gc.isenabled())
"""
    assert run(tmp_path, script) == "True"
