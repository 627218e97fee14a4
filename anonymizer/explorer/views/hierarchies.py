"""The hierarchies: what each makes of its column, level by level, and how it is edited."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError, InputError
from anonymizer.explorer.answers.columns import proposed_rule, size_in
from anonymizer.explorer.answers.generalized.hierarchies import (
    Generalized,
    LevelClasses,
    classes_by_level,
    generalized_of,
    level_now,
    limits_in,
    listed_of,
    rows_in,
    rule_in,
    with_limits,
)
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.contents import method_of, with_rule
from anonymizer.explorer.session.hierarchies import kept_rows, saved_rows, saved_rule
from anonymizer.explorer.views.group_tree import GroupTree, Labels
from anonymizer.explorer.views.range_levels import RangeLevels
from anonymizer.explorer.views.view import View
from anonymizer.feedback.words import count, plural
from anonymizer.hierarchy import Hierarchy
from anonymizer.recoding import Watch

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

LEVELS = ("Level", "Groups", "Largest group", "Smallest group", "Classes then", "Smallest class")

EXPLAINED = (
    "Level 0 keeps the values, the highest level is one group of all. Classes then: the "
    "equivalence classes if this attribute were released at that level, all others as they are "
    "now, before anything is suppressed."
)

WHOLE = (
    "Classes then are not known here: the recoding has groups of its own for each class, and no "
    "level for an attribute."
)


class LevelRows:
    """A row for each level."""

    def __init__(self, page: "ExplorerPage") -> None:
        self._page = page
        heading("Levels")
        note(EXPLAINED)
        self._listing = listing("Levels", LEVELS)
        self._whole = Text("p").classes("note")

    def show(self, found: Generalized, classes: list[LevelClasses] | None) -> None:
        """Fill in what each level comes to."""
        outcome = self._page.outcome if self._page.fresh else None
        now = None if outcome is None else level_now(outcome, found.name)
        unknown = "-" if self._page.fresh else "…"
        fill(self._listing, level_rows(found, classes, now, unknown))
        together = outcome is not None and outcome.plan is not None and classes is None
        self._whole.set_text(WHOLE if together else "")


def level_rows(
    found: Generalized, classes: list[LevelClasses] | None, now: int | None, unknown: str
) -> list[list[str]]:
    """Return a row of figures for each level; ``unknown`` stands for classes not known."""
    rows = []
    for use in found.levels:
        known = classes is not None and use.level < len(classes)
        then = classes[use.level] if known and classes is not None else None
        rows.append(
            [
                f"{use.level} (released now)" if use.level == now else str(use.level),
                count(use.groups),
                plural(use.largest, "record"),
                plural(use.smallest, "record"),
                unknown if then is None else count(then.classes),
                unknown if then is None else plural(then.smallest, "record"),
            ]
        )
    return rows


SAVED = (
    "It is written to hierarchies/, next to the study, and the study refers to it. Earlier steps "
    "that refer to a file which is replaced have the new one then."
)


class SavingButton:
    """A button that saves, and whether a file that is there may be replaced."""

    def __init__(self, view: "HierarchiesView") -> None:
        self._view = view
        with ui.element("div").classes("line") as line:
            ui.button("Save as file", on_click=self._save).props("no-caps outline")
            self._replace = ui.checkbox("Replace a file that is there")
            note(SAVED)
        line.set_visibility(view.page.shows_labels)

    def _save(self) -> None:
        if self._view.take("saved as file", self._saved):
            self._replace.set_value(False)
            self._view.page.notify("Saved in hierarchies/, next to the study.")

    def _saved(self) -> dict[str, Any]:
        """Write the file; the rule that refers to it."""
        session, name = self._view.page.explorer.session, self._view.attribute
        replace = bool(self._replace.value)
        given, rows = self._view.rule, rows_in(self._view.hierarchy)
        limits = limits_in(given)
        if rows is not None:
            path = saved_rows(session, name, rows, replace=replace)
        else:
            bare = {key: each for key, each in given.items() if key not in limits}
            path = saved_rule(session, name, bare, replace=replace)
        self._view.page.explorer.forget()  # a file that studies refer to may be another one now
        return {"file": path, **limits}


HIDDEN = "Groups are neither shown nor edited, since the page shows no labels (--aggregate-only)."

KINDS = {"ground", "widths", "cuts", "order"}
"""Keys of a rule that decide how it is edited."""

UNFIT = (
    "The hierarchy does not fit the column; the command line says why: anonymizer hierarchy check."
)

Found = tuple[Generalized, list[LevelClasses] | None]


class HierarchiesView(View):
    """One quasi-identifier at a time: its levels, its groups, and what changes them."""

    name, title = "hierarchies", "Hierarchies"
    question = "How does each quasi-identifier become coarser, and what is left under each level?"

    attribute = ""
    found: Generalized | None = None
    _classes: list[LevelClasses] | None = None
    _requested: Hashable = None
    _limited: tuple[str, dict[str, Any]] | None = None
    _kind = ""

    def build(self) -> None:
        """Make the choice of an attribute, the levels and the tree; the editor follows its kind."""
        names = [*self.page.content["quasi-identifiers"]]
        self.attribute = self.attribute if self.attribute in names else names[0]
        with ui.element("div").classes("line"):
            self._select = ui.select(names, value=self.attribute, label="Quasi-identifier")
            self._select.props("outlined dense").classes("wide").on_value_change(self._chosen)
            ui.button("Propose one", on_click=self._propose).props("no-caps outline")
        self._about = Text("p").props("role=status")
        self._levels = LevelRows(self.page)
        with ui.element("div").classes("line"):
            self._least = self._limit("Lowest level released", "min-level")
            self._most = self._limit("Highest level released", "max-level")
        self._editor: Labels | RangeLevels | None = None
        self._kind, self._requested, self._limited = "", None, None
        self._editing = ui.element("div").classes("content editing").props("tabindex=-1")
        SavingButton(self)
        self._tree = GroupTree(self)
        if not self.page.shows_labels:
            note(HIDDEN)

    def shape(self) -> Hashable:
        """The attributes."""
        return tuple(self.page.content["quasi-identifiers"])

    def show(self) -> None:
        """Ask for what is not known yet, and fill in what is."""
        limits = (self.attribute, self._limits())
        if limits != self._limited:  # else somebody may be typing
            self._limited = limits
            self._least.set_value(limits[1].get("min-level", 0))
            self._most.set_value(limits[1].get("max-level"))
        requested = (self.page.text, self.attribute, self.page.fresh)
        if requested != self._requested:
            self._requested = requested
            self.page.start(self._compute())

    async def _compute(self) -> None:
        study, counter, name = self.page.study, self.page.explorer.counter, self.attribute
        outcome = self.page.outcome if self.page.fresh else None

        def computed(watch: Watch) -> Found | str:
            try:
                found = generalized_of(counter.counted(study, watch), name)
            except AnonymizerError as error:
                return self.page.explorer.said(str(error))
            return found, None if outcome is None else classes_by_level(outcome, name)

        found = await self.page.answer("hierarchy", computed)
        if found is None or self.page.view is not self or name != self.attribute:
            return
        if isinstance(found, str):
            self.found = None
            self._clear_editor()
            words = found if self.page.shows_labels else UNFIT
            self._about.set_text(f"{words[:1].upper()}{words[1:]}")
        else:
            self.found = found[0]
            self._classes = found[1] if outcome is not None else None
            self._fill(self.found)

    def _fill(self, found: Generalized) -> None:
        self._about.set_text(about(found))
        self._levels.show(found, self._classes)
        if not self.page.shows_labels:
            return
        self._show_editor(found)
        self._tree.show(found)

    def _show_editor(self, found: Generalized) -> None:
        rule = self.rule
        kinds = ["rows"] if rows_in(found.hierarchy) else []
        kind = " ".join([self.attribute, *kinds, *sorted({*rule} & KINDS)])
        if kind != self._kind:
            turned = self._kind.startswith(f"{self.attribute} ")
            self._kind = kind
            self._editing.clear()
            with self._editing:
                self._editor = self._made(found, rule)
            if turned:  # by an element that is gone
                self._editing.run_method("focus")
        if self._editor is not None:
            self._editor.show(found)

    def _clear_editor(self) -> None:
        self._kind, self._editor = "", None
        self._editing.clear()

    def _made(self, found: Generalized, rule: dict[str, Any]) -> Labels | RangeLevels | None:
        if "ground" in rule:
            with ui.element("div").classes("line"):
                ui.button("Count the values one by one", on_click=self._unground).props(
                    "no-caps outline"
                )
                note("They are counted at a ground now, and nothing finer is known of them.")
            return None
        if rows_in(found.hierarchy):
            return Labels(self)
        if "order" not in rule and ("cuts" in rule or "widths" in rule):
            return RangeLevels(self)
        with ui.element("div").classes("line"):
            ui.button("Make it a table of labels", on_click=self._list).props("no-caps outline")
            note("Then its values and groups can be moved, renamed and joined one by one.")
        return None

    @property
    def shown_rule(self) -> dict[str, Any]:
        """The rule of the attribute that is shown, which may be one that is tried."""
        given = self.page.content["quasi-identifiers"][self.attribute]
        return rule_in(given, self.page.explorer.session.path.parent)

    @property
    def rule(self) -> dict[str, Any]:
        """The rule of the attribute that was decided, a rule file read."""
        session = self.page.explorer.session
        return rule_in(session.content["quasi-identifiers"][self.attribute], session.path.parent)

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the attribute as the study has it."""
        return self.page.study.hierarchies[self.attribute]

    @property
    def edits_labels(self) -> bool:
        """True where groups of the tree can be chosen, and edited."""
        return isinstance(self._editor, Labels)

    def choose(self, level: int, label: str) -> None:
        """Choose a group of the tree, for what is edited."""
        groups = () if self.found is None else self.found.groups
        group = next((each for each in groups if (each.level, each.label) == (level, label)), None)
        if isinstance(self._editor, Labels) and group is not None:
            self._editor.choose(group)

    def take(self, words: str, rule_of: Callable[[], dict[str, Any]]) -> bool:
        """Take another rule as one step; what is wrong with it is said, and False given."""
        try:
            directory = self.page.explorer.session.path.parent
            rule = with_limits(rule_of(), directory)
            name = self.attribute
            self.page.take(f"{name}: {words}", lambda content: with_rule(content, name, rule))
        except AnonymizerError as error:
            self.page.complain(error)
            return False
        return True

    def attempt(self, rule_of: Callable[[], dict[str, Any]]) -> None:
        """Show what another rule would come to, until a step is taken."""
        try:
            rule, name = (
                with_limits(rule_of(), self.page.explorer.session.path.parent),
                self.attribute,
            )
            self.page.attempt(lambda content: with_rule(content, name, rule))
        except AnonymizerError as error:
            self.page.complain(error)

    def take_rows(self, words: str, change: Callable[[Any], Any]) -> bool:
        """Take other rows of labels as one step; they are kept in the session's folder."""

        def rule() -> dict[str, Any]:
            rows = change(rows_in(self.hierarchy))
            path = kept_rows(self.page.explorer.session, self.attribute, rows)
            return {"file": path, **limits_in(self.rule)}

        return self.take(words, rule)

    def _chosen(self) -> None:
        if self._select.value and self._select.value != self.attribute:
            self.attribute, self.found = self._select.value, None
            self._clear_editor()
            self._about.set_text("Counting its groups …")
            self.page.show()

    def _limits(self) -> dict[str, Any]:
        try:
            return limits_in(self.rule)
        except AnonymizerError:
            return {}  # a file that cannot be read: the status says it

    def _limit(self, label: str, key: str) -> ui.number:
        found = ui.number(label, min=0, step=1).props("outlined dense")
        found.on("change", lambda: self._take_limit(key, found.value))
        return found.classes("wide")

    def _take_limit(self, key: str, value: float | None) -> None:
        level = None if value is None else int(value)
        if value == self._limits().get(key, 0 if key == "min-level" else None):
            return

        def rule() -> dict[str, Any]:
            if value != level:
                raise InputError(f"{value:g} is no level; levels are whole numbers")
            given = {name: each for name, each in self.rule.items() if name != key}
            wanted = (
                {**given, key: level} if level or (level == 0 and key != "min-level") else given
            )
            Hierarchy.of(wanted, self.page.explorer.session.path.parent)  # says what is wrong
            return wanted

        if not self.take(f"{key} = {'none' if level is None else level}", rule):
            self._limited = None  # the field shows again what holds
            self.show()

    async def _propose(self) -> None:
        study, counter = self.page.study, self.page.explorer.counter
        place = (study.data_path, study.document.data.table, study.given)
        found = await self.page.answer("profile", lambda watch: counter.profile(*place))
        if found is None:
            return
        content = self.page.content
        k, name = size_in(content["privacy"]), self.attribute
        self.take(
            "the proposed hierarchy",
            lambda: proposed_rule(found, name, k, method_of(content)).rule,
        )

    def _unground(self) -> None:
        def rule() -> dict[str, Any]:
            return {key: each for key, each in self.rule.items() if key != "ground"}

        self.take("values counted one by one", rule)

    def _list(self) -> None:
        def rule() -> dict[str, Any]:
            assert self.found is not None
            path = kept_rows(self.page.explorer.session, self.attribute, listed_of(self.found))
            return {"file": path, **limits_in(self.rule)}

        if self.found is not None:
            self.take("a table of labels", rule)


def about(found: Generalized) -> str:
    """A hierarchy in a sentence."""
    if found.lacking:
        many, records = len(found.lacking), sum(found.lacking.values())
        return (
            f"The hierarchy lacks {plural(many, 'value', 'values')} of the table, in "
            f"{plural(records, 'record', 'records')}; add them, or propose another hierarchy."
        )
    values = plural(len(found.values), "value")
    kinds = {"groups": "A table of labels", "suppression": "Kept, or replaced by *"}
    kind = kinds.get(found.kind, f"{found.kind[:1].upper()}{found.kind[1:]}")
    return (
        f"{kind}: levels 0 to {found.height} over {values} in "
        f"{plural(found.records, 'record', 'records')}."
    )
