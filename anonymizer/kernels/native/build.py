"""Compiles the kernels when the package is built, with the compiler at hand or a packaged one.

``python anonymizer/kernels/native/build.py`` compiles them anew in a source tree.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

HERE = Path(__file__).parent
LIBRARY = HERE / "kernels.so"
"""One name everywhere: Python loads it by its path."""

FLAGS = ("-std=c++17", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-shared", "-fPIC")
"""No contraction: a product and a sum are rounded alike on every machine."""


def compiler() -> list[str]:
    """The C++ compiler that CXX names or the system has; else that of the package ``ziglang``."""
    found = os.environ.get("CXX") or shutil.which("c++")
    if found:
        return found.split()
    # Zig compiles for the processor that it runs on unless it is given another.
    return [sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline"]


def build() -> None:
    """Compile the kernels; the library appears whole or not at all."""
    made = LIBRARY.with_suffix(f".{os.getpid()}")
    try:
        command = [*compiler(), *FLAGS, str(HERE / "kernels.cpp"), "-o", str(made)]
        subprocess.run(command, check=True)  # noqa: S603 (a compiler, and files of this folder)
        made.replace(LIBRARY)
    finally:
        made.unlink(missing_ok=True)


class KernelsHook(BuildHookInterface[Any]):
    """Part of the build that hatchling calls."""

    def dependencies(self) -> list[str]:
        """What the build needs beyond hatchling: a compiler, where there is none."""
        return [] if compiler()[0] != sys.executable else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel by its platform: one serves every version of Python."""
        if self.target_name != "wheel":
            return
        build()
        build_data["artifacts"].append(f"/{LIBRARY.relative_to(self.root)}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(sys_tags()).platform}"


if __name__ == "__main__":
    build()
