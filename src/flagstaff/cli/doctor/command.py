"""`flagstaff doctor`: examines everything that Flagstaff depends on and says what to do. It changes nothing."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from flagstaff import __version__
from flagstaff.cli.doctor.clock_checks import check_clocks
from flagstaff.cli.doctor.condition_work_checks import check_condition_work
from flagstaff.cli.doctor.database_state import Examination, examine
from flagstaff.cli.doctor.findings import Finding, Status, fail, ok, warn
from flagstaff.cli.doctor.http2_check import check_http2
from flagstaff.cli.doctor.key_checks import check_secret_key
from flagstaff.cli.doctor.machine_checks import check_machine
from flagstaff.cli.progress import spell_size
from flagstaff.database.development_builds import LAST_REVISION, is_older
from flagstaff.database.driver_errors import find_situation
from flagstaff.database.situations import find_file_situation
from flagstaff.database.sqlite.files import list_files
from flagstaff.history.free_space import KEPT_BYTES
from flagstaff.limits.exchange import UnreachableError
from flagstaff.settings import Settings, SettingsError
from flagstaff.values.emails import check_email
from flagstaff.values.errors import Code, Error

_COLOURS = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "red"}
_OLDEST_POSTGRESQL = 15  # older versions no longer get security updates


def doctor(
    mail_to: Annotated[
        str | None, typer.Option("--mail-to", metavar="ADDRESS", help="Send a test mail to this address as well.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Examine the settings, the data directory, the database, mail, the clock and limits, and say what to do.

    It changes nothing and may run beside the server, best as the same user and with the same settings. The exit status
    is 1 if anything fails.
    """
    findings = asyncio.run(_examine(mail_to))
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(findings), indent=2).decode())
    else:
        _print(findings)
    if any(finding.status is Status.FAIL for finding in findings):
        raise typer.Exit(1)


async def _examine(mail_to: str | None) -> list[Finding]:
    try:
        settings = Settings.load(os.environ)
    except SettingsError as error:
        return [fail("settings", str(error), "Correct this first; nothing else can be checked.")]
    given = sum(1 for name in os.environ if name.startswith("FLAGSTAFF_"))
    findings = [ok("settings", f"Flagstaff {__version__}, {given} set in the environment")]
    findings += check_machine(settings)
    http2 = await check_http2(settings.public_url)
    findings += [http2] if http2 is not None else []
    findings += [finding async for finding in _check_database(settings)]
    findings.append(await _check_mail(settings, mail_to))
    if settings.valkey_url is not None:
        findings.append(await _check_valkey(settings.valkey_url))
    if settings.clickhouse_url is not None:
        findings.append(await _check_clickhouse(settings))
    return findings


async def _check_database(settings: Settings) -> AsyncIterator[Finding]:
    try:
        found = await examine(settings.database_url, settings.data_dir)
    except Error as error:
        yield _unusable_database(error, settings)
        for finding in check_secret_key(settings, None):
            yield finding
        return
    yield _database(found)
    yield _revision(found)
    if found.refusal is not None:
        yield fail("writes", found.refusal.cause, found.refusal.step)
    for finding in (*check_secret_key(settings, found), *check_clocks(found)):
        yield finding
    if found.configuration_problem is not None:
        what, _, advice = found.configuration_problem.partition(". ")
        yield fail("tables", what, advice)
    if found.is_supported:
        yield _history(found, settings)
    if found.is_supported and found.configuration_problem is None:
        yield await check_condition_work(settings)


def _unusable_database(error: Error, settings: Settings) -> Finding:
    if error.code is Code.NOT_FOUND:
        return warn("database", error.message, "The first start creates it. Check FLAGSTAFF_DATA_DIR.")
    if error.code is Code.CONFLICT:
        what, _, advice = error.message.partition(". ")
        return fail("database", what, advice)
    if situation := find_situation(error.__cause__):
        return fail("database", situation.cause, situation.step)
    if settings.database_url is None and (situation := find_file_situation(*list_files(settings.data_dir))):
        return fail("database", situation.cause, situation.step)
    reason = str(error.__cause__ or error).partition("\n")[0] or "it did not answer in time"  # a timeout has no text
    advice = "Check FLAGSTAFF_DATABASE_URL and the database's log."
    if settings.database_url is None:
        advice = f"Check the files and the disk of {settings.data_dir}."
    return fail("database", f"the database cannot be used: {reason}", advice)


def _database(found: Examination) -> Finding:
    server = found.server
    name = f"{server.product} {'.'.join(map(str, server.version))}, {server.encoding}, time zone {server.timezone}"
    if server.damage is not None:
        return fail("database", f"{name}; it is damaged: {server.damage}", "Stop the server and restore a backup.")
    if server.encoding not in {"UTF8", "UTF-8"}:
        return fail("database", name, "Create a database with encoding UTF8 and copy to it: flagstaff copy --to URL")
    if server.product == "PostgreSQL" and server.version[0] < _OLDEST_POSTGRESQL:
        return warn("database", name, "This version of PostgreSQL is no longer supported. Upgrade it.")
    return ok("database", name)


def _revision(found: Examination) -> Finding:
    if found.is_supported and found.is_newer:
        said = f"{found.revision} of a newer version, which supports this one ({found.newest_revision})"
        return ok("revision", said)
    if found.is_supported:
        return ok("revision", f"{found.revision}, which this version needs")
    there = found.revision or "none"
    advice = "Stop the server, back up, and run: flagstaff migrate. Starting the server also migrates."
    if found.is_newer:
        return fail(
            "revision", f"{there} is unknown to this version ({found.newest_revision})", "Install a newer version."
        )
    if is_older(found.revision):
        advice = f"Migrate to revision {LAST_REVISION} with the last development build before 1.0 first."
        return fail("revision", f"{there}, which only development builds before 1.0 had", advice)
    if found.lacking_rights:
        advice = f"This role may not migrate. Run as the owner of the database: {'; '.join(found.lacking_rights)}"
    return fail("revision", f"{there}; this version needs {found.newest_revision}", advice)


def _history(found: Examination, settings: Settings) -> Finding:
    if found.history_problem is not None:
        what, _, advice = found.history_problem.partition(". ")
        return fail("history", what, advice)
    since = f", since {found.oldest:%Y-%m-%d}" if found.oldest else ""
    kept = f"kept for {settings.history_retention_days} days"
    said = f"{found.evaluations} evaluations{since}, {spell_size(found.history_bytes)}, {kept}"
    free = found.history_free
    if free is None or free.bytes <= KEPT_BYTES:
        return ok("history", said)
    if free.can_be_returned:
        return ok("history", f"{said}; {spell_size(free.bytes)} of it are free, and the server gives them back")
    return warn(
        "history",
        f"{said}; {spell_size(free.bytes)} of it are free, which the disk does not get back",
        "New evaluations use them. To give them back, stop the server and run: flagstaff history compact",
    )


async def _check_mail(settings: Settings, mail_to: str | None) -> Finding:
    server = settings.smtp
    if server is None:
        advice = "Set FLAGSTAFF_SMTP_URL to send mails; until then they are written to files in the folder outbox."
        return (fail if mail_to else warn)("mail", "there is no mail server", advice)
    from flagstaff.mail.probe import MailServerError, probe  # noqa: PLC0415 -- `serve` imports this module, too

    where = f"{server.host}:{server.port}"
    try:
        recipient = None if mail_to is None else check_email(mail_to)
        await probe(server, sender=settings.mail_from, recipient=recipient)
    except ValueError as error:
        return fail("mail", f"--mail-to {error}", "Give one address.")
    except MailServerError as error:
        return fail("mail", f"{where}: {error}", "Check FLAGSTAFF_SMTP_URL and the server's log.")
    if server.security == "none" and server.password is not None:
        return warn("mail", f"{where} receives the password unencrypted", "Use smtp+starttls:// or smtps://.")
    sent = f", and took a test mail to {recipient}" if recipient else ""
    return ok("mail", f"{where} accepts the connection{' and the login' if server.user else ''}{sent}")


def _print(findings: list[Finding]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        status = Text(f"{finding.status:<4}", style=_COLOURS[finding.status])
        console.print(status, Text(f" {finding.check:<{width}}  {finding.found}"))
        if finding.advice:
            console.print(Text(f"{'':<{width + 8}}{finding.advice}"))


async def _check_valkey(url: str) -> Finding:
    from flagstaff.limits.valkey import ValkeyExchange  # noqa: PLC0415 -- `serve` imports this module, too

    exchange = ValkeyExchange(url, "")
    try:
        await exchange.ping()
    except UnreachableError as error:
        return fail("valkey", str(error), "Check FLAGSTAFF_VALKEY_URL. Until then, each instance limits on its own.")
    finally:
        await exchange.disconnect()
    return ok("valkey", "answers")


async def _check_clickhouse(settings: Settings) -> Finding:
    from flagstaff.history.clickhouse.client import ClickHouseError, open_tables  # noqa: PLC0415 -- not for others

    async with open_tables(settings) as tables:
        used = [each for each in tables if each is not None]
        try:
            version, *_ = [await each.check() for each in used]
        except ClickHouseError as error:
            advice = "Correct it. Until then, records wait in the history, and are deleted there when they are too old."
            return fail("clickhouse", str(error), advice)
    url, names = settings.clickhouse_url or "", " and ".join(f"{each.database}.{each.table}" for each in used)
    found = f"{used[0].address} is ClickHouse {version} and has the table {names}"
    if url.startswith("http://") and "@" in url:
        return warn("clickhouse", f"{found}; it receives the password unencrypted", "Use https:// outside one machine.")
    return ok("clickhouse", found)
