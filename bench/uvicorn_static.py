"""A minimal ASGI app for uvicorn, which reads a body and responds with the bytes of a file."""

import sys
from pathlib import Path

import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send

folder, port = Path(sys.argv[1]), int(sys.argv[2])
answers = {f"/{path.name}": path.read_bytes() for path in folder.glob("*.json")}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with a file's bytes."""
    while (await receive()).get("more_body"):
        pass
    answer = answers[scope["path"]]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


config = uvicorn.Config(
    app, port=port, http="httptools", ws="none", lifespan="off", access_log=False, log_config=None, server_header=False
)
uvloop.run(uvicorn.Server(config).serve())
