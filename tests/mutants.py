"""Mutation scores of the modules that prove: ``python -m tests.mutants``; ``mutants.md`` has them.

A mutant is a module with one small error in one function. It is killed when a test fails by it, or
takes far longer. Nothing is written into the checkout: all tests are collected once, and a process
forked from then on has the code of the function exchanged.

A mutant goes by module, function, operator and number, not by line. Which ones are tried follows
from a seed and from that name alone: a function that moves within its module keeps its mutants,
and so do all others when one changes.

Processes that tests start, and what was made while tests were collected, are of the module as it
is. By that a mutant may survive; none is killed.
"""

import argparse
import ast
import builtins
import copy
import functools
import gc
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import NoReturn

import pytest

HERE = Path(__file__).parent
PAGE = HERE / "mutants.md"
EQUIVALENT = HERE / "mutants.toml"
VERIFICATION = (
    "release/test_verification.py",
    "release/test_publish.py",
    "release/test_parts.py",
    "release/test_hostile.py",
    "release/test_steward.py",
)
PRIVACY = (
    "privacy/test_privacy.py",
    "privacy/test_literature.py",
    "privacy/test_own.py",
    "privacy/test_pycanon.py",
    "privacy/test_gaps.py",
    "privacy/test_models_of_populations.py",
    "privacy/test_beliefs.py",
    "privacy/test_households.py",
)
MODULES: dict[str, Sequence[str | Path]] = {
    "anonymizer.release.proof": (
        *VERIFICATION,
        "tables/test_spelling.py",
        "release/test_numbers.py",
    ),
    "anonymizer.release.verification.verification": (
        *VERIFICATION,
        "release/test_persons.py",
        "release/test_shift.py",
    ),
    "anonymizer.release.verification.figures": VERIFICATION,
    "anonymizer.release.verification.labels": (
        *VERIFICATION,
        "release/test_shift.py",
        "release/test_class_weights.py",
    ),
    "anonymizer.release.verification.policies": VERIFICATION,
    "anonymizer.privacy.base": PRIVACY,
    "anonymizer.privacy.measuring": (
        *PRIVACY,
        "counts/test_persons.py",
        "release/test_persons.py",
        "test_problems.py",
    ),
    "anonymizer.privacy.sizes": (
        *PRIVACY,
        "release/test_persons.py",
        "release/test_margins.py",
        "release/test_numbers.py",
    ),
    "anonymizer.privacy.diversity": PRIVACY,
    "anonymizer.privacy.shares": PRIVACY,
    "anonymizer.privacy.closeness": PRIVACY,
    "anonymizer.channels.program": ("channels/test_private_channel.py",),
    "anonymizer.recoding.full_domain.branch_and_bound": (
        "recoding/test_boxes.py",
        "recoding/test_limits.py",
        "recoding/test_whole_persons.py",
        "test_problems.py",
    ),
    "anonymizer.counts.linked": (
        "counts/test_persons.py",
        "release/test_numbers.py",
        "release/test_numbers_elsewhere.py",
    ),
    "anonymizer.counts.margin_labels": ("counts/test_margin_labels.py", "release/test_margins.py"),
    "anonymizer.release.pseudonyms": (
        "release/test_pseudonyms.py",
        "release/test_joined_releases.py",
    ),
    "anonymizer.masking.shifting": ("masking/test_shifting.py", "release/test_shift.py"),
}
"""The modules, and the files of tests that a mutant has to pass: those that reach the module."""

NUMBER, SEED = 8, 1
PATIENCE = 3, 30
"""A mutant has so many times the processor's time of its tests, and so many seconds more."""

WAITING = 10
"""It has so many times as long by the clock, for it may wait for what never comes."""

OPERATORS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
EXTREMES = {"min": "max", "all": "any", "minimum": "maximum"}
EXTREMES |= {other: one for one, other in EXTREMES.items()}
ORDERED = {*EXTREMES, "isinstance", "getattr", "hasattr", "__setattr__"}
"""Functions whose arguments may be exchanged, or that always fail when they are."""

SURVIVED = "SURVIVED"


def home_of(module: str) -> str:
    """The name of a module in the library."""
    return module.removeprefix("anonymizer.")


@dataclass(frozen=True)
class Mutant:
    """One error: its place in the syntax of a function, and what stands there instead."""

    module: str
    function: str
    operator: str
    ordinal: int
    parent: ast.AST
    field: str
    index: int | None
    other: ast.AST

    def __str__(self) -> str:
        return f"{self.home}:{self.function}:{self.operator}:{self.ordinal}"

    @property
    def home(self) -> str:
        """The module, as the page has it."""
        return home_of(self.module)

    @property
    def node(self) -> ast.AST:
        """What stands there."""
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    @property
    def place(self) -> str:
        """The file and line; a part of a comprehension has no line of its own."""
        line = next(each.lineno for each in ast.walk(self.node) if hasattr(each, "lineno"))
        return f"{self.module.replace('.', '/')}.py:{line}"

    @property
    def change(self) -> str:
        """What was exchanged, in a line."""
        if self.operator == "dropped":
            return f"without `{_line(self.node)}`"
        return f"`{_line(self.node)}` is `{_line(self.other)}`"

    def put(self, value: ast.AST) -> None:
        """Put something in its place."""
        if self.index is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.index] = value


def _line(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split()).replace("|", "\\|")
    return text if len(text) <= 90 else f"{text[:88]} ..."


class Source:
    """A module's syntax and its functions, those of classes too."""

    def __init__(self, name: str) -> None:
        file = name.replace(".", "/") + ".py"
        places = (Path(each, file) for each in sys.path)
        path = next(each for each in places if each.is_file()).resolve()
        self.name, self.path = name, str(path)
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.functions = dict(_functions(self.tree.body, ""))

    def mutants(self) -> Iterator[Mutant]:
        """All that the operators make of it."""
        for name, function in self.functions.items():
            count: dict[str, int] = {}
            sites = (site for node in function.body for site in _sites(node, function))
            for parent, field, index, operator, other in sites:
                ordinal = count[operator] = count.get(operator, -1) + 1
                yield Mutant(self.name, name, operator, ordinal, parent, field, index, other)

    def code(self, function: str) -> CodeType:
        """The code of a function, as the syntax is now."""
        node = self.functions[function]
        first = min(each.lineno for each in (node, *node.decorator_list))
        found = compile(ast.fix_missing_locations(self.tree), self.path, "exec")
        return next(
            part
            for part in _codes(found)
            if part.co_qualname == function and part.co_firstlineno == first
        )

    @contextmanager
    def with_error(self, mutant: Mutant) -> Iterator[None]:
        """Have the error in the syntax."""
        original = mutant.node
        mutant.put(ast.copy_location(mutant.other, original))
        yield
        mutant.put(original)


def _functions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


Site = tuple[ast.AST, str, int | None, str, ast.AST]


def _sites(node: ast.AST, parent: ast.AST, field: str = "body") -> Iterator[Site]:
    """Each place below a node of a body or field with each error that may be made there."""
    values = getattr(parent, field)
    index = values.index(node) if isinstance(values, list) else None
    if isinstance(node, ast.JoinedStr | ast.Assert):  # words, and what no test can reach
        return
    for operator, other in _errors(node):
        yield parent, field, index, operator, other
    if field == "test" and isinstance(node, ast.Name | ast.Attribute | ast.Call):
        yield parent, field, index, "condition", ast.UnaryOp(ast.Not(), node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: a check of our own
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _sites(each, node, name)


def _errors(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each operator that applies to a node, and what it makes of it."""
    yield from _of_operators(node)
    yield from _of_values(node)
    yield from _of_order(node)


def _of_operators(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                others = [*ops[:place], OPERATORS[type(op)](), *ops[place + 1 :]]
                yield "comparison", _with(node, ops=others)
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield "arithmetic", _with(node, op=OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield "logic", _with(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node.operand


def _of_values(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", _with(node, value=not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", _with(node, value=value + 1)
        case ast.Name(id=name) if name in EXTREMES:
            yield "extreme", _with(node, id=EXTREMES[name])
        case ast.Attribute(attr=name) if name in EXTREMES:
            yield "extreme", _with(node, attr=EXTREMES[name])


def _of_order(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.comprehension(ifs=[_, *_]):
            yield "filter", _with(node, ifs=node.ifs[:-1])
        case ast.Call(func=function, args=[one, other, *more]):
            name = ast.unparse(function).rpartition(".")[2]
            if name not in ORDERED and not isinstance(one, ast.Starred):
                yield "arguments", _with(node, args=[other, one, *more])
        case ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Expr():
            if not _is_docstring(node):
                # What is never reached still has the names that a function closes over.
                yield "dropped", ast.If(ast.Constant(False), [node], [])


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with(node: ast.AST, **changes: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def chosen(source: Source, number: int, seed: int) -> list[Mutant]:
    """So many mutants of a module, in the order of the digests of their names."""

    def rank(mutant: Mutant) -> bytes:
        name = f"{seed}:{mutant.function}:{mutant.operator}:{mutant.ordinal}"
        return sha256(name.encode()).digest()

    return sorted(source.mutants(), key=rank)[:number]


@dataclass(frozen=True)
class Passed:
    """What a test needs that passes: seconds of the processor, and the functions it enters."""

    seconds: float
    functions: frozenset[str]


class Trial:
    """In place of pytest's own loop: all tests as they are, then some of them for each mutant."""

    def __init__(
        self,
        mutants: Mapping[str, Sequence[Mutant]],
        sources: Mapping[str, Source],
        told: Callable[[object], None],
    ) -> None:
        self.mutants, self.sources, self.told = mutants, sources, told
        self.failed = self.reason = ""
        self.entered: set[str] = set()
        self.prepared: set[str] = set()
        self.live: dict[tuple[str, str, int], list[FunctionType]] = {}
        self.caches: list[functools._lru_cache_wrapper[object]] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say what cannot be collected."""
        if report.failed:
            say(report.longreprtext)

    def pytest_runtest_call(self) -> None:
        """Note what was entered before a test, on whose fixtures those after it stand, too."""
        self.prepared |= self.entered

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first test that fails."""
        if report.failed and not self.failed:
            self.failed, self.reason = report.nodeid, report.longreprtext

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Carry out what is to be done."""
        if session.testsfailed:
            stop("tests cannot be collected")
        self._find()
        passed = self._passed(session)
        for name, mutants in self.mutants.items():
            files = {str(HERE / file) for file in MODULES[name]}
            of_module = [item for item in session.items if str(item.path) in files]
            self.told([name, len(of_module), _seconds(of_module, passed)])
            for mutant in mutants:
                key = f"{name}:{mutant.function}"
                tests = [item for item in of_module if key in passed[item.nodeid].functions]
                if tests:
                    killer = self._tried(mutant, ordered(tests, passed), _seconds(tests, passed))
                    self.told([str(mutant), killer, 0])
                    say(f"{mutant}: {killer or SURVIVED} ({len(tests)} tests)")
        return True

    def _find(self) -> None:
        """Find the functions of the modules, and what the library remembers."""
        gc.unfreeze()  # what was collected is set aside
        paths = {source.path for source in self.sources.values()}
        for each in gc.get_objects():
            if type(each) is FunctionType and each.__code__.co_filename in paths:
                self.live.setdefault(place_of(each.__code__), []).append(each)
            elif type(each) is functools._lru_cache_wrapper and _is_ours(each):
                self.caches.append(each)
        gc.freeze()

    def _exchange(self, codes: Sequence[CodeType]) -> None:
        """Give functions other code, and forget what they gave before."""
        for code in codes:
            for function in self.live.get(place_of(code), ()):
                function.__code__ = code
        for each in self.caches:
            each.cache_clear()

    def _passed(self, session: pytest.Session) -> dict[str, Passed]:
        """All tests as the modules are; each function says when it is entered."""
        builtins._entered = self.entered.add  # type: ignore[attr-defined]
        codes = [
            _noting(source, name) for source in self.sources.values() for name in source.functions
        ]

        def carry_out(told: Callable[[object], None]) -> None:
            self._exchange(codes)
            path = None
            for item, following in zip(session.items, [*session.items[1:], None], strict=True):
                if item.path != path:
                    path, self.prepared = item.path, set()
                self.entered.clear()
                since = time.process_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                functions = [*(self.entered | self.prepared)]
                told([item.nodeid, time.process_time() - since, functions])
                if self.failed:
                    told(f"{self.failed} fails:\n{self.reason}")
                    return

        _, lines = forked(carry_out, None)
        if isinstance(lines[-1], str):
            stop(f"without any mutant: {lines[-1]}")
        say(f"{len(lines)} tests pass in {sum(line[1] for line in lines):.0f} seconds")
        return {name: Passed(took, frozenset(functions)) for name, took, functions in lines}

    def _tried(self, mutant: Mutant, tests: Sequence[pytest.Item], seconds: int) -> str:
        """The test that kills a mutant; empty where none does."""
        source = self.sources[mutant.module]
        with source.with_error(mutant):
            code = source.code(mutant.function)
        killer = _killer(*forked(partial(self._carry_out, tests, [code]), seconds))
        ids = [item.nodeid for item in tests]
        if killer in ids:  # in this order the same tests have to pass without the error
            before = tests[: ids.index(killer) + 1]
            _, (failed, reason) = forked(partial(self._carry_out, before, []), None)
            if failed:
                stop(
                    f"without any error, after {len(before) - 1} others: {failed} fails:\n{reason}"
                )
        return killer

    def _carry_out(
        self,
        tests: Sequence[pytest.Item],
        codes: Sequence[CodeType],
        told: Callable[[object], None],
    ) -> None:
        """Carry out tests in this process, as long as they pass."""
        self._exchange(codes)
        for item, following in zip(tests, [*tests[1:], None], strict=True):
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except BaseException:  # what ends pytest itself, such as an interrupt
                self.failed = self.failed or item.nodeid
            if self.failed:
                break
        told(self.failed)
        told(self.reason)


def at_import(mutant: Mutant, source: Source, seconds: int) -> str:
    """The same of a function that no test enters: it may run when its module is imported."""

    def carry_out(told: Callable[[object], None]) -> None:
        with source.with_error(mutant):
            code = compile(ast.fix_missing_locations(source.tree), source.path, "exec")
        of_file = SourceFileLoader.get_code

        def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
            return code if fullname == source.name else of_file(self, fullname)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
        passed = collected([source.name], [], "-x") == pytest.ExitCode.OK
        told("" if passed else "the tests, at import")

    return _killer(*forked(carry_out, seconds))


def _killer(ended: str, lines: Sequence[object]) -> str:
    return str(lines[0]) if lines else f"ended by {ended}"


def collected(names: Sequence[str], plugins: Sequence[object], *more: str) -> int:
    """Have pytest collect the tests of some modules, and carry them out in the short form.

    Without those of clusters: what these compute lies in other processes, which have no error.
    """
    files = dict.fromkeys(str(HERE / file) for name in names for file in MODULES[name])
    with tempfile.TemporaryDirectory() as directory:
        options = ["-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider"]
        options += ["-c", str(HERE.parent / "pyproject.toml"), "--import-mode=importlib"]
        options += ["-k", "not spark and not cluster", f"--basetemp={directory}/tests", *more]
        return pytest.main([*options, *files], plugins=[*plugins])


def _seconds(tests: Sequence[pytest.Item], passed: Mapping[str, Passed]) -> int:
    """How long the processor may be taken."""
    times, more = PATIENCE
    return int(times * sum(passed[each.nodeid].seconds for each in tests) + more)


def _noting(source: Source, function: str) -> CodeType:
    """The code of a function that says when it is entered."""
    body = source.functions[function].body
    call = ast.parse(f"_entered({f'{source.name}:{function}'!r})").body[0]
    for each in ast.walk(call):
        ast.copy_location(each, body[0])
    body.insert(0, call)
    code = source.code(function)
    del body[0]
    return code


def ordered(tests: Sequence[pytest.Item], passed: Mapping[str, Passed]) -> list[pytest.Item]:
    """The quickest first, files together: their fixtures are made once."""
    of_file: dict[Path, float] = {}
    for item in tests:
        of_file[item.path] = of_file.get(item.path, 0.0) + passed[item.nodeid].seconds
    return sorted(tests, key=lambda each: (of_file[each.path], passed[each.nodeid].seconds))


def _is_ours(cached: "functools._lru_cache_wrapper[object]") -> bool:
    return str(cached.__module__).startswith("anonymizer")


def place_of(code: CodeType) -> tuple[str, str, int]:
    """What tells a function's code from all others."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def forked(
    carry_out: Callable[[Callable[[object], None]], None], seconds: int | None
) -> tuple[str, list[object]]:
    """What a process forked from here says, line by line, and how it ended."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        with os.fdopen(reading) as lines:
            found = [json.loads(line) for line in lines]
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if ended > 0:
            sys.exit("mutants cannot be tried: the reason is above")
        return signal.Signals(-ended).name if ended else "", found
    try:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            signal.alarm(WAITING * seconds)
        with os.fdopen(writing, "w") as file:
            carry_out(lambda line: print(json.dumps(line), file=file, flush=True))
    except BaseException as error:
        os.write(2, f"{error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def stop(reason: str) -> NoReturn:
    """End pytest, and with it the trial."""
    say(reason)
    pytest.exit(reason, returncode=1)


def say(text: str) -> None:
    """Say how far it is."""
    os.write(1, f"{text}\n".encode())


@dataclass(frozen=True)
class Result:
    """What came of the mutants of a module: which test killed each, empty where none did."""

    tests: int
    mutants: Sequence[Mutant]
    killers: Mapping[str, str]

    def row(self, known: Mapping[str, str]) -> str:
        """The row of the table."""
        equivalent = sum(str(each) in known for each in self.survivors)
        count, left = len(self.mutants), len(self.survivors)
        figures = self.tests, count, count - left, equivalent, left - equivalent
        return " | ".join([f"| `{self.mutants[0].home}`", *map(str, figures)]) + " |"

    @property
    def survivors(self) -> list[Mutant]:
        """The mutants that no test killed."""
        return [each for each in self.mutants if not self.killers[str(each)]]


def tried(names: Sequence[str], number: int, seed: int) -> dict[str, Result]:
    """Try so many mutants of each module, in processes of which none is this one."""
    sources = {name: Source(name) for name in names}
    mutants = {name: chosen(source, number, seed) for name, source in sources.items()}

    def carry_out(told: Callable[[object], None]) -> None:
        ended = collected(names, [Trial(mutants, sources, told)])
        if ended != pytest.ExitCode.OK:
            os._exit(1)

    found = {str(name): (first, last) for name, first, last in forked(carry_out, None)[1]}
    for name in names:
        for mutant in mutants[name]:
            if str(mutant) not in found:
                killer = at_import(mutant, sources[name], int(found[name][1]))
                found[str(mutant)] = killer, 0
                say(f"{mutant}: {killer or SURVIVED}")
    killers = {name: str(first) for name, (first, _) in found.items()}
    return {name: Result(int(found[name][0]), mutants[name], killers) for name in names}


HEAD = """\
# Mutants of the modules that prove

Made by `python -m tests.mutants{options}`. A mutant is a module with one small error; the tests are
those of the files that `MODULES` lists in `mutants.py`, in the short form, without clusters.
Killed: one of them fails, or takes {times} times as long and {more} seconds. Equivalent: no test
can tell it from the module, for the reason in `mutants.toml`.

| module | tests | mutants | killed | equivalent | survived |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
SURVIVORS = """
Those that no test killed:

| mutant | place | change | why |
| --- | --- | --- | --- |
"""


def page(found: Mapping[str, Result], known: Mapping[str, str], before: str, flags: str) -> str:
    """The page with new results; modules that were not tried keep theirs."""
    times, more = PATIENCE
    text = HEAD.format(options=flags, times=times, more=more)
    rows: dict[str, list[str]] = {}
    for line in before.splitlines() if before.startswith(text) else []:
        if line.startswith("| `"):
            rows.setdefault(re.split("[`:]", line)[1], []).append(line)
    for result in found.values():
        survivors = [
            f"| `{each}` | {each.place} | {each.change} | {known.get(str(each), 'LOOK')} |"
            for each in result.survivors
        ]
        rows[result.mutants[0].home] = [result.row(known), *survivors]
    shown = [rows[home] for name in MODULES if (home := home_of(name)) in rows]
    columns = zip(*(map(int, first.split("|")[2:-1]) for first, *_ in shown), strict=True)
    total = " | ".join(["| all", "", *(str(sum(column)) for column in [*columns][1:])]) + " |"
    text += "\n".join([*(first for first, *_ in shown), total, ""])
    left = [line for _, *lines in shown for line in lines]
    return text + SURVIVORS + "\n".join([*left, ""]) if left else text


def main(arguments: Sequence[str]) -> int:
    """Try mutants, and write what came of them; 1 if one is not what it is known to be."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=NUMBER, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="+", metavar="MODULE", help="such as privacy.base")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page of the results")
    given = parser.parse_args(arguments)
    names = [*MODULES]
    if given.only:
        names = [name for name in MODULES if home_of(name) in given.only]
        if len(names) < len({*given.only}):
            parser.error(f"known are {', '.join(map(home_of, MODULES))}")
    found = tried(names, given.number, given.seed)
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    before = given.output.read_text(encoding="utf-8") if given.output.exists() else ""
    flags = "" if given.number == NUMBER else f" --number {given.number}"
    flags += "" if given.seed == SEED else f" --seed {given.seed}"
    given.output.write_text(page(found, known, before, flags), encoding="utf-8")
    left = {str(each) for result in found.values() for each in result.survivors}
    wrong = {*known} & {str(each) for result in found.values() for each in result.mutants} - left
    for name in sorted(wrong):
        say(f"{name} was killed: it is not equivalent, as {EQUIVALENT.name} has it")
    return int(bool(wrong or left - {*known}))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
