"""Who may see the page: whoever has the link, in a browser of this machine, and nobody else."""

import re
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from explorer.driving import in_a_loop

from anonymizer.explorer.page.guard import HEADERS, Guard, _local

PORT, TOKEN = 4321, "t0ken-of_43-letters"
HOST = ("host", f"127.0.0.1:{PORT}")
COOKIE = ("cookie", f"anonymizer-{PORT}={TOKEN}")


async def page(scope, receive, send):
    """An application that answers everybody."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})
    await send({"type": "http.response.body", "body": b"secret"})


def answer(*headers, path="/", query="", kind="http", port=PORT):
    """What a guarded page answers: the messages that it sends."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        raise AssertionError("the body of a request was read")

    scope = {
        "type": kind,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
    }
    in_a_loop(Guard(page, port, TOKEN)(scope, receive, send))
    return sent


def status(*headers, **options):
    return answer(*headers, **options)[0]["status"]


def head(*headers, **options):
    found = answer(*headers, **options)[0]["headers"]
    return {name.decode(): value.decode() for name, value in found}


def closed(*headers, **options):
    """Whether a websocket was refused."""
    return answer(*headers, kind="websocket", **options)[0]["type"] == "websocket.close"


def test_without_a_token_nobody_gets_in():
    assert status(HOST) == 403
    assert b"secret" not in answer(HOST)[1]["body"]
    assert status(HOST, query="token=") == 403
    assert status(HOST, query="token=wrong") == 403
    assert status(HOST, query=f"token={TOKEN}x") == 403
    assert status(HOST, query="token=%ff%00%zz&token=t%C3%B6ken") == 403
    assert status(HOST, ("cookie", f"anonymizer-{PORT}=")) == 403
    assert status(HOST, ("cookie", f"anonymizer-{PORT}=t\xf6ken")) == 403
    assert status(HOST, ("cookie", f"anonymizer-{PORT + 1}={TOKEN}")) == 403
    assert status(HOST, ("cookie", "x" * 60_000)) == 403
    assert status(HOST, path="/_nicegui/3.0/static/nicegui.js") == 403


def test_the_token_is_exchanged_for_a_cookie():
    found = head(HOST, query=f"token={TOKEN}", path="/policy")
    assert status(HOST, query=f"token={TOKEN}") == 200
    assert found["set-cookie"] == f"anonymizer-{PORT}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == "no-store"
    body = answer(HOST, query=f"token={TOKEN}", path="/policy")[1]["body"].decode()
    assert 'url=/policy"' in body
    assert TOKEN not in body


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "/\\evil.example",
        "/@evil.example",
        "/a:b",
        '/"><script>',
        "/;url=x",
        "/%0d%0aset-cookie",
        "/\r\nx: y",
        "/ä",
        "evil",
        "",
    ],
)
def test_the_way_on_is_never_to_another_site(path):
    assert _local(path) == "/"
    body = answer(HOST, query=f"token={TOKEN}", path=path)[1]["body"].decode()
    assert 'url=/"' in body
    assert "evil" not in body


def test_the_cookie_lets_in_among_others_of_any_form():
    assert status(HOST, COOKIE) == 200
    others = f'a={{"x": "1; 2"}}; b; =c; {COOKIE[1]}; d="'
    assert status(HOST, ("cookie", others)) == 200
    both = f"anonymizer-{PORT}=old; {COOKIE[1]}"
    assert status(HOST, ("cookie", both)) == 200
    assert answer(HOST, COOKIE)[1]["body"] == b"secret"


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:4321", ""]
)
def test_by_another_name_there_is_nothing(host):
    assert status(("host", host), COOKIE) == 400
    assert status(("host", host), query=f"token={TOKEN}") == 400
    assert closed(("host", host), COOKIE)


def test_without_a_host_there_is_nothing():
    assert status(COOKIE) == 400


def test_it_is_called_localhost_too_and_by_no_port_where_that_is_80():
    assert status(("host", f"localhost:{PORT}"), COOKIE) == 200
    cookie = ("cookie", f"anonymizer-80={TOKEN}")
    assert status(("host", "127.0.0.1"), cookie, port=80) == 200
    assert status(("host", "evil.example"), cookie, port=80) == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:80", ""],
)
def test_pages_of_other_origins_are_refused(origin):
    assert status(HOST, COOKIE, ("origin", origin)) == 400
    assert closed(HOST, COOKIE, ("origin", origin))


@pytest.mark.parametrize(
    ("site", "lets_in"),
    [("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False)],
)
def test_requests_of_other_pages_of_this_machine_are_refused(site, lets_in):
    said = ("sec-fetch-site", site)
    assert (status(HOST, COOKIE, said) == 200) is lets_in
    assert closed(HOST, COOKIE, said) is not lets_in
    assert status(HOST, said, query=f"token={TOKEN}") == 200  # a link that was clicked somewhere


def test_a_websocket_needs_the_cookie():
    own = ("origin", f"http://127.0.0.1:{PORT}")
    assert closed(HOST, own)
    assert closed(HOST, own, query=f"token={TOKEN}")
    assert not closed(HOST, own, COOKIE)


def test_every_answer_says_what_a_browser_may_do():
    for found in (
        head(HOST),
        head(("host", "evil.example")),
        head(HOST, query=f"token={TOKEN}"),
        head(HOST, COOKIE),
    ):
        assert HEADERS.items() <= found.items()
    assert head(HOST, COOKIE)["x-own"] == "1"
    assert "'none'" in HEADERS["content-security-policy"]
    assert not re.search(r"https?:|\*", HEADERS["content-security-policy"])


def test_tokens_are_long_and_new():
    tokens = {Guard(page, PORT).token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 43


@pytest.fixture
def served(served_demonstration):
    return served_demonstration


def asked(served, path="/", method="GET", body=None, **headers):
    """What the server answers: status, headers, body."""
    address = urlsplit(served.link)
    connection = HTTPConnection(address.hostname, address.port, timeout=60)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        found = connection.getresponse()
        return found.status, {k.lower(): v for k, v in found.getheaders()}, found.read()
    finally:
        connection.close()


def test_the_server_lets_in_by_the_link_alone(served):
    assert asked(served)[0] == 403
    status, headers, body = asked(served, "/?" + urlsplit(served.link).query)
    cookie = headers["set-cookie"].partition(";")[0]
    assert status == 200
    assert "HttpOnly" in headers["set-cookie"]
    assert b"url=/" in body
    status, headers, body = asked(served, cookie=cookie)
    assert status == 200
    assert b"Explorer" in body
    assert headers["cache-control"] == "no-store"
    assert HEADERS.items() <= headers.items()
    assert "server" not in headers
    assert asked(served, cookie=cookie, host="evil.example")[0] == 400
    assert asked(served, cookie=cookie, origin="http://evil.example")[0] == 400
    script = re.search(rb'"(/_nicegui/[^"]+\.js)"', body)[1].decode()
    assert asked(served, script)[0] == 403
    status, headers, _ = asked(served, script, cookie=cookie)
    assert status == 200
    assert HEADERS.items() <= headers.items()


def test_the_other_ways_to_the_page_are_guarded_as_well(served):
    polling = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert asked(served, polling)[0] == 403
    assert asked(served, polling, "POST", b"40" * 500_000)[0] == 403
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec_websocket_version": "13",
        "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    websocket = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert asked(served, websocket, **upgrade)[0] == 403
    token = urlsplit(served.link).query
    assert asked(served, f"{websocket}&{token}", **upgrade)[0] == 403
    for path in ("/openapi.json", "/docs", "/favicon.ico", "/../../etc/passwd", "/%2e%2e/x"):
        assert asked(served, path)[0] == 403
    assert asked(served, "/", cookie="x" * 200_000)[0] in (400, 403, 431)
    assert asked(served)[0] == 403  # it still answers


HOSTILE = """<!doctype html><title>hostile</title><script>
const own = "{own}", said = {{}};
const socket = new WebSocket(own.replace("http", "ws") +
    "_nicegui_ws/socket.io/?EIO=4&transport=websocket");
socket.onopen = () => said.socket = "open";
socket.onerror = () => said.socket = "refused";
fetch(own, {{mode: "no-cors", credentials: "include"}})
    .then(() => said.page = "loaded", () => said.page = "refused");
fetch(own, {{credentials: "include"}}).then(() => said.read = "read", () => said.read = "refused");
const script = document.createElement("script");
script.src = own + "{script}";
script.onload = () => said.script = "run";
script.onerror = () => said.script = "refused";
document.head.append(script);
</script><iframe src="{own}"></iframe>"""


class Hostile(BaseHTTPRequestHandler):
    """Another page of this machine, which has the cookie of ours, since ports are of one site."""

    page = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_):
        """Nothing is printed."""


def test_a_hostile_page_of_this_machine_gets_nothing(page, served):
    with HTTPServer(("127.0.0.1", 0), Hostile) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        script = page.evaluate(
            "performance.getEntriesByType('resource').find(e => e.name.endsWith('.js')).name"
        )
        script = script.removeprefix(served.home)
        Hostile.page = HOSTILE.format(own=served.home, script=script).encode()
        for host in ("127.0.0.1", "localhost"):
            theirs = page.context.new_page()
            answers = []
            theirs.on("response", lambda found, answers=answers: answers.append(found))
            theirs.goto(f"http://{host}:{server.server_port}/")
            theirs.wait_for_function("Object.keys(said).length === 4")
            said = theirs.evaluate("said")
            assert said.pop("page") in ("loaded", "refused")  # loaded: that it was refused
            assert {*said.values()} == {"refused"}
            assert {found.status for found in answers if found.url.startswith(served.home)} <= {
                400,
                403,
            }
            theirs.close()
        server.shutdown()
