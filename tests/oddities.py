"""A study of people whose values are written oddly, and how it is laid out on disk."""

import csv

from hypothesis import strategies as st

from anonymizer.release.study import Study

UNPROTECTED = """\
[data]
path = "people.csv"
missing = "category"
missing-values = ["?"]

[quasi-identifiers]
age = "age.toml"
job = "job.csv"

[sensitive]
attributes = ["disease"]

[identifiers]
attributes = ["name"]
"""
"""The sections of a study but for its policy."""

STUDY = f"""\
{UNPROTECTED}
[[privacy]]
model = "k-anonymity"
k = 3

[[privacy]]
model = "entropy-l-diversity"
l = 1.8

[[privacy]]
model = "t-closeness"
t = 0.5
distance = "kl"
"""
JOBS = "nurse;health\nvet;health\nsmith;craft\nmason;craft\n"
ODD = ["", " x", "a,b", 'q"uote', "two\nlines", "NA", "007", "1.0", "1e5", "é", "tail ", "?", "*"]


PERSON = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["", "?", "20", "20.0", " 20", "21", "24.5", "25", "-3", "47"]),
        "job": st.sampled_from(["", "nurse", "nurse ", " vet", "smith", "mason"]),
        "disease": st.sampled_from(["", "?", " ?", "flu", " flu", "cold", "hiv"]),
        "name": st.just("n"),
        "note": st.text(st.sampled_from(" ,;\"'\nx"), max_size=3),
    }
)


def people(missing=True):
    for i in range(120):
        yield {
            "first": ODD[i % len(ODD)],
            "name": f"n{i}",
            "disease": ["flu", "cold", "?", "hiv"][i % 4]
            if missing
            else "flu cold"[i % 2 * 4 :][:4],
            "age": "" if missing and i % 7 == 0 else str(20 + i * 37 % 50),
            "other": ODD[i * 5 % len(ODD)],
            "job": "?" if missing and i % 5 == 0 else JOBS.split()[i % 4].split(";")[0],
            "last": str(i),
        }


def lay(directory, rows, study=STUDY, jobs=JOBS):
    rows = list(rows)
    directory.mkdir(exist_ok=True)
    with (directory / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (directory / "age.toml").write_text("widths = [5, 25]")
    (directory / "job.csv").write_text(jobs)
    (directory / "study.toml").write_text(study)
    return Study(directory / "study.toml")
