"""The limits on the mails of all accounts, and to one domain: which kinds are sent, wait, or are dropped."""

import pytest
from structlog.testing import capture_logs

from flagstaff.mail.digest import Digest
from flagstaff.mail.envelope import Mail
from flagstaff.mail.mail_limits import HeldBackError, MailKind, MailLimits
from flagstaff.mail.mailer import Mailer
from flagstaff.settings import RateLimit

HOUR = 3600


class Post:
    """A mailer whose mails are kept, and the clock of its limits."""

    def __init__(self, of_all: int | None, of_domain: int | None) -> None:
        self.now = 0.0
        self.sent: list[str] = []
        in_all, to_domain = (RateLimit(each, HOUR) if each else None for each in (of_all, of_domain))
        self.limits = MailLimits(in_all, to_domain, lambda: self.now)
        self.mailer = Mailer(self._keep, "Flagstaff <flags@example.com>", "http://flagstaff.test", self.limits)

    async def _keep(self, mail: Mail) -> bool:
        self.sent.append(mail.recipient)
        return True

    async def digest(self, email: str, *, is_urgent: bool) -> bool:
        """Send a mail about a project."""
        digest = Digest("Changes", "These:", (), 0, "Because.", "token", is_urgent=is_urgent)
        return await self.mailer.send_digest(email, digest, settings_path="/a", page_path="/b", one_click_path="/c")


async def test_each_kind_is_sent_up_to_its_part_of_the_limit_on_all_mails() -> None:
    post = Post(8, None)
    for number in range(10):
        await post.mailer.send_invitation(f"eve@{number}.example", "token", "eve@example.com")
    assert len(post.sent) == 4
    for number in range(10):
        await post.mailer.send_password_reset(f"bob@{number}.example", "token")
    assert len(post.sent) == 6
    with pytest.raises(HeldBackError):
        await post.digest("ada@example.com", is_urgent=False)
    for _ in range(2):
        assert await post.digest("ada@example.com", is_urgent=True)
    with pytest.raises(HeldBackError):
        await post.digest("ada@example.com", is_urgent=True)
    assert post.sent[-2:] == ["ada@example.com"] * 2
    assert post.limits.refused == {"invitation": 6, "account": 8, "notice": 1, "safety": 1}


async def test_mails_to_one_domain_have_a_limit_of_their_own() -> None:
    post = Post(None, 4)
    for number in range(5):
        await post.mailer.send_verification(f"eve{number}@EXAMPLE.com", "token")
    assert len(post.sent) == 2
    await post.mailer.send_verification("ada@example.org", "token")
    assert post.sent[-1] == "ada@example.org"
    assert await post.digest("ada@example.com", is_urgent=True)


async def test_what_was_held_back_is_sent_when_the_hour_is_over() -> None:
    post = Post(1, None)
    assert await post.digest("ada@example.com", is_urgent=True)
    with pytest.raises(HeldBackError):
        await post.digest("ada@example.com", is_urgent=False)
    post.now += HOUR + 60
    assert await post.digest("ada@example.com", is_urgent=False)


async def test_without_limits_every_mail_is_sent() -> None:
    post = Post(None, None)
    for _ in range(50):
        await post.mailer.send_invitation("eve@example.com", "token", "eve@example.com")
    assert len(post.sent) == 50


async def test_the_log_names_refused_mails_once_a_minute_and_no_address() -> None:
    post = Post(1, None)
    with capture_logs() as logged:
        for _ in range(100):
            post.limits.admit("ada@example.com", MailKind.INVITATION)
    (line,) = [each for each in logged if each["event"] == "mail_held_back"]
    assert "example" not in str(line)
