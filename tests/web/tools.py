"""Playwright and a browser for the tests of the page, installed below .cupel.

`python -m tests.web.tools` installs them, after `web/build.py` has installed Node. A Chromium of the system is used if
it is new enough, or the one that CUPEL_CHROMIUM names. Otherwise a Chromium that is published for Lambda, with the
libraries that it needs beside the C library: 70 MB to load, 210 MB on the disk.
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from web.build import NPM, TOOLS, run_node

PLAYWRIGHT_FOLDER = TOOLS / "playwright"
_PLAYWRIGHT = "playwright==1.65.2"
_PACKAGE = "@sparticuz/chromium@153.0.0"
_SHA512 = "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
_CHROMIUM = TOOLS / "chromium"
_OLDEST = 140
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_DECOMPRESS = """
const [, source, target] = process.argv
const { createReadStream, createWriteStream } = require('fs')
createReadStream(source).pipe(require('zlib').createBrotliDecompress()).pipe(createWriteStream(target))
"""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{0}/fonts</dir><cachedir>{0}/cache</cachedir></fontconfig>
"""


class Browser(NamedTuple):
    program: str
    environment: dict[str, str]


def install() -> None:
    _install_once(PLAYWRIGHT_FOLDER, _PLAYWRIGHT, _install_playwright)
    if _of_the_system() is None:
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            sys.exit(f"install Chromium {_OLDEST} or newer for the tests of the page, or name one with CUPEL_CHROMIUM")
        _install_once(_CHROMIUM, _SHA512, _install_chromium)


def find_browser() -> Browser:
    found = _of_the_system()
    if found is not None:
        return Browser(found, {})
    environment = {"LD_LIBRARY_PATH": str(_CHROMIUM / "lib"), "FONTCONFIG_FILE": str(_CHROMIUM / "fonts.conf")}
    return Browser(str(_CHROMIUM / "chromium"), environment)


def _of_the_system() -> str | None:
    if named := os.environ.get("CUPEL_CHROMIUM"):
        return named
    return next((found for name in _NAMES if (found := shutil.which(name)) and _major(found) >= _OLDEST), None)


def _major(program: str) -> int:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"(\d+)\.\d+\.\d+", answer.stdout)
    return int(version[1]) if version else 0


def _install_once(folder: Path, version: str, install_to: Callable[[Path], None]) -> None:
    """The folder appears only once it is complete."""
    record = folder / ".version"
    if record.is_file() and record.read_text() == version:
        return
    print(f"installing {folder.name} below .cupel for the tests of the page", file=sys.stderr)
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    for each in (unfinished, folder):
        shutil.rmtree(each, ignore_errors=True)
    unfinished.mkdir(parents=True)
    install_to(unfinished)
    (unfinished / ".version").write_text(version)
    unfinished.rename(folder)


def _install_playwright(folder: Path) -> None:
    subprocess.run(["uv", "pip", "install", "--quiet", "--target", str(folder), _PLAYWRIGHT], check=True)


def _install_chromium(folder: Path) -> None:
    options = ["--silent", "--ignore-scripts", "--pack-destination", str(folder), "--cache", str(folder / "npm")]
    run_node(NPM, "pack", _PACKAGE, *options)
    shutil.rmtree(folder / "npm", ignore_errors=True)
    (package,) = folder.glob("*.tgz")
    if base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() != _SHA512:
        sys.exit(f"{_PACKAGE} has other content than expected")
    with tarfile.open(package) as archive:
        archive.extractall(folder, filter="data")
    package.unlink()
    compressed = folder / "package" / "bin"
    _decompress(compressed / "chromium.br", folder / "chromium")
    (folder / "chromium").chmod(0o755)
    for name in ("al2023.tar", "fonts.tar"):
        _decompress(compressed / f"{name}.br", folder / name)
        with tarfile.open(folder / name) as archive:
            archive.extractall(folder, filter="data")
        (folder / name).unlink()
    shutil.rmtree(folder / "package")
    (folder / "fonts.conf").write_text(_FONTS.format(_CHROMIUM))


def _decompress(source: Path, target: Path) -> None:
    run_node("-e", _DECOMPRESS, str(source), str(target))


if __name__ == "__main__":
    install()
