"""Random studies and mutated inputs, thrown at the library until something does not hold.

Short and seeded they run with the other tests (``tests/test_fuzz.py``). Long, from the root of the
repository::

    python -m tests.fuzz --minutes 5                      # studies and all parsers, two processes
    python -m tests.fuzz --studies 100000 --mutations 0   # studies alone
    python -m tests.fuzz --studies 0 --mutations 10000 --parsers manifest parquet
    python -m tests.fuzz --one study:4711 --keep found    # one case again; its files stay in found/

Everything follows from ``--seed``. The summary counts outcomes by recoding, model, reader and
parser, and gives for each failure the command that repeats it; the exit code is 1 if there is any.
``--keep DIR`` keeps the files of failing cases. Ctrl-C prints the summary so far.

A case is named ``study:N`` or ``<parser>:N``. What happens to it:

- ``values``, ``studies``: a random table of awkward values, with hierarchies and a policy; written
  as CSV or Parquet with a study file, or given to the Python interface as a DataFrame.
- ``exercise``: the study is carried out in this process. It ends with a release, or with one line
  that says why not; nothing else stays behind. A sample runs twice, with its records in another
  order, and through ``verify``.
- ``readers``, ``recount``, ``reread``: the release is read by readers that share nothing with the
  library and counted in plain Python; every model of the policy has to hold of what each sees.
- ``mutations``: files that are nearly right, one per parser of the library.

To add a model, a recoding or a parser: ``POLICIES`` in ``policies``, ``RECODINGS`` in ``studies``,
``PARSERS`` in ``mutations``; the short test fails where one that the library knows is missing.
"""

import sys
from pathlib import Path

# pytest puts the directory of the tests on the path; ``python -m tests.fuzz`` does not.
TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)
