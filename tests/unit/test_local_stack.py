"""The parts of the local stack that do not need the embedded cloud."""

import os
import socket
import stat
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cupel.errors import CupelError, UsageError
from cupel.in_process.options import CALL_TIMEOUT_SECONDS
from cupel.stack import emulator
from cupel.stack.address import LocalStack, read_local, write_local
from cupel.stack.build import is_built, sources_digest
from cupel.stack.call_timeout import ALLOWED_SECONDS, choose_call_timeout, probe_timeout, read_call_timeout
from cupel.stack.deploy import CORS, is_recorded
from cupel.stack.origins import DEFAULT_ORIGINS, choose_origins, read_origins
from cupel.stack.paths import PYTHON_VERSION, StackPaths, find_stack_paths, write_private
from cupel.stack.sources import deployed_files, write_sources
from cupel.stack.subprocesses import child_environment, run
from cupel.stack.warmup import warmup_calls
from cupel.stack.workers import probe_workers
from cupel_core.gateway import cors
from cupel_core.probing.invocation_time import MARGIN_SECONDS
from cupel_core.settings import Settings
from tests.conftest import ROOT, template
from tests.lambda_context import Context

CLONE = find_stack_paths(ROOT)

SOURCES = (
    "template.yaml",
    "uv.lock",
    "shared/Makefile",
    "shared/cupel_core/a.py",
    "functions/api/app.py",
    "statemachines/x.json",
)


@pytest.fixture
def paths(tmp_path: Path) -> StackPaths:
    for name in SOURCES:
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return StackPaths(tmp_path / "repository", tmp_path / "state")


def test_a_clone_is_found_from_a_folder_below_it(paths: StackPaths) -> None:
    assert find_stack_paths(paths.repository / "functions" / "api") == StackPaths(
        paths.repository, paths.repository / ".cupel"
    )


def test_chosen_origins_are_remembered(paths: StackPaths) -> None:
    choose_origins(paths, ["http://localhost:3000", "https://app.example.com", "http://localhost:3000"])
    assert read_origins(paths) == ("http://localhost:3000", "https://app.example.com")


def test_without_a_choice_a_development_server_of_vite_may_call(paths: StackPaths) -> None:
    assert read_origins(paths) == ("http://localhost:5173", "http://127.0.0.1:5173")


@pytest.mark.parametrize(
    "origin",
    ["*", "localhost:3000", "http://localhost:3000/", "https://App.example", "null", "http://a,http://b", ""],
)
def test_what_no_browser_sends_is_no_origin(paths: StackPaths, origin: str) -> None:
    with pytest.raises(UsageError, match="is no origin"):
        choose_origins(paths, [origin])


def test_a_stack_with_other_origins_is_deployed_again(paths: StackPaths) -> None:
    paths.state.mkdir()
    (paths.state / "deployed.digest").write_text("\n".join(("digest", *DEFAULT_ORIGINS, "calls of 120 s")))
    before = is_recorded(paths, "digest")
    choose_origins(paths, ["http://localhost:3000"])
    assert (before, is_recorded(paths, "digest")) == (True, False)


def test_a_model_call_may_take_as_long_as_everywhere_unless_chosen_otherwise(paths: StackPaths) -> None:
    on_aws = template()["Parameters"]["CallTimeoutSeconds"]["Default"]
    assert read_call_timeout(paths) == CALL_TIMEOUT_SECONDS == int(on_aws)
    choose_call_timeout(paths, 600)
    assert read_call_timeout(paths) == 600


def test_a_call_timeout_that_the_template_does_not_allow_is_refused(paths: StackPaths) -> None:
    with pytest.raises(UsageError, match="240, 300, 480, 600"):
        choose_call_timeout(paths, 700)


def test_a_stack_with_another_call_timeout_is_deployed_again(paths: StackPaths) -> None:
    paths.state.mkdir()
    (paths.state / "deployed.digest").write_text("\n".join(("digest", *DEFAULT_ORIGINS, "calls of 120 s")))
    before = is_recorded(paths, "digest")
    choose_call_timeout(paths, 300)
    assert (before, is_recorded(paths, "digest")) == (True, False)


def test_the_call_timeouts_are_those_of_the_template_and_fit_into_an_invocation() -> None:
    parameters = template()["Parameters"]
    assert [str(each) for each in ALLOWED_SECONDS] == parameters["CallTimeoutSeconds"]["AllowedValues"]
    for seconds in ALLOWED_SECONDS:
        assert str(probe_timeout(seconds)) in parameters["ProbeTimeoutSeconds"]["AllowedValues"]
        assert probe_timeout(seconds) - MARGIN_SECONDS - seconds >= 10


def test_the_embedded_cloud_allows_what_the_api_does() -> None:
    preflight = {name: value for name, value in cors.PREFLIGHT.items() if name != "Access-Control-Max-Age"}
    assert preflight == {
        "Access-Control-Allow-Methods": ", ".join(CORS["AllowMethods"]),
        "Access-Control-Allow-Headers": ", ".join(CORS["AllowHeaders"]),
    }
    assert ", ".join(CORS["ExposeHeaders"]) == cors.EXPOSED


def test_every_function_is_warmed_but_those_that_the_first_request_starts() -> None:
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert {call.function for call in warmup_calls()} == functions - {"api", "authorize"}


@pytest.mark.parametrize("function", ["graphqlapi", "mcpserver"])
def test_functions_behind_the_gateway_answer_what_warms_them(cloud: Settings, function: str) -> None:
    (event,) = (call.event for call in warmup_calls() if call.function == function)
    assert import_module(f"{function}.app").handler(event, Context())["statusCode"] == 401


def test_the_local_workers_are_half_as_many_as_the_processors() -> None:
    assert [probe_workers(processors) for processors in (1, 2, 4, 6, 8, 64)] == [2, 2, 2, 3, 4, 4]


def test_the_template_allows_the_number_of_local_workers() -> None:
    assert str(probe_workers()) in template()["Parameters"]["ProbeWorkers"]["AllowedValues"]


def test_outside_of_a_clone_the_state_is_in_the_folder(tmp_path: Path) -> None:
    assert find_stack_paths(tmp_path) == StackPaths(ROOT, tmp_path / ".cupel")


def test_outside_of_a_clone_a_stack_is_found_from_a_folder_below_it(tmp_path: Path) -> None:
    started = find_stack_paths(tmp_path)
    started.state.mkdir()
    started.emulator_record.touch()
    assert find_stack_paths(tmp_path / "evals") == started


def test_written_sources_are_those_that_are_deployed(tmp_path: Path) -> None:
    write_sources(CLONE, tmp_path / "sources")
    written = find_stack_paths(tmp_path / "sources" / "functions")
    assert written.repository == tmp_path / "sources"
    assert sources_digest(written) == sources_digest(CLONE)


@pytest.mark.parametrize("folder", ["shared/cupel_core", "functions"])
def test_everything_that_a_function_reads_of_its_sources_is_deployed(folder: str) -> None:
    found = {path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix not in (".pyc", ".typed")}
    assert {path.relative_to(ROOT).as_posix() for path in found} <= set(deployed_files(CLONE))


@pytest.mark.parametrize("name", ["", "notes.md"], ids=["folder", "file"])
def test_sources_are_not_written_over_other_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        write_sources(CLONE, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]


def test_the_requirements_of_the_layer_and_the_emulator_can_be_read_from_written_sources(tmp_path: Path) -> None:
    write_sources(CLONE, tmp_path / "sources")
    paths = StackPaths(tmp_path / "sources", tmp_path)
    for options in (["--no-dev", "--group", "functions"], ["--only-group", "emulator"]):
        run(["uv", "export", "--frozen", "--no-emit-project", *options], paths, child_environment(CLONE))


def test_the_launcher_of_written_sources_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    write_sources(CLONE, tmp_path / "sources")
    code = f"import sys; sys.path.append({str(tmp_path / 'sources')!r}); import cupel.stack.durability.launcher"
    run([sys.executable, "-I", "-S", "-c", code], CLONE, child_environment(CLONE))


def test_children_find_the_python_of_the_functions(paths: StackPaths) -> None:
    own, emulators = str(Path(sys.executable).parent), str(paths.emulator_environment / "bin")
    folders = child_environment(paths)["PATH"].split(":")
    assert folders.index(own) < folders.index(emulators)


def test_the_emulator_has_the_python_of_the_functions() -> None:
    assert template()["Globals"]["Function"]["Runtime"] == f"python{PYTHON_VERSION}"


@pytest.mark.parametrize("name", SOURCES)
def test_changing_a_source_changes_the_digest(paths: StackPaths, name: str) -> None:
    before = sources_digest(paths)
    (paths.repository / name).write_text("changed")
    assert sources_digest(paths) != before


def test_renaming_a_source_changes_the_digest(paths: StackPaths) -> None:
    before = sources_digest(paths)
    (paths.repository / "shared/cupel_core/a.py").rename(paths.repository / "shared/cupel_core/b.py")
    assert sources_digest(paths) != before


def test_other_files_do_not_change_the_digest(paths: StackPaths) -> None:
    before = sources_digest(paths)
    (paths.repository / "shared/notes.md").write_text("notes")
    assert sources_digest(paths) == before


def test_a_new_clone_is_not_built(paths: StackPaths) -> None:
    assert not is_built(paths, sources_digest(paths))


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "SAM_CLI_DEBUG", "PYTHONPATH", "MAKEFLAGS"])
def test_children_do_not_inherit_an_account_or_interpreter(
    paths: StackPaths, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "mine")
    assert name not in child_environment(paths)


def test_children_use_the_embedded_cloud_only_if_it_is_named(paths: StackPaths) -> None:
    assert "AWS_ENDPOINT_URL" not in child_environment(paths)
    assert child_environment(paths, "http://127.0.0.1:1")["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"


def test_subprocesses_reach_the_local_machine_without_a_proxy(
    paths: StackPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet")
    assert child_environment(paths)["NO_PROXY"] == "intranet,127.0.0.1,localhost"


def test_the_error_of_a_failed_program_has_its_last_lines(paths: StackPaths) -> None:
    script = "import sys; print(*range(100), sep='\\n'); sys.exit(3)"
    with pytest.raises(CupelError, match=r"failed \(3\)\n85\n") as error:
        run([sys.executable, "-c", script], paths, child_environment(paths))
    assert str(error.value).endswith("\n99")


def test_the_error_names_a_missing_program(paths: StackPaths) -> None:
    with pytest.raises(CupelError, match="no-such-program is not installed"):
        run(["no-such-program"], paths, child_environment(paths))


def test_a_private_file_is_private_even_if_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    path.write_text("old and long")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_a_written_address_is_read_back(paths: StackPaths) -> None:
    local = LocalStack("http://127.0.0.1:1/x", "cupel_x", "us-east-1", "http://127.0.0.1:1", "cupel")
    write_local(paths, local)
    assert read_local(paths) == local


@pytest.mark.parametrize("text", ["", "[]", "{}", "{"])
def test_an_unreadable_address_is_none(paths: StackPaths, text: str) -> None:
    write_private(paths.local_file, text)
    assert read_local(paths) is None


def test_another_process_with_the_recorded_pid_is_not_the_emulator(paths: StackPaths) -> None:
    """The record survives a reboot, after which another process may have its pid: here, pytest."""
    paths.state.mkdir()
    (paths.state / "emulator.json").write_text(f'{{"pid": {os.getpid()}, "port": 4566}}')
    assert emulator.find_running(paths) is None
    assert emulator.stop(paths) is False


def test_a_requested_port_that_is_in_use_is_refused(paths: StackPaths) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UsageError, match="used by another program"):
            emulator.start(paths, other.getsockname()[1])


def test_existing_data_cannot_be_used_on_another_port(paths: StackPaths) -> None:
    (paths.state / "data").mkdir(parents=True)
    (paths.state / "emulator.json").write_text('{"pid": 0, "port": 4999}')
    with pytest.raises(UsageError, match="bound to port 4999"):
        emulator.start(paths, 4998)
