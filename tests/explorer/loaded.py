"""All that the page needs, loaded when this is imported: what is forked then has it at once.

Machine code of searches, too, where it is on disk: a fork is not to wait for a compiler.
"""

import anonymizer.cli
import anonymizer.explorer.page.server
import anonymizer.release.publish
import anonymizer.report.page  # noqa: F401
from anonymizer.explorer.views import views
from anonymizer.explorer.warming import search_a_little
from anonymizer.kernels import driver

views()
if driver.pays(False):
    search_a_little()
