"""Generalization hierarchies: how the values of one attribute become coarser, level by level.

A data steward writes a :class:`Hierarchy`, in a file or in Python. With the values of a table it
becomes a :class:`Taxonomy`: nested partitions of those values, finest first. A :class:`Partition`
is the common currency: a level, the ranges of A1*, a cut through several levels, a grouping. A
:class:`Label` says which values a released one stands for, to placement, SQL and spreadsheets. In
go rules and distinct values, out come taxonomies and labels. Imports tables and kernels.
"""

from anonymizer.hierarchy.hierarchy import Hierarchy as Hierarchy
from anonymizer.hierarchy.label import Label as Label
from anonymizer.hierarchy.label import Meaning as Meaning
from anonymizer.hierarchy.naming import MISSING as MISSING
from anonymizer.hierarchy.naming import showing_values as showing_values
from anonymizer.hierarchy.naming import shown_label as shown_label
from anonymizer.hierarchy.partition import ANY as ANY
from anonymizer.hierarchy.partition import Partition as Partition
from anonymizer.hierarchy.partition import Taxonomy as Taxonomy
from anonymizer.hierarchy.partition import cut_of as cut_of
from anonymizer.hierarchy.partition import forgetting as forgetting
from anonymizer.hierarchy.partition import grouping_of as grouping_of
from anonymizer.hierarchy.partition import set_labels as set_labels
from anonymizer.hierarchy.partition import spelled as spelled
from anonymizer.hierarchy.reading import hierarchy_of as hierarchy_of
from anonymizer.hierarchy.scale import NUMBERS as NUMBERS
from anonymizer.hierarchy.scale import Interval as Interval
from anonymizer.hierarchy.scale import MeasuredNumbers as MeasuredNumbers
from anonymizer.hierarchy.scale import Scale as Scale
