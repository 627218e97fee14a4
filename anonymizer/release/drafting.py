"""A study that is drafted for a raw table: its text with a reason for every line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Hierarchy
from anonymizer.profiling import TableProfile, profile
from anonymizer.profiling.among import Among, shown_texts
from anonymizer.profiling.ladders import (
    SUPPRESS,
    Ladder,
    grounded_ladder,
    ladder_in_boxes,
    ladder_of,
    lengths_said,
)
from anonymizer.profiling.policy import (
    POLICY_PRESETS,
    PolicyPreset,
    Proposed,
    items_of,
    missing_of,
    models_of,
    recoding_of,
    separators_of,
    size_of,
)
from anonymizer.profiling.profile import Raw
from anonymizer.profiling.roles import RoleReason
from anonymizer.recoding.classes import Boxes
from anonymizer.release.document import PINNED
from anonymizer.release.output import reserved
from anonymizer.release.place import HIERARCHIES, STUDY_FILE, require_room
from anonymizer.tables.files.format import EVERY, missing_texts, missing_values_of

if TYPE_CHECKING:
    from anonymizer.profiling.safe_harbor import SafeHarborPreset

MOST_NAMED = 20
"""Columns that a comment names one by one."""

TABLE = "table.csv"
"""Where the table of a draft is taken to lie that was made of one in memory."""


DELETE = "which are taken for no answer; if they are answers, delete them in missing-values"
CORRECT = (
    "which are none, and which run refuses: correct these records, leave out those of "
    "nobody, such as totals and units, or list the texts in missing-values"
)
END = "which run refuses: give them a group of their own by top or bottom, or a coarser ground"
RANGES = {"number": "ranges", "date": "dates without a day", "value": ""}
AMBIGUOUS = (
    "one comma or point before three digits may mark thousands or decimals, and is read as in "
    '1,234.5: if the comma is the decimal mark, add decimal = "," to the unit'
)
EMPTIED = "which run refuses, as releases mean everything by *: empty these cells of the table"
STARRED = (
    "which count as one more value, though any may stand behind them: empty these cells of the "
    "table"
)
"""What becomes of values of a column of numbers that are none, and what a person decides."""


def _left(kind: str, left: Mapping[str, int]) -> str:
    """What becomes of texts that nobody can say the meaning of."""
    return STARRED if kind == "value" else EMPTIED if ANY in left else CORRECT


@dataclass(frozen=True)
class DraftOptions:
    """What a draft is to say whatever the profile proposes.

    ``k`` None is by the records, or by the persons; ``person`` without columns is that there are no
    persons with several records. The study satisfies what the ``preset`` wants, and has the
    ``policy``, whose k it is then. Paths of rules start at ``directory``, where the study will lie.
    """

    k: int | None = None
    quasi_identifiers: Sequence[str] | None = None
    sensitive: Sequence[str] | None = None
    identifiers: Sequence[str] | None = None
    person: str | Sequence[str] | None = None
    insensitive: Sequence[str] | None = None
    max_quasi_identifiers: int | None = None
    preset: SafeHarborPreset | None = None
    policy: PolicyPreset | None = None
    directory: Path = Path()

    def profiled(self, table: pd.DataFrame | Raw) -> TableProfile:
        """The profile of a table, with the roles that were chosen, or that the preset wants."""
        found = self._profiled(table)
        if self.preset is None:
            return found
        raw = table if isinstance(table, Raw) else Raw.of(table)
        person, gone = found.person, found.of_role("identifier", "left out")
        standing = [n for n in self.ladders(found) if n not in {*person, *gone}]
        removed = self.preset.removed(raw, standing)
        self._require_allowed(self.preset.name, removed, standing)
        known = dict.fromkeys((*found.of_role("quasi-identifier"), *standing))
        again = replace(
            self,
            quasi_identifiers=[name for name in known if name not in removed],
            sensitive=[n for n in found.of_role("sensitive") if n not in {*removed, *standing}],
            identifiers=[*dict.fromkeys((*gone, *(n for n in removed if n not in person)))],
            person=person,
            max_quasi_identifiers=None,
        )
        if not again.quasi_identifiers:
            raise InputError(
                f"{self.preset.name} leaves no column that others may know of somebody; name one "
                "as --quasi-identifiers, or leave --preset out"
            )
        stands = f"{self.preset.name} lets it stand when it is coarser"
        reasons = {(each.name, each.role): each.why for each in found.columns}
        reasons |= {(n, "quasi-identifier"): RoleReason(stands) for n in standing}
        reasons |= {(n, "identifier"): RoleReason(why) for n, why in removed.items()}
        found = again._profiled(raw)
        columns = (
            replace(each, why=reasons.get((each.name, each.role), each.why))
            for each in found.columns
        )
        return replace(found, columns=tuple(columns))

    def _require_allowed(
        self, preset: str, removed: Collection[str], standing: Collection[str]
    ) -> None:
        """Refuse roles that were chosen and that the preset does not allow."""
        coarser = {*removed, *standing}
        for chosen, names, taken, why in (
            ("quasi-identifiers", self.quasi_identifiers, removed, "wants removed"),
            ("sensitive", self.sensitive, coarser, "does not let stand as it is"),
            ("insensitive", self.insensitive, coarser, "does not let stand as it is"),
        ):
            for name in names or ():
                if name in taken:
                    raise InputError(
                        f"--{chosen} names {name!r}, which {preset} {why}; leave it out there, "
                        "or leave --preset out"
                    )

    def ladders(self, found: TableProfile) -> dict[str, Ladder]:
        """The rules that the preset has for columns of a table, whatever would be proposed."""
        if self.preset is None:
            return {}
        rules = {name: self.preset.ladder(column) for name, column in found.counted.items()}
        return {name: rule for name, rule in rules.items() if rule is not None}

    def _profiled(self, table: pd.DataFrame | Raw) -> TableProfile:
        return profile(
            table,
            quasi_identifiers=self.quasi_identifiers,
            sensitive=self.sensitive,
            identifiers=self.identifiers,
            person=self.person,
            insensitive=self.insensitive,
            max_quasi_identifiers=self.max_quasi_identifiers,
        )


class StudyProposal:
    """The text of a study that is drafted for a table, and how it is written to be edited.

    ``profile`` is what it follows from, ``text`` the commented study file, and ``files`` are the
    texts of its hierarchy files by their paths.
    """

    def __init__(
        self,
        profile: TableProfile,
        wishes: DraftOptions,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.profile, self.wishes = profile, wishes
        self.k = _size(profile, wishes)
        self.data = {"path": TABLE, **(data or {})}
        absent = {name: list(texts) for name in self._counted if (texts := self._absent(name))}
        if absent:
            declared = missing_values_of(self.data.get("missing-values", ()))
            everywhere = {EVERY: list(missing_texts(declared))} if declared else {}
            self.data["missing-values"] = {**everywhere, **absent}

    @property
    def _counted(self) -> tuple[str, ...]:
        return self.profile.of_role("quasi-identifier", "sensitive")

    def _absent(self, name: str) -> tuple[str, ...]:
        """The texts of a column of numbers that stand for nothing, or that no group holds whole."""
        among = self.profile.counted[name].among
        if among is None:
            return ()
        return (*among.absent, *self._torn(name))

    def _torn(self, name: str) -> dict[str, int]:
        """The ranges, or dates without a day, that no group holds whole, and that may be named."""
        ranges = among.ranges if (among := self.profile.counted[name].among) else {}
        torn = {text: n for text, n in ranges.items() if not self._holds(name, text)}
        return {text: torn[text] for text in Among(0, others=torn).absent}

    @property
    def made_missing(self) -> dict[str, int]:
        """The records of each column that have a value, which counts as missing."""
        return {name: sum(self._torn(name).values()) for name in self._counted}

    def _holds(self, name: str, text: str) -> bool:
        rule = self.ladders[name].rule if name in self.ladders else SUPPRESS
        hierarchy = Hierarchy.of(rule, self.wishes.directory, name)
        return hierarchy.covers(hierarchy.key(text))

    def remark(self, name: str) -> str:
        """What is odd in a column, what becomes of it, and what is to be decided; may be empty.

        That is what a column of numbers has besides, and that codes have several lengths. Values
        are named that five records have, or that say nothing of anybody.
        """
        if name not in self._counted:
            return ""
        among = self.profile.counted[name].among
        if among is None:
            column = self.profile.counted[name]
            within = separators_of(self.profile, column)
            parted = within and f"cells have {within}; write one separator in all of them"
            odd = parted or lengths_said(column)
            return f"{odd}." if odd else ""
        absent, others = self._absent(name), {**among.ranges, **among.others}
        held = {text: n for text, n in among.ranges.items() if self._holds(name, text)}
        gone = {text: n for text, n in others.items() if text in absent}
        torn = {t: n for t, n in among.ranges.items() if t not in {*held, *gone}}
        left = {t: n for t, n in among.others.items() if t not in gone}
        parts = (
            (held, RANGES[among.kind], "which go with the group that holds them"),
            (gone, "other texts", "which count as missing"),
            (among.codes, "codes that stand apart", DELETE),
            (torn, RANGES[among.kind], END),
            (left, "other texts", _left(among.kind, left)),
        )
        unit = f" with the unit {among.unit!r}" if among.unit else ""
        said = [f"a {among.kind}{unit} in {among.numbers:,} of {self.profile.records:,} records"]
        if among.ambiguous:
            said.append(AMBIGUOUS)
        for found, what, then in parts:
            if found:
                records = plural(sum(found.values()), "record")
                said.append(f"{what}{shown_texts(found)} in {records}, {then}")
        return f"{'; '.join(said)}."

    @cached_property
    def ladders(self) -> dict[str, Ladder]:
        """The rule of each quasi-identifier, and why it is proposed."""
        names = self.profile.of_role("quasi-identifier")
        found = self.profile
        ladders = {
            name: ladder_of(found.counted[name], self.k, found.order_of(name)) for name in names
        }
        if recoding_of(found, ladders).keys["method"] == Boxes.name:
            ladders = {n: ladder_in_boxes(found.counted[n], each) for n, each in ladders.items()}
        grounded = {
            name: grounded_ladder(found.counted[name], each, found.combinations)
            for name, each in ladders.items()
        }
        own = self.wishes.ladders(found)
        return {name: own.get(name, each) for name, each in grounded.items()}

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes, those in files too."""
        return {
            name: Hierarchy.of(ladder.rule, self.wishes.directory, name)
            for name, ladder in self.ladders.items()
        }

    @cached_property
    def models(self) -> list[Proposed]:
        """The models of the policy, and why they are proposed."""
        return models_of(self.profile, self.k, self.wishes.policy)

    @cached_property
    def text(self) -> str:
        """The study file, with a reason for every proposal."""
        return "\n".join(_sections(self)) + "\n"

    @cached_property
    def places(self) -> dict[str, str]:
        """The paths of the hierarchies that are too long for a line of the study."""
        found: dict[str, str] = {}
        for name, ladder in self.ladders.items():
            if len(f"{toml_key(name)} = {toml_value(ladder.rule)}") > WIDTH:
                found[name] = f"{HIERARCHIES}/{_file_name(name, found.values())}"
        return found

    @property
    def files(self) -> dict[str, str]:
        """The text of each file: the hierarchies, and last the study."""
        texts = {
            place: _hierarchy_text(name, self.ladders[name]) for name, place in self.places.items()
        }
        return {**texts, STUDY_FILE: self.text}

    def write(self, directory: str | Path, *, force: bool = False) -> Path:
        """Write the study and its hierarchies into a directory: all of them, or nothing.

        Gives the path of the study. A study that is there is replaced by ``force`` alone, with its
        hierarchies.

        Raises InputError when it cannot be written, one is there already, or its hierarchies lie
        among other files, which would be lost.
        """
        directory = Path(directory)
        require_room(directory, force=force)
        files = {place: _writer(text) for place, text in self.files.items()}
        inner = {name: write for name, write in files.items() if name != STUDY_FILE}
        writers: dict[str, Any] = {}
        if inner:
            writers[HIERARCHIES] = {Path(name).name: write for name, write in inner.items()}
        writers[STUDY_FILE] = files[STUDY_FILE]
        with reserved(directory, (HIERARCHIES, STUDY_FILE), "study") as output:
            output.write(writers, force=force)
        return directory / STUDY_FILE


def _size(found: TableProfile, wishes: DraftOptions) -> int:
    unit = "person" if found.person else "record"
    k = wishes.k if wishes.policy is None else wishes.policy.k
    if found.units < 2:
        raise InputError(f"the table has 1 {unit}; nobody can be hidden among others in it")
    if k is not None and k > found.units:
        raise InputError(f"k = {k} is more than the {found.units:,} {unit}s of the table")
    return size_of(found.units) if k is None else k


def _file_name(name: str, taken: Any) -> str:
    """A file name for an attribute: plain letters, no two alike."""
    plain = "".join(c if c.isalnum() and c.isascii() else "-" for c in name).strip("-") or "column"
    stem, number = plain[:60], 1
    known = {Path(each).stem.casefold() for each in taken}
    while stem.casefold() in known:
        number += 1
        stem = f"{plain[:60]}-{number}"
    return f"{stem}.toml"


def _writer(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8", newline="\n")

    return write


def _hierarchy_text(name: str, ladder: Ladder) -> str:
    head = comment(f"{name}: {ladder.why}. One list per level, the finest first; * follows.")
    return "\n".join([head, *(entry(key, given) for key, given in ladder.rule.items()), ""])


def _sections(draft: StudyProposal) -> list[str]:
    """The lines of a study file, section by section."""
    found, names = draft.profile, draft.profile.of_role("quasi-identifier")
    head = (
        f"A first study of {draft.data['path']}: {found.records:,} records, "
        f"{len(found.columns):,} columns. Roles, hierarchies and policy are proposals; the "
        "comments say why. Correct them: a program cannot know what others know of people."
    )
    alone = (
        f"What others may know. Together these {len(names):,} attributes have "
        f"{found.combinations:,} combinations of values; {found.share_alone:.1%} of the records "
        "are alone with theirs. Each is kept, or replaced by a coarser label."
    )
    return [
        comment(head),
        *_data(draft),
        "",
        comment(alone),
        "[quasi-identifiers]",
        *(line for name in names for line in _quasi_identifier(draft, name)),
        *_sensitive(found),
        *_identifiers(found),
        *_released(draft),
        *_policy(draft),
        *_recoding(draft),
    ]


def _data(draft: StudyProposal) -> list[str]:
    missing = missing_of(draft.profile, draft.made_missing)
    lines = [entry(key, given) for key, given in draft.data.items()]
    if "columns" not in draft.data:
        why = "A column that no section below names is refused, not released."
        lines += [comment(why), entry("columns", PINNED)]
    lines += [*_items(draft), *_person(draft.profile), *_weight(draft.profile)]
    setting = entry("missing", missing.keys["missing"])
    return ["", "[data]", *lines, comment(f"{missing.why}."), setting]


def _items(draft: StudyProposal) -> list[str]:
    """What stands between the items that cells of sensitive columns list."""
    found = draft.profile
    columns = [found.counted[name] for name in found.of_role("sensitive")]
    marks = {each.name: mark for each in columns if (mark := items_of(found, each))}
    if not marks:
        return []
    why = (
        "Cells list several items, with this between them: the policy holds for each item, and a "
        "list is written in one way. Without this line each list is one value."
    )
    odd = [comment(f"{name}: {said}", "#   ") for name in marks if (said := draft.remark(name))]
    return [comment(why), *odd, entry("items", marks)]


def _person(found: TableProfile) -> list[str]:
    """Whose each record is, where persons have several."""
    names = found.person
    if not names:
        return []
    follows = (
        f"Whose each record is: {plural(found.units, 'person')} have up to "
        f"{plural(found.most_records, 'record')} each. So the policy is about persons, and the "
        "release leaves out what tells them apart. Without this line it is about records."
    )
    given = entry("person", names[0] if len(names) == 1 else list(names))
    return [comment(follows), *_reasons(found, names), given]


def _weight(found: TableProfile) -> list[str]:
    """For how many people each record stands, where weights say so."""
    if found.weight is None:
        return []
    follows = (
        'For how many people each record stands: models with population = "weights" are about '
        "these. The release leaves the column out. If it is no such weight, delete this line and "
        "give the column a line below."
    )
    reasons = _reasons(found, [found.weight])
    return [comment(follows), *reasons, entry("weight", found.weight)]


def _quasi_identifier(draft: StudyProposal, name: str) -> list[str]:
    column, ladder = draft.profile[name], draft.ladders[name]
    rule = draft.places.get(name, ladder.rule)
    kinds = f"{column.kind}, {column.values:,} values"
    if column.missing:
        kinds += f", {column.missing:,} missing"
    return [
        comment(f"{name}: {kinds}; {column.why}."),
        comment(f"{ladder.why}.", "#   "),
        *([comment(said, "#   ")] if (said := draft.remark(name)) else []),
        f"{toml_key(name)} = {toml_value(rule)}",
    ]


def _sensitive(found: TableProfile) -> list[str]:
    names = found.of_role("sensitive")
    if not names:
        none = (
            "What nobody shall learn of anybody. No column is proposed; list it here if there is "
            "one, and add a model about it."
        )
        return ["", comment(none), "[sensitive]", "attributes = []"]
    why = _reasons(found, names)
    head = "# What nobody shall learn of anybody."
    return ["", head, *why, "[sensitive]", entry("attributes", list(names))]


def _identifiers(found: TableProfile) -> list[str]:
    """The columns that the release leaves out."""
    names = found.of_role("identifier", "left out")
    if not names:
        return []
    why = _reasons(found, names)
    head = "# What the release leaves out. To release one, give it a line above instead."
    return ["", head, *why, "[identifiers]", entry("attributes", list(names))]


def _released(draft: StudyProposal) -> list[str]:
    """The columns without another role, which are listed where columns are pinned."""
    found, names = draft.profile, draft.profile.of_role("insensitive")
    if not names:
        return []
    lines = ["", "# Released as they are:", *_reasons(found, names)]
    if "columns" not in draft.data:
        lines += ["[insensitive]", entry("attributes", list(names))]
    return lines


def _reasons(found: TableProfile, names: Sequence[str]) -> list[str]:
    """Why columns have a role: one comment for those of the same reason."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(found[name].why, []).append(name)
    return [comment(f"{_few(group)}: {why}.") for why, group in alike.items()]


def _few(names: Sequence[str]) -> str:
    """Names in a row; of many the first and the last, and how many they are."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:2])}, ..., {names[-1]} ({len(names):,} columns)"


def _policy(draft: StudyProposal) -> list[str]:
    lines = ["", "# The policy: all of its models hold for every class of the release."]
    for model in draft.models:
        lines += [comment(f"{model.why}."), "[[privacy]]"]
        lines += [*(entry(key, given) for key, given in model.keys.items()), ""]
    return lines[:-1]


def preset_lines() -> str:
    """The policies that have a name, each as lines of a study with its source."""
    sections = [
        [comment(f"{name}: {each.why}. {each.source}."), "[[privacy]]"]
        + [entry(key, given) for key, given in each.keys.items()]
        for name, each in POLICY_PRESETS.items()
    ]
    return "\n\n".join(map("\n".join, sections))


def _recoding(draft: StudyProposal) -> list[str]:
    recoding = recoding_of(draft.profile, draft.ladders)
    lines = ["", comment(f"{recoding.why}."), "[recoding]"]
    lines += [entry(key, given) for key, given in recoding.keys.items()]
    objective = "discernibility" if recoding.keys["method"] == "boxes" else "loss"
    why = (
        "Small classes of like size."
        if objective == "discernibility"
        else "As little as possible of what the values say is lost."
    )
    return [*lines, "", f"# {why}", "[objective]", entry("name", objective)]


BARE = re.compile(r"[A-Za-z0-9_-]+")

WIDTH = 96
"""Letters of a line; longer lists are broken, and longer rules get a file."""


def toml_key(name: str) -> str:
    """A key: in quotes where it has other letters than TOML takes bare.

    >>> toml_key("age"), toml_key("größe")
    ('age', '"größe"')
    """
    return name if BARE.fullmatch(name) else toml_text(name)


def toml_text(given: str) -> str:
    """A text in quotes, on one line."""
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(given: Any) -> str:
    """A value on one line: a text, number, truth, list or inline table.

    >>> toml_value({"widths": [5, 10], "other": "n/a"})
    '{ widths = [5, 10], other = "n/a" }'
    """
    if isinstance(given, Mapping):
        parts = (f"{toml_key(name)} = {toml_value(each)}" for name, each in given.items())
        return f"{{ {', '.join(parts)} }}"
    if isinstance(given, str):
        return toml_text(given)
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, Sequence):
        return f"[{', '.join(map(toml_value, given))}]"
    return repr(given)


def entry(name: str, given: Any) -> str:
    """A line ``name = value``; a list that is too long for one is broken into several."""
    line = f"{toml_key(name)} = {toml_value(given)}"
    if len(line) <= WIDTH or not isinstance(given, Sequence) or isinstance(given, str):
        return line
    inner = "".join(f"    {toml_value(each)},\n" for each in given)
    return f"{toml_key(name)} = [\n{inner}]"


def comment(words: str, mark: str = "# ") -> str:
    """A comment, broken into lines; what is not printable is spelled out."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)
    lines = wrap(shown, WIDTH - len(mark), break_long_words=False, break_on_hyphens=False)
    return "\n".join(mark + line for line in lines)
