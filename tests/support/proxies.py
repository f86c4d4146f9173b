"""What real proxies do to clients' requests, as servers of one nginx."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from tests.support.nginx import Proxy
from tests.support.ports import free_port

_STREAMS = "location ~ stream"
_HTTP = "proxy_http_version 1.1; proxy_set_header Connection '';"
_PASS = f"proxy_pass http://flagstaff; {_HTTP}"
_COMPRESS = "gzip on; gzip_min_length 1; gzip_proxied any; gzip_types application/json text/event-stream;"

_SLOW = "limit_req_zone $request_uri$http_user_agent zone=slow:1m rate=2r/s;"
WAYS: Mapping[str, str] = MappingProxyType(
    {
        # nginx without any settings, which speaks HTTP/1.0 to the server.
        "plain": "location / { proxy_pass http://flagstaff; }",
        "refusing": f"{_STREAMS} {{ return 404; }} location / {{ {_PASS} }}",
        "failing": f"{_STREAMS} {{ return 503; }} location / {{ {_PASS} }}",
        # Passes nothing on before a response ends.
        "buffering": f"""
            location / {{
                proxy_pass http://127.0.0.1:$server_port/inner$request_uri;
                proxy_http_version 1.1;
                proxy_set_header Accept-Encoding gzip;
                gunzip on;
            }}
            location /inner/ {{
                proxy_pass http://flagstaff/;
                {_HTTP}
                proxy_ignore_headers X-Accel-Buffering;
                {_COMPRESS}
            }}
        """,
        # Cuts off what is silent for two seconds.
        "cutting": f"location / {{ {_PASS} proxy_read_timeout 2s; }}",
        # Answers each of a client's requests half a second after the one before, at a kilobyte per second.
        "slow": f"location / {{ {_PASS} limit_req zone=slow burst=100; limit_rate 1k; }}",
        # Serves below a path, changes the body, so that tags become weak, and the length is unknown.
        "rewriting": f"""
            location /flags/ {{
                proxy_pass http://flagstaff/;
                {_HTTP}
                proxy_set_header Accept-Encoding '';
                sub_filter 'nothing has this text' 'another';
                sub_filter_types application/json text/event-stream;
            }}
        """,
        "compressing": f"location / {{ {_PASS} {_COMPRESS} }}",
    }
)
_PREFIXES = MappingProxyType({"rewriting": "/flags"})


class Proxies(Proxy):
    """An nginx with a server for each of some ways."""

    def __init__(self, folder: Path, upstream_port: int, ways: Collection[str] = tuple(WAYS)) -> None:
        self._ports = {way: free_port() for way in ways}
        servers = "".join(f"server {{ listen 127.0.0.1:{port}; {WAYS[way]} }}\n" for way, port in self._ports.items())
        upstream = f"upstream flagstaff {{ server 127.0.0.1:{upstream_port} max_fails=0; keepalive 4; }}"
        super().__init__(folder, next(iter(self._ports.values())), f"{_SLOW}\n{upstream}\n{servers}")

    def url(self, way: str) -> str:
        """The address at which clients reach the server in one of the ways."""
        return f"http://127.0.0.1:{self._ports[way]}{_PREFIXES.get(way, '')}"
