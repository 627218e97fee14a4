"""Who may see the page: whoever has the link, in a browser of this machine.

A page of another site that is open in the same browser cannot get here. It does not know the token.
By the name of another host (DNS rebinding) it is refused by the Host header, and its cookie, sent
with no request of another site, would not come along. Pages of other ports of this machine are of
the same site, and have that cookie: they are refused by what browsers say of where a request is
from. Their servers, though, are sent the cookie, too, since cookies know no ports: the owner of one
that is opened in the same browser could come with it from outside of the browser.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HOSTS = ("127.0.0.1", "localhost")
"""What the page may be called by."""

BYTES = 32
"""Random bytes of a token."""

PLAIN = 80
"""The port that browsers do not name."""

FROM, OWN = "sec-fetch-site", ("none", "same-origin")
"""The header in which browsers say where a request is from, and what may be there."""

WELCOME = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<meta http-equiv="refresh" content="0; url={path}"><p>Opening <a href="{path}">the explorer</a>.</p>
</html>"""
"""A page of this site from which the next one is opened: the cookie is sent with that."""

REFUSED = (
    "This page needs the link that the command showed: it has a token. Copy it from the terminal, "
    "or run the command again."
)

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self' about:",  # of a page within this one
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""What the page may load: nothing from elsewhere."""

HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets requests through to an application that come from this machine's browser, by the link.

    ``token`` is in the link; a browser that opened it has a cookie from then on.
    """

    def __init__(self, application: Application, port: int, token: str | None = None) -> None:
        self.application, self.port = application, port
        self.token = token_urlsafe(BYTES) if token is None else token
        self.cookie = f"anonymizer-{port}"

    @property
    def link(self) -> str:
        """Address that opens the page."""
        return f"http://{HOSTS[0]}:{self.port}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self._addressed(headers):
            await _refused(scope, send, 400, "This page is at 127.0.0.1 alone.")
        elif scope["type"] == "http" and self._matches(_token_in(scope)):
            await self._welcomed(scope, send)
        elif headers.get(FROM, OWN[0]) in OWN and any(map(self._matches, self._given_in(headers))):
            await self.application(scope, receive, _with_headers(send))
        else:
            await _refused(scope, send, 403, REFUSED)

    def _addressed(self, headers: MutableMapping[str, str]) -> bool:
        """Return whether a request names this page, and comes from it or from no page."""
        ending = f":{self.port}"
        hosts = {host + ending for host in HOSTS} | ({*HOSTS} if self.port == PLAIN else set())
        origin = headers.get("origin")
        return headers.get("host") in hosts and (
            origin is None or origin in {f"http://{host}" for host in hosts}
        )

    def _matches(self, given: str) -> bool:
        return compare_digest(given.encode(), self.token.encode())

    def _given_in(self, headers: MutableMapping[str, str]) -> list[str]:
        pairs = [each.partition("=") for each in headers.get("cookie", "").split(";")]
        return [value.strip() for name, _, value in pairs if name.strip() == self.cookie]

    async def _welcomed(self, scope: Scope, send: Send) -> None:
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        path = _local(scope["path"])
        body = WELCOME.format(path=path)
        await _answer(send, 200, body, "text/html", {"set-cookie": cookie})


def _local(path: str) -> str:
    plain = path.isascii() and all(c.isalnum() or c in "/-_" for c in path)
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def _token_in(scope: Scope) -> str:
    found = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])
    return str(found[0])


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *own]
        await send(message)

    return sending


async def _refused(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, words, "text/plain", {})


async def _answer(
    send: Send, status: int, text: str, kind: str, more: MutableMapping[str, str]
) -> None:
    body = text.encode()
    given = {"content-type": f"{kind}; charset=utf-8", "content-length": str(len(body)), **HEADERS}
    headers = [(name.encode(), value.encode()) for name, value in {**given, **more}.items()]
    headers.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
