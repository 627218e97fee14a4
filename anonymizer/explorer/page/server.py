"""The server of the page: on this machine alone, and for whoever has the link."""

import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from anonymizer.errors import InputError
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.page.frame import ExplorerPage
from anonymizer.explorer.page.guard import HOSTS, Guard
from anonymizer.explorer.page.toolkit import Client, run_with, ui
from anonymizer.explorer.views import views

STYLE = Path(__file__).with_name("style.css")

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5cad" '
    'd="M1 1h6v6H1zM9 1h6v6H9zM1 9h14v6H1z"/></svg>'
)

DEBUG = "ANONYMIZER_DEBUG"
"""The environment variable by which errors show themselves in the terminal."""

RECONNECT = 3.0
"""Seconds after which a page that was closed counts as closed; a reload takes less."""


def serve(explorer: Explorer, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted; ``on_ready`` is given its link.

    A ``port`` of 0 is any that is free.

    Raises InputError when the port cannot be had.
    """
    with _listening(port) as listening:
        guard = Guard(application(explorer), listening.getsockname()[1])
        config = uvicorn.Config(
            guard,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=0,
        )
        server = _Server(config, lambda: on_ready(guard.link))
        with suppress(KeyboardInterrupt):  # this is how it ends
            server.run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    """Return a socket that listens at a port of this machine; InputError where none can."""
    try:
        return socket.create_server((HOSTS[0], port))
    except OSError as error:
        raise InputError(
            f"cannot serve the page at port {port} ({os.strerror(error.errno or 0)}); leave "
            "--port out to take one that is free"
        ) from None


class _Server(uvicorn.Server):
    """A server that says when it can be reached."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


def application(explorer: Explorer) -> FastAPI:
    """The page of a session as an application; one for a process."""
    if not os.environ.get(DEBUG):
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)  # its errors quote what they are of
    own = FastAPI(openapi_url=None)

    def shown(client: Client) -> None:
        ui.add_css(STYLE.read_text(encoding="utf-8"))
        ExplorerPage(explorer, client, client.page.path.strip("/"))

    # No other address is a page: with an icon that browsers ask for, the study would be searched
    # once more, for nobody.
    for name in ("", *views()):
        ui.page(f"/{name}")(shown)

    run_with(
        own,
        title=f"{explorer.session.name} · Explorer",
        favicon=ICON,
        dark=None,
        language="en-US",
        reconnect_timeout=RECONNECT,
        show_welcome_message=False,
        tailwind=False,
    )
    return own
