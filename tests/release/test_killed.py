"""The short form of ``python benchmarks/bench_kill.py``: no half release, whoever is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be forked there")
def test_a_killed_run_leaves_a_whole_release_or_nothing():
    command = [sys.executable, "benchmarks/bench_kill.py"]
    command += ["--rounds", "1", "--records", "500", "--print"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "| killed |" in done.stdout
    assert "| wrong | 0 |" in done.stdout
