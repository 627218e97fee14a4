"""Pages of the documentation, their blocks of code, and how a block is carried out."""

import re
import runpy
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from anonymizer import Hierarchy, Study
from anonymizer.cli import main
from anonymizer.hierarchy.reading import RULES
from anonymizer.release.study import Scheme

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
LANGUAGES = {"python", "toml", "console", "text"}
SAMPLE = (
    "data/census.csv.gz",
    "data/demo.toml",
    "data/make_tables.py",
    "data/pram.toml",
    "hierarchies/adult",
    "hierarchies/bezzi2010",
)
"""What of the repository lies in the directory in which a page is carried out."""

FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
FRAME = {
    "data": '[data]\npath = "data/census.csv.gz"\n',
    "quasi-identifiers": (
        "[quasi-identifiers]\n"
        'age = "hierarchies/adult/age.toml"\n'
        'sex = "suppress"\n'
        'race = "hierarchies/adult/race.csv"\n'
        'education = "hierarchies/adult/education.csv"\n'
    ),
    "sensitive": '[sensitive]\nattributes = ["marital-status"]\n',
    "privacy": '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n',
}
"""The sections that complete a fragment of a study."""


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, directives of MyST left out."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        if not found["language"].startswith("{"):
            line = text.count("\n", 0, found.start()) + 1
            yield Block(page, line, found["language"], found["text"])


Files = dict[Path, tuple[int, bytes]]
"""Files by their paths: who may read them, and what they hold."""

OF_SAMPLE: dict[tuple[str, ...], tuple[int, str, Files]] = {}
"""What commands made of the sample alone: exit code, output, files. Several pages begin alike."""


@dataclass
class Session:
    """What the blocks of a page share: a directory, names, and the last exit code."""

    directory: Path
    capture: object
    names: dict = field(default_factory=dict)
    code: int = 0

    def __post_init__(self) -> None:
        for name in SAMPLE:
            source, target = ROOT / name, self.directory / name
            target.parent.mkdir(exist_ok=True)
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, target)
        self.sample = self.files()

    def files(self) -> Files:
        """What lies in the directory."""
        found = (path for path in self.directory.rglob("*") if path.is_file())
        return {
            path.relative_to(self.directory): (path.stat().st_mode, path.read_bytes())
            for path in found
        }

    def read(self, page: Path) -> None:
        """Carry out all blocks of a page."""
        for block in blocks(page):
            assert block.language in LANGUAGES, f"{block.place}: {block.language!r}"
            self.carry_out(block)

    def carry_out(self, block: Block) -> None:
        """Carry out a block; an info string that is none of these is an error."""
        {
            "python": self.python,
            "toml": self.toml,
            "console": self.console,
            "text": lambda block: None,
        }[block.language](block)

    def python(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, str(block.page), "exec")
        exec(code, self.names)

    def toml(self, block: Block) -> None:
        """Write a file that is named in the first line; read it as what it is."""
        named = re.match(r"# (\S+\.toml)\n", block.text)
        content = tomllib.loads(block.text)
        path = self.directory / (named[1] if named else "fragment.toml")
        if "name" in content:
            self.scheme(path, block.text)
            return
        if {*RULES} & {*content}:
            path.write_text(block.text, encoding="utf-8")
            Hierarchy.read(path)
            return
        missing = [] if named else [text for name, text in FRAME.items() if name not in content]
        path.write_text("\n".join([block.text, *missing]), encoding="utf-8")
        study = Study(path)
        assert study.hierarchies
        study.anonymizer()

    def scheme(self, path: Path, text: str) -> None:
        """Write a scheme, and read it over a study of the bundled census."""
        path.write_text(text, encoding="utf-8")
        study = self.directory / "fragment.toml"
        study.write_text("\n".join(FRAME.values()), encoding="utf-8")
        Scheme(path, Study(study)).anonymizer()

    def console(self, block: Block) -> None:
        """Run the commands of a block; each ends with 0 unless ``echo $?`` shows another code."""
        transcript = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)
        assert not transcript[0].strip(), f"{block.place} does not begin with a command"
        commands = [part.partition("\n")[::2] for part in transcript[1:]]
        shown = [command for command, _ in commands]
        for i, (command, expected) in enumerate(commands):
            if command == "echo $?":
                assert expected.split() == [str(self.code)], block.place
                continue
            program, *arguments = shlex.split(command)
            printed = self.run(program, arguments, f"{block.place}: {command}")
            explained = i + 1 < len(shown) and shown[i + 1] == "echo $?"
            assert explained or self.code == 0, f"{block.place}: {command}\n{printed}"
            require_shown(expected, printed, block.place)

    def run(self, program: str, arguments: list[str], place: str) -> str:
        """Run a command, or a script of ``data/``, in this process; its output on both streams.

        What another page made of the sample by the same command is laid down as it was made there.
        """
        command, before = (program, *arguments), self.files()
        others = [name for name in arguments if (self.directory / name).exists()]
        if {*map(Path, others)} - {*self.sample} or not self.sample.items() <= before.items():
            return self.ran(program, arguments, place)
        if command not in OF_SAMPLE:
            printed = self.ran(program, arguments, place)
            made = {path: file for path, file in self.files().items() if path not in before}
            OF_SAMPLE[command] = self.code, printed, made
            return printed
        self.code, printed, made = OF_SAMPLE[command]
        for path, (mode, content) in made.items():
            (self.directory / path).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / path).write_bytes(content)
            (self.directory / path).chmod(mode)
        return printed

    def ran(self, program: str, arguments: list[str], place: str) -> str:
        """Run a command or a script in this process; its output on both streams."""
        script = arguments and program == "python" and arguments[0] in SAMPLE
        assert program == "anonymizer" or script, place
        try:
            if script:
                with patch.object(sys, "argv", arguments):
                    runpy.run_path(arguments[0], run_name="__main__")
                self.code = 0
            else:
                main(arguments)
        except SystemExit as stop:
            self.code = stop.code
        out, err = self.capture.readouterr()
        return out + err


def require_shown(expected: str, printed: str, place: str) -> None:
    """Require each line of an output that a page shows, blanks and frames aside."""
    lines = [plain(line) for line in printed.splitlines()]
    for line in filter(None, map(plain, expected.splitlines())):
        if line != "...":
            assert any(line in other for other in lines), f"{place} shows {line!r}, not\n{printed}"


def plain(line: str) -> str:
    return " ".join(re.sub("[─-╿]", " ", line).split())
