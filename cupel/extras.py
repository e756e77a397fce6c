"""The optional parts of the package: what an installation without extras leaves out, and how to add it."""

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
"""By extra of pyproject.toml: the packages whose absence shows that it is not installed."""


def require_extra(extra: str, purpose: str) -> None:
    """UsageError, naming the command that installs the extra, unless it is installed."""
    if not all(map(find_spec, _MODULES[extra])):
        from importlib.metadata import version  # loads the parser of e-mails, which most commands do not need

        requirement = f"cupel[{extra}]=={version('cupel')}"  # of this version, and so of this project
        raise UsageError(f"{purpose} needs packages that are not installed: pip install '{requirement}'")
