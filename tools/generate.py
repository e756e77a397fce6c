"""`python -m tools.generate`: write the generated files that git does not contain, if an input of them has changed.

`make ready`, the layer's Makefile, the build of the distributions, `cupel up` in a clone and the documentation site
call it. Rendering the files imports the application. If this Python lacks its requirements, uv runs the program again
in a temporary environment with the locked ones; until then it needs only the standard library.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = (
    "shared/cupel_core/interfaces/graphql/types.graphql",
    "shared/cupel_core/interfaces/mcp_tools.json",
    "shared/cupel_core/interfaces/mcp_operations.json",
    "shared/cupel_core/interfaces/openapi.json.gz",
    "docs/graphql.d.ts",
    "docs/schema.graphql",
)
INPUTS = (
    "docs/openapi.json",
    "uv.lock",
    "shared/cupel_core/interfaces/graphql/schema.graphql",
    "shared/cupel_core/**/*.py",
    "tools/refresh/*.py",
    "tools/generate.py",
)
_RECORD = ".cupel/generated.digest"
_REQUIRED = ("aws_lambda_powertools", "boto3", "graphql", "jmespath", "orjson", "pydantic", "pynamodb", "yaml")
"""A Python with these modules has all imports of the rendering."""
_EXPORT = "export --quiet --frozen --no-dev --group functions --group graphql --no-emit-project --no-hashes --no-header"
_RUN = "run --quiet --no-project --isolated"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--always", action="store_true", help="write the files also if no input has changed")
    arguments = parser.parse_args()
    digest = digest_inputs(ROOT)
    if not arguments.always and is_current(ROOT, digest):
        return
    if not all(map(find_spec, _REQUIRED)):
        sys.exit(_run_with_requirements())
    for name, content in render():
        write(ROOT / name, content)
    write(ROOT / _RECORD, digest.encode())


def digest_inputs(root: Path) -> str:
    """Return a digest of the names and contents of all files that the generated files are derived from."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in INPUTS for path in root.glob(pattern)):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_current(root: Path, digest: str) -> bool:
    record = root / _RECORD
    return all((root / name).is_file() for name in GENERATED) and record.is_file() and record.read_text() == digest


def render() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each generated file; the first is written before the others are rendered."""
    sys.path[:0] = [str(ROOT / "functions"), str(ROOT / "shared")]
    from cupel_core.interfaces.graphql.schema import printed, schema
    from tools.refresh import graphql_types, graphql_typescript, mcp_tools, served_openapi

    yield "shared/cupel_core/interfaces/graphql/types.graphql", graphql_types.render().encode()
    yield "shared/cupel_core/interfaces/mcp_tools.json", mcp_tools.render()
    yield "shared/cupel_core/interfaces/mcp_operations.json", mcp_tools.render_operations()
    yield "shared/cupel_core/interfaces/openapi.json.gz", served_openapi.render()
    yield "docs/graphql.d.ts", graphql_typescript.render(schema()).encode()  # schema() reads types.graphql
    yield "docs/schema.graphql", printed().encode()


def write(path: Path, content: bytes) -> None:
    """Replace the file atomically, so that no reader ever finds a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(content)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)


def _run_with_requirements() -> int:
    """Run this program once more, in a Python with the locked requirements, and return its exit status."""
    uv = find_uv()
    if uv is None:
        return _fail("the requirements of the functions are missing, and uv, which installs them, is not on PATH")
    with tempfile.TemporaryDirectory() as folder:
        requirements = str(Path(folder) / "requirements.txt")
        exported = _call([uv, *_EXPORT.split(), "--output-file", requirements])
        if exported:
            return exported
        with_requirements = ["--python", sys.executable, "--with-requirements", requirements]
        return _call([uv, *_RUN.split(), *with_requirements, "python", "-m", "tools.generate"])


def find_uv() -> str | None:
    """Return the uv that started this program, the one that `make` has installed, or the first on PATH."""
    folders = [str(ROOT / ".cupel/uv/bin"), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return os.environ.get("UV") or shutil.which("uv", path=os.pathsep.join(folders))


def _call(command: list[str]) -> int:
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode  # noqa: S603


def _fail(message: str) -> int:
    print(f"python -m tools.generate: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
