"""Models and objectives of other packages, by their names in studies."""

import json
import sys
import textwrap

import pandas as pd
import pytest

from anonymizer import InputError
from anonymizer.cli import main
from anonymizer.objectives import OBJECTIVES, objective_of
from anonymizer.privacy import MODELS
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import verify_release

CODE = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.kernels import Worth
from anonymizer.objectives import Objective
from anonymizer.privacy.base import SensitiveModel


@dataclass(frozen=True)
class LikeliestShare(SensitiveModel):
    """No sensitive value is likelier than a share in a class."""

    name: ClassVar[str] = "likeliest-share"
    condition: ClassVar[str] = "max_w p(w|g) <= share"
    bounded_by: ClassVar[str] = "share"

    share: float

    def measure(self, classes):
        return classes.shares.max(axis=1)


@dataclass(frozen=True)
class RootSizes(Objective):
    """The sum of sqrt(n_g)."""

    name: ClassVar[str] = "root-sizes"

    def score(self, candidate):
        return candidate.total(self.name, lambda columns: float(np.sqrt(columns[:, -1]).sum()))

    def quantity(self, score, records):
        return score

    def per_class(self, counts):
        return np.sqrt(counts.sizes)

    def worth(self, layout):
        return Worth.of_sizes(np.sqrt(np.arange(layout.records + 1)))


class Impostor:
    name = "impostor"


other_name = LikeliestShare
'''

STUDY = """
[data]
path = "t.csv"

[quasi-identifiers]
age = { widths = [10, 20] }
sex = "suppress"

[sensitive]
attributes = "d"

[[privacy]]
model = "likeliest-share"
share = 0.7

[objective]
name = "root-sizes"
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small distribution that is installed in the working directory, and nowhere else."""
    monkeypatch.chdir(tmp_path)
    name = f"shares_{abs(hash(tmp_path)):x}"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / f"{name}.py").write_text(CODE)
    info = tmp_path / "site" / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    entries = f"""
        [anonymizer.models]
        likeliest-share = {name}:LikeliestShare
        k-anonymity = {name}:LikeliestShare

        [anonymizer.objectives]
        root-sizes = {name}:RootSizes
        """
    (info / "entry_points.txt").write_text(textwrap.dedent(entries))
    monkeypatch.syspath_prepend(tmp_path / "site")
    ages = [20, 21, 25, 29, 31, 33, 38, 39] * 3
    table = pd.DataFrame({"age": ages, "sex": [*"fm"] * 12, "d": [*"abcabb"] * 4})
    table.to_csv("t.csv", index=False)
    (tmp_path / "s.toml").write_text(STUDY)
    return name


def code(arguments: list[str]) -> object:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_a_study_names_a_model_and_an_objective_of_another_package(package, tmp_path, capsys):
    release, _ = publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    (verdict,) = release.privacy
    assert (verdict.model.name, verdict.satisfied) == ("likeliest-share", True)
    released = pd.read_csv(tmp_path / "r" / "released.csv")
    shares = [
        rows["d"].value_counts(normalize=True).max() for _, rows in released.groupby(["age", "sex"])
    ]
    assert verdict.worst == pytest.approx(max(shares))
    sizes = released.groupby(["age", "sex"]).size()
    assert release.search.value == pytest.approx((sizes**0.5).sum())
    assert verify_release(tmp_path / "r").satisfied
    assert verify_release(tmp_path / "r", tmp_path / "s.toml").satisfied
    assert code(["report", "r", "-o", "page.html"]) == 0
    assert code(["check", "r", "--require", "likeliest-share=0.7"]) == 0
    assert code(["models"]) == 0
    assert "| `likeliest-share`: `share` | `LikeliestShare` |" in capsys.readouterr().out


def test_a_changed_figure_of_it_is_noticed(package, tmp_path):
    publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    path = tmp_path / "r" / "release.json"
    manifest = json.loads(path.read_text())
    manifest["privacy"][0]["worst"] -= 0.01
    path.write_text(json.dumps(manifest))
    assert not verify_release(tmp_path / "r").satisfied


def test_nothing_is_imported_before_its_name_is_looked_up(package):
    assert "likeliest-share" in MODELS
    assert "likeliest-share" not in [*MODELS]
    assert package not in sys.modules
    assert MODELS["likeliest-share"].__module__ == package
    assert objective_of("root-sizes").name == "root-sizes"
    assert MODELS["k-anonymity"].__module__.startswith("anonymizer.")
    assert OBJECTIVES.get("nothing") is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Impostor", "the entry point 'other' of anonymizer.models, .* is no PrivacyModel; enter"),
        ("other_name", "the entry point 'other' of .* has the name 'likeliest-share', by which"),
        ("Absent", r"'other' of .* cannot be loaded \(AttributeError\); mend or remove"),
    ],
)
def test_what_is_no_model_is_refused(package, tmp_path, monkeypatch, name, message):
    info = tmp_path / "more" / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[anonymizer.models]\nother = {package}:{name}\n")
    monkeypatch.syspath_prepend(tmp_path / "more")
    with pytest.raises(InputError, match=message):
        _ = MODELS["other"]


def test_without_the_package_its_release_is_not_believed(package, tmp_path, monkeypatch, capsys):
    publish(Study(tmp_path / "s.toml"), tmp_path / "r")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not path.endswith("site")])
    assert "likeliest-share" not in MODELS
    assert code(["verify", "r"]) == 2
    assert "a privacy model that this version does not know" in capsys.readouterr().err
    assert code(["run", "s.toml", "-o", "r2"]) == 2
    assert "model = 'likeliest-share' is unknown; did you mean" in capsys.readouterr().err
