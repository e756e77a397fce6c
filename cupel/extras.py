"""Checks the optional parts of the package, and says how to install a missing one."""

from importlib.util import find_spec

from cupel.errors import UsageError

_MODULES = {
    "analysis": ("numpy",),
    "bedrock": ("boto3",),
    "parquet": ("pyarrow",),
    "plots": ("matplotlib",),
    "stack": ("boto3", "pynamodb", "samcli"),
    "vertex": ("jwt", "cryptography"),
}
"""Maps an extra of pyproject.toml to packages whose absence shows that it is not installed."""


def require_extra(extra: str, purpose: str) -> None:
    """Raise UsageError, naming the command that installs the extra, unless it is installed."""
    if not all(map(find_spec, _MODULES[extra])):
        from importlib.metadata import version  # It loads the parser of e-mails, which most commands do not need.

        requirement = f"cupel[{extra}]=={version('cupel')}"  # The version is the same, and so the project.
        raise UsageError(f"{purpose} needs packages that are not installed: pip install '{requirement}'")
