"""The fast path: plain requests, answered inside the server's protocol."""
