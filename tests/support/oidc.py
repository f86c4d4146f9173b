"""A real OpenID Connect provider in another process, and people who sign in at it."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urljoin, urlsplit

from hatch_build import DASHBOARD, find_node
from tests.support.clients import open_client
from tests.support.ports import free_port

SECRET = "secret: 100 %"
_SCRIPT = Path(__file__).with_name("oidc_provider.mjs")


class IdentityProvider:
    """The provider. The context manager starts it on entry, and ends it on exit."""

    def __init__(self, public_url: str) -> None:
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self.redirect_uri = f"{public_url}/sso/callback"
        self._logout_uri = f"{public_url}/"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and return when it answers."""
        node = find_node()
        assert node is not None, "make test brings one"
        assert (DASHBOARD / "node_modules" / "oidc-provider").is_dir(), "make test installs it"
        command = [str(node.binary), str(_SCRIPT), str(self.port), self.redirect_uri, self._logout_uri]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) != b"ready\n":
            assert line, "the provider ended"

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    async def set(self, **state: Any) -> None:
        """Change what it returns: `people`, `claims`, `nulls`, `signing`, `hang`, `large`, or `rotate` its keys."""
        async with open_client() as client:
            body = json.dumps(state)  # ASCII, also for half a character
            (await client.post(f"{self.issuer}/test", content=body)).raise_for_status()

    async def answer(self, authorization_url: str, login: str) -> dict[str, str]:
        """Sign in as a person's browser does; return what the provider sends to the redirect URI."""
        async with open_client() as browser:
            response = await browser.get(authorization_url)
            while True:
                if response.is_redirect:
                    target = urljoin(str(response.url), response.headers["location"])
                    if target.startswith(self.redirect_uri):
                        return dict(parse_qsl(urlsplit(target).query))
                    response = await browser.get(target)
                else:
                    action = re.search(r'action="([^"]+)"', response.text)
                    assert action, response.text
                    form = {"prompt": "login", "login": login, "password": "any"}
                    response = await browser.post(urljoin(str(response.url), unescape(action[1])), data=form)
