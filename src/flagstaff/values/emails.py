"""Email addresses: which are accepted, and the one form in which they are compared."""

import re
import unicodedata

from flagstaff.values.text import check_length, check_text

EMAIL_MAX_LENGTH = 254  # RFC 5321, 4.5.3.1.3: a path of 256 octets less its angle brackets

# RFC 5322's atoms and RFC 6531's other scripts. Quoted local parts are not accepted: they are very rare, and programs
# that read headers interpret the characters that they allow in different ways.
_LOCAL = re.compile(r"(?:[\w.!#$%&'*+/=?^`{|}~-]|[^\x00-\x7f])+", re.ASCII)
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)*|\[[0-9A-Fa-f.:]+\]", re.ASCII)
# Others, such as evil.example/prize?@example.com, are addresses, too, and read as something else.
_PLAIN_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]+", re.ASCII)


def check_email(value: str) -> str:
    """An email address, trimmed; raises ValueError if it is not valid. Compare addresses by `email_identity`."""
    value = check_length(check_text(value).strip(), 1, EMAIL_MAX_LENGTH)
    local, _, domain = value.rpartition("@")
    is_valid = _LOCAL.fullmatch(local) and not domain.endswith(".") and _DOMAIN.fullmatch(_in_ascii(domain))
    if not (is_valid and value.isprintable() and " " not in value):
        raise ValueError("must be an email address such as ada@example.com")
    if "=?" in value:
        # Programs that read mail headers decode such a word, which may produce line breaks and further headers.
        raise ValueError("must not contain an encoded word (=?…?=); write the address itself")
    return value


def is_plain_address(email: str) -> bool:
    """Return whether an address, in ASCII, can be read as nothing but an address. Mails to others contain no other."""
    return _PLAIN_ADDRESS.fullmatch(email) is not None


def email_identity(email: str) -> str:
    """The form that two addresses share if they reach one mailbox: the whole without case, the domain in ASCII.

    Mail servers may take further addresses for the same mailbox, such as those with another `+tag`.
    """
    local, at, _ = email.rpartition("@")
    return f"{local.lower()}{at}{domain_of(email)}"


def domain_of(email: str) -> str:
    """The domain of an address as the names of hosts have it: ASCII, in lower case.

    There are many ways to write it: in capitals, with full-width letters or dots, and as Unicode or as `xn--…`
    (UTS 46). A mail server takes them for the same domain, and so must whatever a domain decides. A longer text than an
    address can be has the domain at its end.
    """
    domain = _in_ascii(email[-EMAIL_MAX_LENGTH:].rpartition("@")[2])
    return domain.rpartition("@")[2]  # what is no domain may have a full-width one


def _in_ascii(domain: str) -> str:
    if domain.isascii():
        return domain.lower().rstrip(".")
    import idna  # noqa: PLC0415 -- half a megabyte, for the few addresses whose domains are not in ASCII

    try:
        mapped = idna.uts46_remap(domain, std3_rules=False, transitional=False)
    except idna.IDNAError:  # it has characters that no domain has
        mapped = unicodedata.normalize("NFKC", domain).lower()

    def in_ascii(label: str) -> str:
        try:
            return idna.alabel(label).decode()
        except idna.IDNAError:  # no host has this name
            return label

    return ".".join(map(in_ascii, mapped.rstrip(".").split(".")))
