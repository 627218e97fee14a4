"""Random problems of full-domain recoding, solved in every way and held against brute force.

Short and seeded they run with the other tests (``tests/test_problems.py``). Long, from the root of
the repository::

    python -m tests.problems --number 10000 --seed 1 --jobs 2
    python -m tests.problems --number 10000 --seed 1000001     # of persons who have several records
    python -m tests.problems --number 10000 --seed 2000001     # the same, who are known by several
    python -m tests.problems --number 10000 --seed 3000001     # of people who live together
    python -m tests.problems --number 10000 --seed 4000001     # of persons who are numbered
    python -m tests.problems --number 10000 --seed 5000001     # as rehearsals search them
    python -m tests.problems --one 4711                        # one problem again, made smaller

Everything follows from the number of a problem. What happens to it:

- ``drawing``: a small table with hierarchies, a policy, a budget and an objective, thresholds as a
  rule exactly at what some class comes to. ``own`` has models as a user writes them. Problems from
  a million on are of persons who have several records, from two million on of attackers who know
  several of them, from three million on of households, from four million on of persons whom the
  release numbers, from five million on those that `against = "method"` searches.
- ``oracle.Brute`` judges and scores every node in plain Python, from records.
- ``limits``: numbers from which on searches go about it otherwise are small in some problems.
- ``complaints``: some strategies solve it, in every way that ``ways`` knows; node, score, proof,
  bound, feasible and minimal nodes have to be those of brute force, and the ways have to count
  equally many nodes.
- ``interrupts``: the same interrupted, or out of time: what is answered is feasible, scored
  correctly and bounded truly.
- ``shrinking``: a problem that fails is made smaller as long as it fails alike.

To add a way to solve problems: one entry of ``WAYS`` in ``ways``.
"""

import sys
from pathlib import Path

# pytest puts the directory of the tests on the path; ``python -m tests.problems`` does not.
TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)
