"""An application with Unleash's SDK for Python. Reads commands and writes answers, a line of JSON each.

{"connect": key, "name": name}          -> {"connected": whether it has got any features}
{"ask": [[flag key, context], ...], "name": name} -> [[is on, variant or null, payload or null], ...]
"""

import json
import logging
import sys
from tempfile import TemporaryDirectory
from typing import Any

from UnleashClient import UnleashClient

logging.disable(logging.CRITICAL)
url = sys.argv[1]
clients: dict[str, UnleashClient] = {}


def connect(key: str, name: str, folder: str) -> dict[str, Any]:
    """Start a client that asks every second."""
    client = UnleashClient(
        url,
        name,
        instance_id=name,
        refresh_interval=1,
        metrics_interval=1,
        custom_headers={"Authorization": key},
        cache_directory=f"{folder}/{name}",
    )
    client.initialize_client()
    clients[name] = client
    return {"connected": bool(client.feature_definitions())}


def ask(name: str, flag: str, context: dict[str, Any]) -> list[Any]:
    """Whether a flag is on, the name of its variant and the payload."""
    client = clients[name]
    is_on, variant = client.is_enabled(flag, context), client.get_variant(flag, context)
    return [is_on, variant["name"] if variant["enabled"] else None, variant.get("payload")]


with TemporaryDirectory() as cache:
    for line in sys.stdin:
        command = json.loads(line)
        if "connect" in command:
            answer: Any = connect(command["connect"], command["name"], cache)
        else:
            answer = [ask(command["name"], *question) for question in command["ask"]]
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    for each in clients.values():
        each.destroy()
