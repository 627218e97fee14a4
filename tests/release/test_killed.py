"""The short form of ``python benchmarks/bench_kill.py``: no half release, whoever is killed."""

import sys
from pathlib import Path

import pytest
from forked import carried_out

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be forked there")
def test_a_killed_run_leaves_a_whole_release_or_nothing():
    """In a process that has loaded the package, as each run of the benchmark is forked from one."""
    command = [str(ROOT / "benchmarks" / "bench_kill.py"), "--rounds", "1", "--records", "500"]
    program = f"import runpy, sys; sys.argv = {[*command, '--print']}; "
    code, out, err = carried_out("-c", f"{program}runpy.run_path(sys.argv[0], run_name='__main__')")
    assert (code, err) == (0, ""), out
    assert "| killed |" in out
    assert "| wrong | 0 |" in out
