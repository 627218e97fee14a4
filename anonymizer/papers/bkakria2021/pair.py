"""Tables 1 and 2 of Bkakria et al. (2021): two releases that k, l and t rank the wrong way."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.papers.bkakria2021.schemes import METRICS
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.row import PublishedSection, Row

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Patients:
    """Table 1a or 2a, by column."""

    zips: Texts
    ages: tuple[int, ...]
    diseases: Texts

    @property
    def generalized(self) -> tuple[Texts, Texts]:
        """Zip codes and ages as Tables 1b and 2b have them."""
        zones = tuple(f"{code[:3] if code.startswith('352') else code[:4]}*" for code in self.zips)
        return zones, tuple(f"{age // 10}*" for age in self.ages)

    @property
    def groups(self) -> dict[tuple[str, str], list[str]]:
        """The diseases of each group of the release, sorted."""
        found = defaultdict(list)
        for zone, decade, disease in zip(*self.generalized, self.diseases, strict=True):
            found[zone, decade].append(disease)
        return {group: sorted(diseases) for group, diseases in found.items()}


FIRST = Patients(
    ("35510", "35591", "35593", "35210", "35273", "35517", "35599", "35262", "35511"),
    (21, 42, 47, 38, 32, 20, 49, 33, 26),
    ("Asthma", "HIV", "Asthma", "Diabetes", "HIV", "Diabetes", "Diabetes", "Asthma", "HIV"),
)
"""Table 1a."""

SECOND = Patients(
    (*FIRST.zips, "35212", "35281", "35596", "35592", "35515", "35511"),
    (*FIRST.ages, 39, 32, 41, 46, 23, 26),
    (*FIRST.diseases, *["Diabetes"] * 6),
)
"""Table 2a: the same people and six more."""

GROUPS: dict[str, dict[tuple[str, str], Texts]] = {
    "Table 1b": {
        ("3551*", "2*"): ("Asthma", "Diabetes", "HIV"),
        ("3559*", "4*"): ("HIV", "Asthma", "Diabetes"),
        ("352*", "3*"): ("Diabetes", "HIV", "Asthma"),
    },
    "Table 2b": {
        ("3551*", "2*"): ("Asthma", "Diabetes", "Diabetes", "Diabetes", "HIV"),
        ("3559*", "4*"): ("HIV", "Asthma", "Diabetes", "Diabetes", "Diabetes"),
        ("352*", "3*"): ("Diabetes", "HIV", "Asthma", "Diabetes", "Diabetes"),
    },
}
"""Tables 1b and 2b as printed: the diseases of each group."""

PROFILE = "anonymizer.risk.Profile.measures"
RELEASES = {"Table 1b": FIRST, "Table 2b": SECOND}
PRINTED = {
    "Table 1b": {"k": "3", "distinct l": "3", "t": "0", "probability of inference": "0.33"},
    "Table 2b": {"k": "5", "distinct l": "3", "t": "0", "probability of inference": "0.60"},
}
SAME = 5e-7


def pair() -> list[PublishedSection]:
    """Both releases, and what distinguishes them."""
    found = {name: _measured(people) for name, people in RELEASES.items()}
    remarks = {"t": "by divergence; 0 by any distance, as each group has the table's shares"}
    rows = {
        table: [
            Row.number(
                name,
                value,
                PRINTED[table].get(name, ""),
                remarks.get(name, ""),
                "g" if name in WHOLE else ".6f",
            )
            for name, value in figures.items()
        ]
        for table, figures in found.items()
    }
    return [
        *(
            PublishedSection(name, [_regrouped(name), *rows[name]], place=name, where=PROFILE)
            for name in RELEASES
        ),
        PublishedSection(
            "Tables 1b and 2b distinguished",
            [
                *(_verdict(name, *(found[table][name] for table in RELEASES)) for name in RISKS),
                *_compared(*found.values()),
            ],
            "An attacker infers a disease with probability 0.60 from Table 2b, 0.33 from Table 1b. "
            "0.60 is also the share of Diabetes in the table: the groups add nothing to it, which "
            "is why metrics of what is gained (t, ITPR, DR, MI, CP) say 0 of both.",
            "Section 3.1",
            PROFILE,
        ),
    ]


def _measured(people: Patients) -> dict[str, float]:
    """Measure a release, each figure by its name."""
    zones, decades = people.generalized
    records = reidentification(zones, decades).measures
    disease = inference(people.diseases, zones, decades)
    found = disease.measures
    values = [len(set(texts)) for texts in people.groups.values()]
    inferred = ("ELD", "ITPR", "DR", "MI", "CP")
    return {
        "k": float(disease.sizes.min()),
        "distinct l": float(min(values)),
        "entropy l": 1 / found.entropy_l_diversity_risk,
        "t": found.i1_max,
        "probability of re-identification": records.max_posterior,
        "probability of inference": found.max_posterior,
        **{short: found[METRICS[short]] for short in inferred},
        **{f"{short}, re-identification": records[METRICS[short]] for short in REIDENTIFIED},
    }


REIDENTIFIED = ("ITPR", "DR", "MI", "CP", "ELD")
RISKS = ("k", "distinct l", "t", "entropy l", "probability of inference", "ELD", *REIDENTIFIED[:4])
"""What the two releases are compared by."""
WHOLE = {"k", "distinct l"}
SAFER_WHEN_LARGE = {"k", "distinct l", "entropy l"}


def _regrouped(name: str) -> Row:
    """The release made anew from the raw table."""
    made = RELEASES[name].groups
    printed = {group: sorted(texts) for group, texts in GROUPS[name].items()}
    return Row.claim(
        f"{name} from {name[:-1]}a",
        made == printed,
        f"{sum(map(len, made.values()))} records in {len(made)} groups",
        f"{sum(map(len, printed.values()))} records in {len(printed)} groups",
        "zip codes cut to 3551*, 3559*, 352*, ages to decades",
    )


def _compared(first: Mapping[str, float], second: Mapping[str, float]) -> list[Row]:
    """The inequalities of section 3.1."""
    same = abs(first["distinct l"] - second["distinct l"]) + abs(first["t"] - second["t"])
    name, risk = "probability of inference", "probability of re-identification"
    return [
        Row.claim(
            "k, l and t of Tables 1b and 2b",
            first["k"] < second["k"] and same < SAME,
            f"k {first['k']:g}, {second['k']:g}; l and t alike",
            "k2 > k1, l1 = l2, t1 = t2",
        ),
        *(
            Row.claim(
                f"{what} in Tables 1b and 2b",
                holds,
                f"{first[what]:.6f}, {second[what]:.6f}",
                says,
            )
            for what, holds, says in (
                (risk, first[risk] > second[risk], "lower in 2b"),
                (name, first[name] < second[name], "bigger in 2b"),
            )
        ),
    ]


def _verdict(name: str, first: float, second: float) -> Row:
    """Return whether a figure says that the second release risks more."""
    sign = -1 if name in SAFER_WHEN_LARGE else 1
    more = sign * (second - first)
    if abs(more) < SAME:
        said = "does not tell them apart"
    else:
        said = "tells that 2b risks more" if more > 0 else "says the opposite"
    form = "g" if name in WHOLE else ".6f"
    return Row(name, f"{first:{form}}, {second:{form}}", remark=said)
