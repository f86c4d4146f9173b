"""TLS of the connections to receivers."""

import ssl
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Tls:
    """Files in PEM: authorities to trust besides the machine's, and the certificate that receivers are shown."""

    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @cached_property
    def context(self) -> ssl.SSLContext:
        """The context, made when it is first needed: the machine's authorities take memory.

        Raises:
            ValueError: a file cannot be used; it says which.
        """
        context = ssl.create_default_context()
        if self.ca_file is not None:
            try:
                context.load_verify_locations(self.ca_file)
            except OSError as error:
                raise ValueError(f"FLAGSTAFF_WEBHOOK_AUTHORITIES has no certificates in PEM: {error}") from None
        if self.certificate is not None:
            try:
                context.load_cert_chain(self.certificate, self.key, password=_no_password)
            except (OSError, ValueError) as error:
                raise ValueError(
                    "FLAGSTAFF_WEBHOOK_CLIENT_CERTIFICATE and its key cannot be used; they must be in PEM, belong "
                    f"together, and need no password: {error}"
                ) from None
        elif self.key is not None:
            raise ValueError("FLAGSTAFF_WEBHOOK_CLIENT_KEY is set without FLAGSTAFF_WEBHOOK_CLIENT_CERTIFICATE")
        return context


def _no_password() -> str:
    raise ValueError("it has a password")  # the library would ask on the terminal
