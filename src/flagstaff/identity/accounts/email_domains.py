"""The domains of email addresses, in the one form in which they are compared."""

import unicodedata

from flagstaff.identity.accounts.accounts import EMAIL_MAX_LENGTH


def domain_of(email: str) -> str:
    """The domain of an address as the names of hosts have it: ASCII, in lower case.

    There are many ways to write it: in capitals, with full-width letters or dots, and as Unicode or as `xn--…`
    (UTS 46). A mail server takes them for the same domain, and so must whatever a domain decides. A longer text than an
    address can be has the domain at its end.
    """
    import idna  # noqa: PLC0415 -- half a megabyte, where a domain decides something

    text = email[-EMAIL_MAX_LENGTH:]
    try:
        text = idna.uts46_remap(text, std3_rules=False, transitional=False)
    except idna.IDNAError:  # it has characters that no domain has
        text = unicodedata.normalize("NFKC", text).lower()

    def in_ascii(label: str) -> str:
        try:
            return idna.alabel(label).decode()
        except idna.IDNAError:  # no host has this name
            return label

    return ".".join(map(in_ascii, text.rpartition("@")[2].rstrip(".").split(".")))
