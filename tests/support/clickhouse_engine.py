"""A small HTTP front for chdb, ClickHouse's engine in a library; runs in an environment of its own.

    python clickhouse_engine.py DIRECTORY PASSWORD PORT

Prints its port. It passes queries, settings and bodies on as ClickHouse's server does. Faults are ordered with
POST /fault?kind=KIND&count=N: `before` answers 500 and stores nothing, `after` stores and then answers 500, `hang`
stores and never answers, `redirect` answers 307. GET /received returns how many INSERTs were executed.
"""

import gzip
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

# Parameters of the HTTP interface that are not settings of the engine.
OWN = {"query", "database", "default_format", "wait_end_of_query", "param_database", "param_table"}
engine = session.Session(sys.argv[1])
password = sys.argv[2]
turn = threading.Lock()
faults: list[str] = []
received: list[str] = []


def run(query: str, parameters: dict[str, str], body: bytes) -> bytes:
    """Execute a query with the settings in the URL."""
    settings = ", ".join(f"{name} = '{value}'" for name, value in parameters.items() if name not in OWN)
    for name in ("database", "table"):
        value = parameters.get(f"param_{name}", "").replace("'", "''")
        query = query.replace(f"{{{name}:String}}", f"'{value}'")
    if query.startswith("INSERT"):
        start, _, form = query.rpartition(" FORMAT ")
        text = f"{start} SETTINGS {settings} FORMAT {form} " + body.decode()
        received.append(parameters.get("insert_deduplication_token", ""))
    else:
        text = query
    result = engine.query(text, parameters.get("default_format", "TabSeparated"))
    return result.bytes() if result else b""


class Handler(BaseHTTPRequestHandler):
    """Answers as ClickHouse's HTTP interface does."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the received tokens, or answer a ping."""
        self.answer(200, json.dumps(received).encode() if self.path == "/received" else b"Ok.\n")

    def do_POST(self) -> None:
        """Execute a query, or order a fault."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        path, parameters = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
        if path == "/fault":
            faults[:] = [parameters["kind"]] * int(parameters["count"])
            self.answer(200, b"")
            return
        if self.headers.get("x-clickhouse-key", "") != password:
            self.answer(403, b"Code: 516. DB::Exception: default: Authentication failed.", 516)
            return
        query = parameters.get("query") or body.decode()
        fault = faults.pop(0) if faults and query.startswith("INSERT") else None
        if fault == "redirect":
            self.answer(307, b"", location="/elsewhere")
            return
        if fault == "before":
            self.answer(500, b"Code: 241. DB::Exception: Memory limit exceeded.", 241)
            return
        try:
            with turn:
                found = run(query, parameters, body)
        except Exception as error:  # noqa: BLE001 - whatever the engine says
            self.answer(500, str(error).encode(), 1)
            return
        if fault == "hang":
            time.sleep(600)
        if fault == "after":
            self.answer(500, b"Code: 210. DB::Exception: the network was lost after the insert.", 210)
            return
        self.answer(200, found)

    def answer(self, status: int, body: bytes, code: int | None = None, location: str | None = None) -> None:
        """Send an answer, with the headers of ClickHouse."""
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        if code is not None:
            self.send_header("x-clickhouse-exception-code", str(code))
        if location is not None:
            self.send_header("location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


ThreadingHTTPServer.allow_reuse_address = True
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler)
server.daemon_threads = True
sys.stdout.write(f"{server.server_port}\n")
sys.stdout.flush()
server.serve_forever()
