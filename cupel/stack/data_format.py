"""Checks the number of the data format that is stored beside a local stack's data; other data are refused."""

from cupel.errors import CupelError
from cupel.stack.paths import StackPaths, write_private
from cupel_core.store.data_format import DATA_FORMAT


def check_data_format(paths: StackPaths) -> None:
    """Mark new data with the format of this build. CupelError if there are data with another mark, or without one."""
    present = str(DATA_FORMAT)
    if _read_mark(paths) == present:
        return
    if paths.data.is_dir() and any(paths.data.iterdir()):
        raise CupelError(
            f"the data in {paths.data} are in another format than this build of Cupel reads; "
            "`cupel down --discard` deletes them"
        )
    write_private(paths.data_format, present)


def _read_mark(paths: StackPaths) -> str | None:
    try:
        return paths.data_format.read_text().strip()
    except (FileNotFoundError, ValueError):
        return None
