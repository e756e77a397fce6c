"""`make docs`: write the reference pages and the GraphQL schema below docs, and build the site in .site.

Broken links are errors.
"""

import json
import subprocess
import sys
from pathlib import Path

from tools.docs_site import api_reference, command_reference

_ROOT = Path(__file__).parents[2]
_REFERENCE = _ROOT / "docs/reference"


def main() -> None:
    subprocess.run([sys.executable, "-m", "tools.generate"], cwd=_ROOT, check=True)
    _REFERENCE.mkdir(exist_ok=True)
    document = json.loads((_ROOT / "docs/openapi.json").read_text())
    (_REFERENCE / "api.md").write_text(api_reference.page(document))
    (_REFERENCE / "command.md").write_text(command_reference.page())
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    sys.exit(subprocess.run(build, cwd=_ROOT, check=False).returncode)  # noqa: S603 - arguments of our own making


if __name__ == "__main__":
    main()
