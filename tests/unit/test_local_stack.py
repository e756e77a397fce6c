"""The parts of the local stack that need no embedded cloud."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from cupel.errors import CupelError, WrongUse
from cupel.stack import emulator
from cupel.stack.address import Local, read_local, write_local
from cupel.stack.build import is_built, sources_digest
from cupel.stack.paths import Place, find_place, write_private
from cupel.stack.subprocesses import child_environment, run

SOURCES = (
    "template.yaml",
    "uv.lock",
    "shared/Makefile",
    "shared/cupel_core/a.py",
    "functions/api/app.py",
    "statemachines/x.json",
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in SOURCES:
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return Place(tmp_path / "repository", tmp_path / "state")


def test_a_place_is_found_from_a_folder_below_it(place: Place) -> None:
    assert find_place(place.repository / "functions" / "api") == Place(place.repository, place.repository / ".cupel")


def test_outside_of_a_clone_there_is_no_place(tmp_path: Path) -> None:
    with pytest.raises(WrongUse):
        find_place(tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_a_change_of_any_source_changes_the_digest(place: Place, name: str) -> None:
    before = sources_digest(place)
    (place.repository / name).write_text("changed")
    assert sources_digest(place) != before


def test_a_renamed_source_changes_the_digest(place: Place) -> None:
    before = sources_digest(place)
    (place.repository / "shared/cupel_core/a.py").rename(place.repository / "shared/cupel_core/b.py")
    assert sources_digest(place) != before


def test_notes_beside_the_sources_do_not_change_the_digest(place: Place) -> None:
    before = sources_digest(place)
    (place.repository / "shared/notes.md").write_text("notes")
    assert sources_digest(place) == before


def test_nothing_is_built_before_a_build(place: Place) -> None:
    assert not is_built(place, sources_digest(place))


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "SAM_CLI_DEBUG", "PYTHONPATH", "MAKEFLAGS"])
def test_children_do_not_see_whose_account_or_interpreter_this_is(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "mine")
    assert name not in child_environment(place)


def test_children_work_against_the_embedded_cloud_only_once_it_is_named(place: Place) -> None:
    assert "AWS_ENDPOINT_URL" not in child_environment(place)
    assert child_environment(place, "http://127.0.0.1:1")["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"


def test_children_reach_this_machine_without_a_proxy(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet")
    assert child_environment(place)["NO_PROXY"] == "intranet,127.0.0.1,localhost"


def test_a_program_that_fails_is_shown_by_its_last_lines(place: Place) -> None:
    script = "import sys; print(*range(100), sep='\\n'); sys.exit(3)"
    with pytest.raises(CupelError, match=r"failed \(3\)\n85\n") as failed:
        run([sys.executable, "-c", script], place, child_environment(place))
    assert str(failed.value).endswith("\n99")


def test_a_program_that_is_missing_is_named(place: Place) -> None:
    with pytest.raises(CupelError, match="no-such-program is not installed"):
        run(["no-such-program"], place, child_environment(place))


def test_a_private_file_is_private_also_when_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    path.write_text("old and long")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_the_address_is_read_as_it_was_written(place: Place) -> None:
    local = Local("http://127.0.0.1:1/x", "cupel_x", "us-east-1", "http://127.0.0.1:1", "cupel")
    write_local(place, local)
    assert read_local(place) == local


@pytest.mark.parametrize("text", ["", "[]", "{}", "{"])
def test_an_address_that_cannot_be_read_is_none(place: Place, text: str) -> None:
    write_private(place.local_file, text)
    assert read_local(place) is None


def test_a_process_that_is_not_the_emulator_is_not_ours(place: Place) -> None:
    """The record survives a reboot, and by then its process id may be anybody's: here, pytest's."""
    place.state.mkdir()
    (place.state / "emulator.json").write_text(f'{{"pid": {os.getpid()}, "port": 4566}}')
    assert emulator.running(place) is None
    assert emulator.stop(place) is False


def test_a_taken_port_is_refused_when_it_was_asked_for(place: Place) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(WrongUse, match="taken by another program"):
            emulator.start(place, other.getsockname()[1])


def test_data_stays_with_its_port(place: Place) -> None:
    (place.state / "data").mkdir(parents=True)
    (place.state / "emulator.json").write_text('{"pid": 0, "port": 4999}')
    with pytest.raises(WrongUse, match="bound to port 4999"):
        emulator.start(place, 4998)
