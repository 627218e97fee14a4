"""Random policies, as study files state them; mild, so that many a small table satisfies them."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .hierarchies import listed, number_in

__all__ = ["POLICIES", "Scene", "policy"]

Stated = dict[str, object]


@dataclass
class Scene:
    """What a policy is about: a table by columns, and files that may lie next to it."""

    rng: random.Random
    table: Mapping[str, Sequence[object]]
    names: Sequence[str]
    sensitive: Sequence[str]
    recoding: str
    missing: str = "error"
    files: dict[str, str] = field(default_factory=dict)
    population: str | None = None

    @property
    def records(self) -> int:
        return len(self.table[self.names[0]])

    def about(self) -> Stated:
        """The attribute of a model; all of them when left out."""
        named = len(self.sensitive) > 1 and self.rng.random() < 0.5
        return {"attribute": self.rng.choice(self.sensitive)} if named else {}

    def values(self, stated: Stated) -> list[str]:
        """The distinct texts of the attributes that a model is about."""
        names = [stated["attribute"]] if "attribute" in stated else self.sensitive
        found = Counter(str(v).strip() for name in names for v in self.table[name] if v is not None)
        return [text for text in found if text]


def policy(scene: Scene) -> list[Stated]:
    """One to three models, as a rule ones that go together with the recoding."""
    rng = scene.rng
    if scene.recoding == "safepub":
        return [{"model": "differential-privacy", **POLICIES["differential-privacy"](scene)}]
    apart = ("differential-privacy", LEAKAGE)
    known = [name for name in POLICIES if name not in apart and fits(name, scene)]
    weights = [3 if name in ("k-anonymity", "distinct-l-diversity") else 1 for name in known]
    names = rng.choices(known, weights, k=rng.choice((1, 1, 2, 2, 3)))
    stated = [{"model": name, **POLICIES[name](scene)} for name in dict.fromkeys(names)]
    return [_in_bits(each) for each in stated]


LEAKAGE = "pointwise-maximal-leakage"


def _in_bits(stated: Stated) -> Stated:
    """Basic beta-likeness of 1 is a leakage of 1 bit; a name drawn anew changes all studies."""
    if stated["model"] != "basic-beta-likeness" or stated["beta"] != 1:
        return stated
    return {"model": LEAKAGE, **{"epsilon" if key == "beta" else key: each for key, each
            in stated.items() if key != "model"}}  # fmt: skip


def fits(name: str, scene: Scene) -> bool:
    """Whether a model can be held with a recoding; now and then whatever it is."""
    if name not in OF_SIZES and not scene.sensitive:
        return False
    if name in OF_PEOPLE:
        return scene.population is not None and scene.recoding in ("full-domain", "fixed")
    if name in OF_TABLES and scene.recoding != "full-domain":
        return scene.rng.random() < 0.02
    convex = name not in ("distinct-l-diversity", "recursive-l-diversity")
    return scene.recoding != "random" or convex or scene.rng.random() < 0.05


def _k_anonymity(scene: Scene) -> Stated:
    return {"k": scene.rng.choice((1, 2, 2, 3, 4, 5))}


def _distinct(scene: Scene) -> Stated:
    stated = scene.about()
    most = len(scene.values(stated)) if scene.rng.random() < 0.9 else 3
    return {"l": min(scene.rng.choice((1, 2, 2, 2, 3)), max(most, 1)), **stated}


def _entropy(scene: Scene) -> Stated:
    rng = scene.rng
    estimator = rng.choice(("plug-in", "plug-in", "plug-in", "miller-madow", "grassberger"))
    stated = {"l": rng.choice((1, 1.2, 1.5, 1.8, 2, 2.0)), **scene.about()}
    return stated if estimator == "plug-in" else {**stated, "estimator": estimator}


def _recursive(scene: Scene) -> Stated:
    return {
        "c": scene.rng.choice((1.5, 2, 3, 5)),
        "l": scene.rng.choice((1, 2, 2)),
        **scene.about(),
    }


def _closeness(scene: Scene) -> Stated:
    rng, stated = scene.rng, scene.about()
    distance = rng.choice(("kl", "kl", "equal", "ordered", "hierarchical"))
    stated |= {"distance": distance, "t": rng.choice((0.1, 0.3, 0.5, 0.8, 1.0, 1.5))}
    values = scene.values(stated)
    if distance == "ordered" and (not all(map(number_in, values)) or rng.random() < 0.3):
        stated["order"] = rng.sample([*values, "elsewhere"], len(values) + 1)
    if distance == "hierarchical":
        stated["hierarchy"] = f"sensitive{len(scene.files)}.csv"
        scene.files[str(stated["hierarchy"])] = listed(rng, values or ["x"])
    return stated


def _alpha(scene: Scene) -> Stated:
    alpha = scene.rng.choice((0.6, 0.75, 0.9, 0.95, 1))
    return {"alpha": alpha, "k": scene.rng.choice((1, 2, 3)), **scene.about()}


def _beta(scene: Scene) -> Stated:
    return {"beta": scene.rng.choice((0.5, 1, 2, 4)), **scene.about()}


def _leakage(scene: Scene) -> Stated:
    return {"epsilon": 1, **scene.about()}


def _delta(scene: Scene) -> Stated:
    return {"delta": scene.rng.choice((0.5, 1, 2, 4)), **scene.about()}


def _gain(scene: Scene) -> Stated:
    return {"gain": scene.rng.choice((0.1, 0.3, 0.5, 0.7)), **scene.about()}


def _bits(scene: Scene) -> Stated:
    return {"bits": scene.rng.choice((0.05, 0.2, 0.5, 1)), **scene.about()}


def _itpr(scene: Scene) -> Stated:
    return {"risk": scene.rng.choice((0.3, 0.6, 0.9, 1)), **scene.about()}


def _small(scene: Scene) -> Stated:
    return {"risk": scene.rng.choice((0.6, 0.9, 0.99))}


def _people(scene: Scene) -> Stated:
    return {"population": scene.population}


def _k_map(scene: Scene) -> Stated:
    return {"k": scene.rng.choice((2, 3, 5)), **_people(scene)}


def _presence(scene: Scene) -> Stated:
    rng = scene.rng
    return {
        "lower": rng.choice((0, 0, 0.1)),
        "upper": rng.choice((0.6, 0.8, 0.9)),
        **_people(scene),
    }


def _risk(scene: Scene) -> Stated:
    people = scene.population is not None and scene.rng.random() < 0.5
    return {"risk": scene.rng.choice((0.2, 0.34, 0.5, 0.7)), **(_people(scene) if people else {})}


def _uniqueness(scene: Scene) -> Stated:
    rng = scene.rng
    stated: Stated = {
        "uniqueness": rng.choice((0.05, 0.2, 0.5)),
        "fraction": rng.choice((0.05, 0.3, 1)),
    }
    estimator = rng.choice(("dankar", "zayatz", "zayatz", "pitman", "snb"))
    return stated if estimator == "dankar" else {**stated, "estimator": estimator}


def _private(scene: Scene) -> Stated:
    return {"epsilon": scene.rng.choice((1.0, 1.5, 2)), "delta": scene.rng.choice((0.1, 0.2, 0.3))}


POLICIES: dict[str, Callable[[Scene], Stated]] = {
    "k-anonymity": _k_anonymity,
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "t-closeness": _closeness,
    "alpha-k-anonymity": _alpha,
    "basic-beta-likeness": _beta,
    "enhanced-beta-likeness": _beta,
    "delta-disclosure": _delta,
    LEAKAGE: _leakage,
    "bayesian-gain": _gain,
    "value-gain": _gain,
    "mean-information": _bits,
    "itpr": _itpr,
    "k-map": _k_map,
    "delta-presence": _presence,
    "average-reidentification-risk": _risk,
    "highest-reidentification-risk": _risk,
    "reidentification-itpr": _small,
    "population-uniqueness": _uniqueness,
    "differential-privacy": _private,
}
"""What is stated of each model of the library."""

OF_PEOPLE = ("k-map", "delta-presence")
OF_TABLES = ("mean-information", "itpr", "average-reidentification-risk", "reidentification-itpr",
             "population-uniqueness")  # fmt: skip
OF_SIZES = (*OF_PEOPLE, "k-anonymity", *OF_TABLES[2:], "highest-reidentification-risk",
            "differential-privacy")  # fmt: skip
