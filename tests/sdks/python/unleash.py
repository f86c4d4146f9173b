"""An application with Unleash's SDK for Python. Reads commands and writes answers, a line of JSON each.

{"connect": key, "name": name, "url": url, "mode": "polling" or "streaming"}
                                        -> {"connected": whether it has got any features}
{"ask": [[flag key, context], ...], "name": name} -> [[is on, variant or null, payload or null], ...]
{"measure": flag key, "name": name}     -> {"measured": true}: two orders, a response time and a queue, of a user
"""

import json
import logging
import sys
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from UnleashClient import UnleashClient  # type: ignore[attr-defined]
from UnleashClient.impact_metrics import MetricFlagContext

HYDRATION_SECONDS = 20  # the client does not wait for its stream

logging.disable(logging.CRITICAL)
clients: dict[str, UnleashClient] = {}


def connect(key: str, name: str, url: str, mode: str, folder: str) -> dict[str, Any]:
    """Start a client that asks every second, or that follows the stream."""
    client = UnleashClient(
        url,
        name,
        instance_id=name,
        refresh_interval=1 if mode == "polling" else 60,
        metrics_interval=1,
        custom_headers={"Authorization": key},
        cache_directory=f"{folder}/{name}",
        experimental_mode={"type": mode},  # type: ignore[arg-type]
    )
    client.initialize_client()
    clients[name] = client
    until = monotonic() + HYDRATION_SECONDS
    while mode == "streaming" and not client.feature_definitions() and monotonic() < until:
        sleep(0.01)
    return {"connected": bool(client.feature_definitions())}


def ask(name: str, flag: str, context: dict[str, Any]) -> list[Any]:
    """Return whether a flag is on, the name of its variant and the payload."""
    client = clients[name]
    is_on, variant = client.is_enabled(flag, context), client.get_variant(flag, context)
    return [is_on, variant["name"] if variant["enabled"] else None, variant.get("payload")]


def measure(name: str, flag: str) -> dict[str, bool]:
    """Count two orders, and measure a response time and the length of a queue."""
    metrics = clients[name].impact_metrics
    of_flag = MetricFlagContext([flag], {"userId": "ada"})
    metrics.define_counter("orders", "Orders")
    metrics.define_histogram("seconds", "Response time", [0.1, 1.0])
    metrics.define_gauge("queue", "Orders that wait")
    metrics.increment_counter("orders", 2, of_flag)
    metrics.observe_histogram("seconds", 0.5, of_flag)
    metrics.update_gauge("queue", 7, of_flag)
    return {"measured": True}


with TemporaryDirectory() as cache:
    for line in sys.stdin:
        command = json.loads(line)
        if "connect" in command:
            answer: Any = connect(command["connect"], command["name"], command["url"], command["mode"], cache)
        elif "measure" in command:
            answer = measure(command["name"], command["measure"])
        else:
            answer = [ask(command["name"], *question) for question in command["ask"]]
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    for each in clients.values():
        each.destroy()
