"""The parts of the local stack that do not need the embedded cloud."""

import os
import signal
import socket
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.errors import CupelError, UsageError
from cupel.in_process.options import CALL_TIMEOUT_SECONDS
from cupel.stack import emulator
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.access.gate import read_hosts
from cupel.stack.access.signatures import AccessKey
from cupel.stack.address import LocalStack, read_local, write_local
from cupel.stack.deploy import (
    ALLOWED_SECONDS,
    CORS,
    DEFAULT_ORIGINS,
    choose_call_timeout,
    choose_hosts,
    choose_origins,
    is_recorded,
    probe_timeout,
    read_call_timeout,
    read_origins,
)
from cupel.stack.first_calls import warmup_calls
from cupel.stack.locks import lock_file
from cupel.stack.paths import PYTHON_VERSION, StackPaths, find_stack_paths, write_private
from cupel.stack.sources import deployed_files, is_built, sources_digest, write_sources
from cupel.stack.subprocesses import child_environment, find_python, run
from cupel.stack.workers import probe_workers
from cupel_core.interfaces.gateway import cors
from cupel_core.runs.probing.invocation import MARGIN_SECONDS
from cupel_core.store.settings import Settings
from tests.conftest import ROOT, template
from tests.lambda_context import Context

CLONE = find_stack_paths(ROOT)
ACCESS = CloudAccess("http://127.0.0.1:1", "http://127.0.0.1:2", AccessKey("CUPEL1", "secret"))

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


@pytest.mark.parametrize(
    "name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "SAM_CLI_DEBUG", "PYTHONPATH", "MAKEFLAGS", "PYTHONDONTWRITEBYTECODE"]
)
def test_children_do_not_inherit_an_account_or_interpreter(
    paths: StackPaths, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "mine")
    assert name not in child_environment(paths)


def test_children_use_the_embedded_cloud_only_if_it_is_named(paths: StackPaths) -> None:
    assert "AWS_ENDPOINT_URL" not in child_environment(paths)
    environment = child_environment(paths, ACCESS)
    assert (environment["AWS_ENDPOINT_URL"], environment["AWS_SECRET_ACCESS_KEY"]) == (ACCESS.endpoint_url, "secret")


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
    local = LocalStack("http://127.0.0.1:1/x", "cupel_x", "us-east-1", ACCESS, "cupel")
    write_local(paths, local)
    assert read_local(paths) == local
    assert stat.S_IMODE(paths.local_file.stat().st_mode) == 0o600


def test_a_shell_takes_the_variables_of_the_stack() -> None:
    access = CloudAccess("http://127.0.0.1:1", "http://127.0.0.1:2", AccessKey("CUPEL1", "a 'quoted' $secret"))
    script = "\n".join([*access.exports("eu-central-1"), 'echo "$AWS_ENDPOINT_URL_S3 $AWS_SECRET_ACCESS_KEY"'])
    assert run(["sh", "-c", script], CLONE, child_environment(CLONE)) == "http://127.0.0.1:2 a 'quoted' $secret\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["env"], 1, "start it with `cupel up`"),
        (["up", "--allow-host", "*:4566"], 2, '"*:4566" is no host'),
        (["up", "--allow-host", "dev.example"], 2, '"dev.example" is no host'),
    ],
)
def test_the_command_explains_what_it_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    finished = CliRunner().invoke(app, arguments)
    assert (finished.exit_code, message in finished.stderr) == (code, True), finished.stderr


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o500])
def test_the_folder_of_a_stack_is_closed_to_others(paths: StackPaths, mode: int) -> None:
    paths.state.mkdir(mode=mode)
    paths.make_private()
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (paths.state, paths.tools)} == {0o700}


def test_hosts_are_forgotten_by_the_next_start(paths: StackPaths) -> None:
    choose_hosts(paths, ["dev.example:8443", "localhost:9000"])
    chosen = read_hosts(paths.hosts_file)
    choose_hosts(paths, [])
    assert chosen == {"dev.example:8443", "localhost:9000"}
    assert read_hosts(paths.hosts_file) == set()


@pytest.mark.parametrize(
    "host",
    ["*", "*:4566", "dev.example", "Dev.example:80", "http://dev.example:80", "a:0", "a:70000", "a:1,b:2", ":80", ""],
)
def test_what_no_browser_sends_is_no_host(paths: StackPaths, host: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        choose_hosts(paths, [host])


def test_a_host_at_a_usual_port_is_sent_without_it(paths: StackPaths) -> None:
    choose_hosts(paths, ["dev.example:443", "other.example:8443"])
    assert read_hosts(paths.hosts_file) == {"dev.example:443", "dev.example", "other.example:8443"}


@pytest.mark.parametrize("text", ["", "{", "1", "[1]", '{"a": 1}', '["*:80"]'])
def test_a_damaged_file_of_hosts_allows_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "hosts.json").write_text(text)
    assert read_hosts(tmp_path / "hosts.json") == set()


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
    paths.emulator_record.write_text(emulator._encode_record(emulator.Emulator(0, 4999, 5000, ACCESS.key)))
    with pytest.raises(UsageError, match="bound to port 4999"):
        emulator.start(paths, 4998)


def executable(path: Path, script: str = "") -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_interpreter_of_the_command_is_used_if_it_has_the_version_of_the_functions(tmp_path: Path) -> None:
    own = executable(tmp_path / "own/bin" / f"python{PYTHON_VERSION}")
    assert find_python({}, str(tmp_path / "own")) == str(own)


def test_an_interpreter_behind_a_shim_is_found(tmp_path: Path) -> None:
    """A version manager installs such shims, and uv does not follow them."""
    interpreter = executable(tmp_path / f"versions/{PYTHON_VERSION}.0/bin/python{PYTHON_VERSION}")
    executable(tmp_path / f"shims/python{PYTHON_VERSION}", f"echo {interpreter.parents[1]}")
    assert find_python({"PATH": f"{tmp_path}/none:{tmp_path}/shims"}, "/none") == str(interpreter)


@pytest.mark.parametrize("script", ["exit 127", "echo /none", "printf ''"])
def test_uv_searches_if_no_interpreter_is_found(tmp_path: Path, script: str) -> None:
    executable(tmp_path / f"shims/python{PYTHON_VERSION}", script)
    assert find_python({"PATH": f"{tmp_path}/shims"}, "/none") == PYTHON_VERSION


def test_a_second_process_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    said, done = Event(), Event()

    def wait_for_lock() -> None:
        with lock_file(tmp_path / "lock", said.set):
            done.set()

    with lock_file(tmp_path / "lock"):
        second = Thread(target=wait_for_lock)
        second.start()
        assert said.wait(60)
        assert not done.is_set()
    second.join(60)
    assert done.is_set()


def test_who_gets_the_lock_at_once_says_nothing(tmp_path: Path) -> None:
    messages: list[str] = []
    for _ in range(2):
        with lock_file(tmp_path / "lock", lambda: messages.append("waiting")):
            pass
    assert messages == []


def test_stopping_ends_with_the_last_worker_and_its_code(paths: StackPaths) -> None:
    """The emulator was killed, and what its last start has not deleted yet is left, too."""
    code = paths.state / "scratch/ministack-lambda-cupel-probe-1/_worker.py"
    code.parent.mkdir(parents=True)
    code.write_text("input()")
    (paths.state / "deleted-1/scratch").mkdir(parents=True)
    with subprocess.Popen([sys.executable, str(code)], stdin=subprocess.PIPE) as worker:
        emulator.stop(paths)
        assert worker.wait(60) == -signal.SIGKILL
    assert list(paths.state.iterdir()) == []
