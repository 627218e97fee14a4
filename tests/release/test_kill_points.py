"""The short form of ``python -m tests.kill_points``: whatever strikes, a release is whole."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be forked there")
def test_whatever_strikes_a_release_is_whole_and_what_is_said_is_true(tmp_path):
    shared = Path("/dev/shm")
    place = shared if shared.is_dir() else tmp_path
    command = [sys.executable, "-m", "tests.kill_points", "--quick", "--races", "4", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n0 wrong\n")
    assert "SIGKILL at steps" in done.stdout
