"""The examples in docstrings do what they say.

Modules are imported when their examples are carried out, not when tests are collected: each worker
would import all of the library first.
"""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import anonymizer

ROOT = Path(anonymizer.__file__).parent
MODULES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    failed, tried = doctest.testmod(import_module(module), optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert failed == 0
