"""The study of salary on Adult, other attributes being sensitive, against every node counted."""

import shutil
from collections import Counter
from itertools import product
from pathlib import Path

import literature
import numpy as np
import pandas as pd
import pytest
from checker import divergence, entropy

from anonymizer import Hierarchy, Study
from anonymizer.cli import main
from anonymizer.tables.datasets import adult_hierarchy, shipped

NAMES = ["age", "sex", "race", "education", "workclass", "native-country"]
MARITAL, OCCUPATION, TARGET = "marital-status", "occupation", "salary-class"


@pytest.fixture(scope="module")
def study(adult, tmp_path_factory) -> Study:
    """The study next to its table, as its first lines say."""
    directory = tmp_path_factory.mktemp("data") / "data"
    directory.mkdir()
    shutil.copytree(shipped("hierarchies"), directory.parent / "hierarchies")
    shutil.copy(shipped("data", "adult-salary.toml"), directory)
    adult.to_csv(directory / "adult.csv", index=False)
    return Study(directory / "adult-salary.toml")


def numbered(labels: list[object]) -> tuple[np.ndarray, int]:
    codes, distinct = pd.factorize(pd.Series(labels, dtype=object))
    return codes, len(distinct)


class Brute:
    """Every node of the lattice, counted by packed labels of the distinct records."""

    def __init__(self, adult: pd.DataFrame) -> None:
        columns = [*NAMES, MARITAL, OCCUPATION, TARGET]
        counted = adult.value_counts(columns)
        self.rows = counted.index.to_frame(index=False)
        self.records = counted.to_numpy()
        self.values = {name: numbered(self.rows[name]) for name in (MARITAL, OCCUPATION, TARGET)}
        self.levels = []
        for name in NAMES:
            hierarchy = Hierarchy.read(adult_hierarchy(name))
            labels = {v: (v, *hierarchy.labels(v)) for v in self.rows[name].unique()}
            chains = [labels[value] for value in self.rows[name]]
            self.levels.append(
                [
                    numbered([chain[level] for chain in chains])
                    for level in range(hierarchy.height + 1)
                ]
            )

    def best(self) -> tuple[float, list[tuple[int, ...]], int]:
        """The most information about the target, the nodes that keep it, and the feasible ones."""
        scores = {}
        for node in product(*(range(len(levels)) for levels in self.levels)):
            classes = self.classes(node)
            sizes = np.bincount(classes, self.records)
            if sizes.min() >= 5 and self.acceptable(classes):
                scores[node] = self.information(classes)
        top = max(scores.values())
        return top, [node for node, bits in scores.items() if bits > top - 1e-9], len(scores)

    def classes(self, node: tuple[int, ...]) -> np.ndarray:
        key = np.zeros(len(self.rows), np.int64)
        for levels, level in zip(self.levels, node, strict=True):
            codes, number = levels[level]
            key = key * number + codes
        return pd.factorize(key)[0]

    def groups(self, classes: np.ndarray, attribute: str) -> tuple[list[Counter], Counter]:
        """The values of each class, and those of the table."""
        codes, number = self.values[attribute]
        counts = np.bincount(classes * number + codes, self.records).astype(int)
        counts.resize(-(-len(counts) // number), number)
        found = [Counter({v: n for v, n in enumerate(row) if n}) for row in counts.tolist()]
        return found, sum(found, Counter())

    def acceptable(self, classes: np.ndarray) -> bool:
        groups, table = self.groups(classes, MARITAL)
        if any(divergence(g, table) > 1.2 or entropy(g) < np.log2(1.5) for g in groups):
            return False
        groups, table = self.groups(classes, OCCUPATION)
        return all(literature.equal(g, table) <= 0.4 and len(g) >= 3 for g in groups)

    def information(self, classes: np.ndarray) -> float:
        groups, table = self.groups(classes, TARGET)
        return sum(g.total() * divergence(g, table) for g in groups) / table.total()


def test_the_optimum_is_that_of_brute_force(study, adult):
    fitted = study.anonymizer().fit(study.read())
    release = fitted.release_
    top, tied, feasible = Brute(adult).best()
    assert tuple(release.levels[name] for name in NAMES) in tied
    assert fitted.search_.value == pytest.approx(top, abs=1e-9)
    assert (fitted.search_.feasible, fitted.search_.nodes) == (feasible, 2304)
    assert release.targets[TARGET].retained == pytest.approx(top, abs=1e-9)
    about = {(verdict.model.name, verdict.attribute) for verdict in release.privacy}
    assert about == {
        ("k-anonymity", None),
        ("t-closeness", MARITAL),
        ("entropy-l-diversity", MARITAL),
        ("t-closeness", OCCUPATION),
        ("distinct-l-diversity", OCCUPATION),
    }


def test_another_target_another_optimum(study):
    table = study.read()
    towards = study.anonymizer().fit(table)
    away = study.anonymizer().set_params(objective="mutual-information").fit(table)
    assert away.release_.levels != towards.release_.levels
    assert away.release_.information.retained > towards.release_.information.retained
    both = study.anonymizer()
    both.set_params(objective__target={TARGET: 1, OCCUPATION: 0.5}).fit(table)
    kept = {name: about.retained for name, about in both.release_.targets.items()}
    assert both.search_.value == pytest.approx(kept[TARGET] + 0.5 * kept[OCCUPATION])


def test_it_runs_from_the_command_line(study, tmp_path, capsys):
    for command in (["run", "--output", str(tmp_path / "out")], ["check", "-s"], ["verify", "-s"]):
        released = Path(tmp_path, "out", "released.csv")
        place = [str(study.path)] if command[0] == "run" else [str(released)]
        arguments = [command[0], *place, *command[1:]]
        if command[0] != "run":
            arguments.append(str(study.path))
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
    assert "Information about salary-class" in capsys.readouterr().out
