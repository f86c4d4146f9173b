"""The API's description and its browser, which needs nothing from other hosts."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from flagstaff.web.edge.responses import json_response

# Swagger UI writes styles as it draws; scripts come from here alone.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Flagstaff API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<main id="api"></main>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = """SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, persistAuthorization: false });
"""


def add_docs(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> None:
    """Add `/openapi.json`, which is what `describe` returns, and `/docs` to an application."""
    package = find_spec("fastapi_offline")  # it brings Swagger UI's files; its code is not used
    assert package is not None
    assert package.origin is not None
    assets = StaticFiles(directory=Path(package.origin).parent / "static")

    async def description(_: Request) -> Response:
        return json_response(describe())

    async def page(_: Request) -> Response:
        return HTMLResponse(_PAGE, headers={"content-security-policy": _POLICY})

    async def start(_: Request) -> Response:
        return Response(_START, media_type="text/javascript")

    app.add_route("/openapi.json", description, include_in_schema=False)
    app.add_route("/docs", page, include_in_schema=False)
    app.add_route("/docs/start.js", start, include_in_schema=False)
    app.mount("/docs/assets", assets)
