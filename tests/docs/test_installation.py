"""What an installation is: a wheel that works on its own."""

import subprocess
import sys
import zipfile

from hatchling.build import build_wheel
from pages import ROOT


def test_the_wheel_works_on_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    wheel = build_wheel(str(tmp_path))  # what installers call
    assert "-py3-none-" in wheel  # of this platform, for every version of Python
    zipfile.ZipFile(tmp_path / wheel).extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import anonymizer.cli as cli;"
        "assert cli.__file__.startswith(sys.path[0]); cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(tmp_path / "site"), "demo", "--output", "out"],
        cwd=tmp_path,
        env={"PATH": ""},  # without a compiler
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The release is in out" in done.stdout
    native = tmp_path / "site" / "anonymizer" / "kernels" / "native"
    assert [path.name for path in native.iterdir()] == ["kernels.so"]
    assert (tmp_path / "out" / "released.csv").exists()
    assert (tmp_path / "site" / "anonymizer" / "shipped" / "hierarchies" / "adult").is_dir()
