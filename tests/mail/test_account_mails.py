"""The content of a mail. No address or link can add anything to it."""

from datetime import UTC, datetime
from email import message_from_bytes, message_from_string
from email.message import EmailMessage
from email.policy import SMTPUTF8, default
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flagstaff.mail.envelope import Mail
from flagstaff.mail.transactional_mails import password_reset
from flagstaff.values.emails import check_email

MOMENT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)
LINK = "https://flags.example.com/reset-password?token=abc-DEF_123"


# On Python 3.11.7 and 3.12.1 the email package decodes such a word, including line breaks, when it writes an address.
ENCODED_WORDS = [
    "=?us-ascii?q?v=40t=2eexample=0d=0aSubject=3a=20Invoice=0d=0a=0d=0aPay=20now?=@x.example",
    "=?utf-8?b?dkB0LmV4YW1wbGUNCkJjYzogZXZlQGV4YW1wbGUuY29t?=@x.example",
    "=?utf-8?q?a?=@x.example",
    "ada@=?utf-8?q?x=2eexample?=",
    "a=?b@x.example",
]


def write_mail(
    recipient: str = "ada@example.com",
    public_url: str = "https://flags.example.com",
    token: str = "abc-DEF_123",
    sender: str = "Flagstaff <flags@example.com>",
) -> Mail:
    return password_reset(sender=sender, recipient=recipient, public_url=public_url, token=token, sent_at=MOMENT)


def reset_mail(*arguments: str, **named: str) -> EmailMessage:
    """The mail as its reader parses it."""
    return message_from_bytes(write_mail(*arguments, **named).content, policy=default)


def parts(message: EmailMessage) -> tuple[str, str]:
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    return text.get_content(), html.get_content()


class Links(HTMLParser):
    """Collects the links of a document and the names of its elements."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.links: list[str | None] = []
        self.elements: set[str] = set()
        self.feed(document)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])


@pytest.mark.parametrize(
    "recipient",
    [
        "ada@example.com\r\nBcc: eve@example.com",
        "ada\r\nBcc: eve@example.com",
        "ada\n@example.com",
        "ada@example.com>, <eve.example.com",
        "ada@",
        "ada",
        "",
        "ada@exa..mple.com",
        "ada@exa\N{ACCOUNT OF}mple.com",  # the domain name system reads it as exaa/cmple.com
        "a,b@example.com",
        '"x@example.com',
        "<x>@example.com",
        "a(b)@example.com",
        "a;b@example.com",
        "a:b@example.com",
        *ENCODED_WORDS,
    ],
)
def test_an_address_that_no_mail_can_reach_is_refused_without_being_repeated(recipient: str) -> None:
    with pytest.raises(ValueError, match="no mail can be sent to this address"):
        reset_mail(recipient)


def test_a_senders_name_adds_no_header() -> None:
    name = "=?us-ascii?q?A=0d=0aBcc=3a=20eve=40example=2ecom=0d=0a?="
    try:
        mail = write_mail(sender=f"{name} <flags@example.com>")
    except ValueError:
        return
    assert message_from_bytes(mail.content, policy=default).keys() == reset_mail().keys()


@pytest.mark.parametrize("recipient", ["a+b'c=d@example.com", "b\N{LATIN SMALL LETTER U WITH DIAERESIS}@example.com"])
def test_an_odd_address_stays_one_address_in_the_mail_and_on_its_envelope(recipient: str) -> None:
    mail = write_mail(recipient)
    assert (mail.sender, mail.recipient) == ("flags@example.com", recipient)
    (address,) = message_from_string(mail.content.decode(), policy=SMTPUTF8)["To"].addresses
    assert address.addr_spec == recipient


@given(st.one_of(st.emails(), st.text(min_size=3, max_size=40), st.tuples(st.text(), st.text()).map("@".join)))
@example(ENCODED_WORDS[0])
@example(ENCODED_WORDS[1])
def test_no_accepted_address_adds_a_header_or_a_recipient(recipient: str) -> None:
    try:
        mail = write_mail(check_email(recipient))
    except ValueError:
        return
    read = message_from_string(mail.content.decode(), policy=SMTPUTF8)
    assert read.keys() == reset_mail().keys()
    assert [each.addr_spec for each in read["To"].addresses] == [mail.recipient]
    assert read["Subject"] == "Reset your Flagstaff password"


def test_the_mail_bears_the_headers_of_an_automatic_mail() -> None:
    mail = reset_mail()
    assert mail["From"] == "Flagstaff <flags@example.com>"
    assert mail["To"] == "ada@example.com"
    assert mail["Subject"] == "Reset your Flagstaff password"
    assert mail["Date"].datetime == MOMENT
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"].endswith("@example.com>")
    assert mail["Message-ID"] != reset_mail()["Message-ID"]
    assert mail.get_content_type() == "multipart/alternative"


def test_text_and_html_hold_the_link_and_say_how_long_and_how_often_it_works() -> None:
    for content in parts(reset_mail()):
        assert LINK in content
        assert "works once, and only for 30 minutes" in content
        assert "If it wasn't you, ignore this mail" in content


def test_the_link_is_whole_on_one_line_of_the_file() -> None:
    mail = write_mail(token="t" * 200)
    assert LINK.replace("abc-DEF_123", "t" * 200).encode() in mail.content.splitlines()


def test_the_html_leads_nowhere_but_home_and_loads_nothing() -> None:
    document = Links(parts(reset_mail())[1])
    assert set(document.links) == {LINK, "https://flags.example.com"}
    assert document.elements.isdisjoint({"img", "script", "link", "iframe", "form"})


def test_markup_in_a_link_stays_text() -> None:
    text, html = parts(reset_mail(public_url='https://x.example/"><script>', token='"><img src=x>&a=b'))
    assert Links(html).elements.isdisjoint({"script", "img"})
    assert "token=%22%3E%3Cimg%20src%3Dx%3E%26a%3Db" in text


def test_a_non_ascii_domain_is_written_in_its_ascii_form() -> None:
    assert reset_mail("ada@b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example")["To"] == "ada@xn--bcher-kva.example"
