"""Wrong calls of the command line and wrong studies: exit code, messages, and what is left."""

import atexit
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fuzz.exercise import command

from .texts import fresh, left, lying, ran

TABLE = "name,age,job,ill,note\n" + "".join(
    f"n{i},{20 + i * 7 % 40},{('nurse', 'vet', 'smith', 'mason')[i % 4]},"
    f"{('flu', 'cold', 'hiv')[i * i % 5 % 3]},{i % 6}\n"
    for i in range(40)
)
STUDY = """\
[data]
path = "people.csv"

[quasi-identifiers]
age = "age.toml"
job = "job.csv"

[sensitive]
attributes = ["ill"]

[identifiers]
attributes = ["name"]

[[privacy]]
model = "k-anonymity"
k = 3

[output]
order = "kept"
"""
FILES = {
    "people.csv": TABLE,
    "study.toml": STUDY,
    "age.toml": "widths = [5, 10]\n",
    "job.csv": "nurse;health\nvet;health\nsmith;craft\nmason;craft\n",
}

STUDIES = (
    # sections and keys
    ("path =", "pth ="),
    ("[data]", "[dat]"),
    ('[data]\npath = "people.csv"\n', ""),
    ('path = "people.csv"\n', ""),
    ("[identifiers]", "[identifier]"),
    ('["ill"]', '["ill"]\nx = 1'),
    ('age = "age.toml"\njob = "job.csv"\n', ""),
    ('[[privacy]]\nmodel = "k-anonymity"\nk = 3\n', ""),
    ("[[privacy]]", "[privacy]"),
    ("[output]", "[masking]\nx = 1\n[output]"),
    ("[output]", '[search]\nrecoding = "cut"\n[output]'),
    ("[output]", "[search]\nsuppression = 0.1\n[output]"),
    ("[output]", "[data"),
    ("[output]", "[output]\norder = 1"),
    # types and values
    ('"people.csv"', "3"),
    ('["ill"]', "5"),
    ('["ill"]', "[1]"),
    ('"job.csv"', "true"),
    ('"people.csv"', '"people.csv"\nseparator = ";;"'),
    ('"people.csv"', '"people.csv"\nmissing = "skip"'),
    ('"people.csv"', '"people.csv"\nencoding = "latin-99"'),
    ('"people.csv"', '"people.csv"\nmemory = "4 gigs"'),
    ('"people.csv"', '"people.csv"\nengine = "oracle"'),
    ('order = "kept"', 'order = "sorted"'),
    ('order = "kept"', 'file = "people.csv"'),
    ('order = "kept"', "parts = 0"),
    ("[output]", "[search]\nseed = -1\n[output]"),
    ("[output]", '[search]\nstrategy = "best"\n[output]'),
    # files
    ('"people.csv"', '"peple.csv"'),
    ('"people.csv"', '"."'),
    ('"people.csv"', '"age.toml"'),
    ('"age.toml"', '"ages.toml"'),
    ('"job.csv"', '"people.csv"'),
    ('"age.toml"', '"study.toml"'),
    # columns and hierarchies
    ("job =", "jobb ="),
    ('["ill"]', '["illness"]'),
    ('["name"]', '["nam"]'),
    ('["name"]', '["name", "age"]'),
    ('["ill"]', '["ill", "ill"]'),
    ('"age.toml"', "{ widths = [0] }"),
    ('"age.toml"', "{ widths = [5, 7] }"),
    ('"age.toml"', "{ cuts = [[30, 20]] }"),
    ('"age.toml"', "{ width = [5] }"),
    ('"age.toml"', "{ widths = [5], min-level = 9 }"),
    ('"age.toml"', '{ calendar = ["month"] }'),
    ('"job.csv"', "{ widths = [5] }"),
    ('"job.csv"', '{ order = ["vet", "nurse"] }'),
    ('"job.csv"', '{ keep = [["nurse"], ["vet"]], other = "others" }'),
    # models
    ('"k-anonymity"', '"k-anonimity"'),
    ("k = 3\n", ""),
    ("k = 3", "k = 0"),
    ("k = 3", "k = 2.5"),
    ("k = 3", 'k = "3"'),
    ("k = 3", "k = 3\nl = 2"),
    ("k = 3", "k = 41"),
    ('"k-anonymity"\nk = 3', '"t-closeness"\nt = 0.5'),
    ('"k-anonymity"\nk = 3', '"t-closeness"\nt = -1\ndistance = "kl"'),
    ('"k-anonymity"\nk = 3', '"t-closeness"\nt = 1\ndistance = "ordered"\norder = ["flu"]'),
    ('"k-anonymity"\nk = 3', '"entropy-l-diversity"\nl = 5'),
    ('"k-anonymity"\nk = 3', '"distinct-l-diversity"\nl = 2\nattribute = "note"'),
    ('"k-anonymity"\nk = 3', '"k-map"\nk = 3\npopulation = "none.csv"'),
    ('"k-anonymity"\nk = 3', '"differential-privacy"\nepsilon = 1\ndelta = 0.1'),
    # recodings, searches and objectives
    ("[output]", '[recoding]\nmethod = "cutt"\n[output]'),
    ("[output]", '[recoding]\nmethod = "classes"\n[output]'),
    ("[output]", '[recoding]\nmethod = "fixed"\n[output]'),
    ("[output]", '[recoding]\nmethod = "fixed"\nlevels = { age = 9, job = 0 }\n[output]'),
    ("[output]", '[recoding]\nmethod = "fixed"\nlevels = { age = 0, job = 0 }\n[output]'),
    ("[output]", '[recoding]\nmethod = "boxes"\nsuppression = 0.1\n[output]'),
    ("[output]", "[recoding]\nsuppression = 1.5\n[output]"),
    ("[output]", '[recoding]\nmethod = "variable-range"\nrefine = ["job"]\n[output]'),
    ("[output]", '[recoding]\nmethod = "variable-range"\ngroup = ["agge"]\n[output]'),
    ("[output]", '[recoding]\nmethod = "pram"\nattributes = ["agge"]\n[output]'),
    ("[output]", '[recoding]\nmethod = "safepub"\nlevels = { age = 1, job = 1 }\n[output]'),
    ("[output]", '[search]\nstrategy = "incognito"\n[recoding]\nmethod = "boxes"\n[output]'),
    ("[output]", '[objective]\nname = "los"\n[output]'),
    ("[output]", '[objective]\ntarget = "agge"\n[output]'),
    ("[output]", '[objective]\nname = "loss"\nweights = { ill = 1 }\n[output]'),
)
"""What of the study is replaced by what."""

CALLS = (
    # the program
    "",
    "runn study.toml",
    "--verbos",
    # options and arguments
    "run",
    "run study.toml",
    "run study.toml -o new --ouput x",
    "run study.toml -o new --jobs many",
    "run study.toml study.toml -o new",
    "run study.toml -o new --as claims",
    "run study.toml -o new --sign none.pem",
    "run study.toml -o new --sign study.toml --as claims",
    "run study.toml -o new --strict",
    "run study.toml -o new --counts people.csv",
    # files and places
    "run none.toml -o new",
    "run stdy.toml -o new",
    "run . -o new",
    "run people.csv -o new",
    "run study.toml -o out",
    "run study.toml -o people.csv",
    "run study.toml -o out/released.csv",
    "run study.toml -o people.csv/new",
    # releases
    "apply none people.csv -o new",
    "apply out none.csv -o new",
    "apply out older.csv -o new",
    "apply out other.csv -o new",
    "apply out people.csv -o out",
    "apply out people.csv -o new --drop agge",
    "apply out people.csv -o new --unseen never",
    "apply out people.csv -o new --parts 0",
    "verify none",
    "verify out/none.csv",
    "verify people.csv",
    "verify changed",
    "verify damaged",
    "verify out --study none.toml",
    "verify out --key none.pem",
    "verify out --of claims",
    "export out",
    "export out --sql --csv -o new",
    "export out --csv -o out.sql --select",
    "export out --sql -o people.csv",
    "report out --html --pdf",
    "report out --for emea",
    "report none",
    "report out -o people.csv",
    "sign out --key study.toml",
    "sign none --key none.pem",
    "keys",
    "estimate out --of age",
    "audit out --against none.csv",
    "audit out --against other.csv",
    # tables
    "init none.csv -o new",
    "init people.csv -o new --sensitive illness",
    "init people.csv -o new --k 1",
    "check people.csv",
    "check people.csv --quasi-identifiers agge",
    "check people.csv --quasi-identifiers age --require k-anonymity",
    "check people.csv --quasi-identifiers age --require k-anonymity=100",
    "check people.csv --quasi-identifiers age --require k=5",
    "risk people.csv",
    "risk people.csv --quasi-identifiers age --by record",
    "query-loss people.csv",
    "query-loss people.csv -q 'agge > 40'",
    "query-loss people.csv -q 'age >'",
    "count none.csv -s study.toml -o new.counts",
    "quality out",
    "quality people.csv -s study.toml",
    # studies and hierarchies
    "compare study.toml --recoding cutt",
    "compare study.toml --sweep k=1",
    "compare study.toml --schemes none.toml",
    "figures study.toml -o new.gif",
    "advise study.toml --model k-anonymity",
    "lattice study.toml --plot new.txt",
    "hierarchy show none.csv",
    "hierarchy show study.toml agge",
    "hierarchy check job.csv other.csv",
    "hierarchy build --widths 5,7",
    "hierarchy build",
    "hierarchy convert age.toml -o new.csv",
    "explore none.toml",
    "reproduce nobody2020",
)
"""Calls in a directory with a study, its release, and releases that somebody changed."""


def names() -> Iterator[str]:
    """The calls, and what is wrong in studies."""
    yield from (f"anonymizer {call}".strip() for call in CALLS)
    yield from (f"study with {new!r} for {old!r}" for old, new in STUDIES)


def text(name: str) -> str:
    """What is said of a mistake, and which files are there afterwards."""
    changed = {f"study with {new!r} for {old!r}": (old, new) for old, new in STUDIES}
    with fresh() as directory:
        shutil.copytree(_prepared(), directory, dirs_exist_ok=True)
        before = lying()
        if name not in changed:
            return ran(*shlex.split(name)[1:]) + left(before)
        Path("study.toml").write_text(STUDY.replace(*changed[name], 1), encoding="utf-8")
        return ran("run", "study.toml", "-o", "new") + left(before)


@cache
def _prepared() -> Path:
    """A directory with a study, its table, other tables, its release and damaged ones."""
    place = Path(tempfile.mkdtemp(prefix="frozen-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for name, content in FILES.items():
        (place / name).write_text(content, encoding="utf-8")
    (place / "other.csv").write_text(TABLE.replace("vet", "baker"), encoding="utf-8")
    (place / "older.csv").write_text("name,years\na,1\n", encoding="utf-8")
    command("run", place / "study.toml", "-o", place / "out")
    for name in ("changed", "damaged"):
        shutil.copytree(place / "out", place / name)
    table = place / "changed" / "released.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("flu", "cold", 1), encoding="utf-8")
    (place / "damaged" / "release.json").write_text("{", encoding="utf-8")
    return place
