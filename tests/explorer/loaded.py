"""All that the page needs, loaded when this is imported: what is forked then has it at once."""

# ruff: noqa: F401 (forks use what is loaded here)

import gc

import duckdb
import networkx
import uvicorn.lifespan.on
import uvicorn.loops.auto
import uvicorn.protocols.http.auto
import uvicorn.protocols.websockets.auto
from nicegui.client import templates

import anonymizer.cli
import anonymizer.explorer.command
import anonymizer.explorer.page.server
import anonymizer.release.publish
import anonymizer.report.page
from anonymizer.explorer.views import views

views()
templates.get_template("index.html")
gc.collect()
gc.freeze()  # a start looks through all objects that are not frozen for the one that serves
