"""The process that computes password hashes: requests come in as lines of JSON, answers go out as lines of JSON.

It is a separate, low-priority process because an Argon2 hash takes 64 MiB and both cores of a small machine for a tenth
of a second. In a thread of the server it would delay evaluations whatever the thread's priority, because threads share
the interpreter's lock and the kernel's lock on the memory map.
"""

import json
import os
import signal
import sys
from typing import Any

from argon2 import PasswordHasher, Type
from argon2.exceptions import Argon2Error, InvalidHashError, VerificationError

NICENESS = 10


def main(time_cost: int, memory_cost_kib: int, parallelism: int) -> None:
    """Answer requests until the input ends, which it does when the server ends for any reason."""
    os.nice(NICENESS)
    # A service manager that signals the whole group must not end work that the server still needs.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hasher = PasswordHasher(time_cost=time_cost, memory_cost=memory_cost_kib, parallelism=parallelism, type=Type.ID)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(hasher, json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


def _answer(hasher: PasswordHasher, request: dict[str, Any]) -> str | bool | None:
    """The hash of a password, with a random salt or a given one; with a hash given, whether they match.

    None when there is not enough memory.
    """
    password, password_hash, salt = request["password"], request["password_hash"], request["salt"]
    try:
        if password_hash is not None:
            return hasher.verify(password_hash, password)
        return hasher.hash(password, salt=None if salt is None else bytes.fromhex(salt))
    except (VerificationError, InvalidHashError):
        return False
    except Argon2Error:
        return None


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
