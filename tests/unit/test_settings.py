"""The values of settings, and the errors for invalid ones."""

import os
from email.headerregistry import Address
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flagstaff.settings import RateLimit, Settings, SettingsError, SmtpServer

SECRET = "correct horse battery staple, and then some"


def refusal(**environ: str) -> str:
    """Return the error line that stops the start."""
    with pytest.raises(SettingsError) as refused:
        Settings.load(environ)
    line = str(refused.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("variable", "text", "accepted"),
    [
        ("HOST", "two words", "must be an IP address or a host name"),
        ("PORT", "http", "must be a whole number from 0 to 65535"),
        ("PORT", "65536", "must be a whole number from 0 to 65535"),
        ("PORT", "-1", "must be a whole number from 0 to 65535"),
        ("PORT", "٣", "must be a whole number from 0 to 65535"),
        ("PORT", "tcp://10.0.0.7:8000", "set enableServiceLinks: false"),
        ("WORKERS", "0", "must be a whole number from 1 to 128, or auto"),
        ("WORKERS", "129", "must be a whole number from 1 to 128, or auto"),
        ("WORKERS", "2.5", "must be a whole number from 1 to 128, or auto"),
        ("DATA_DIR", "~nobody-of-this-name/x", "must be a directory"),
        ("DATA_DIR", os.fsdecode(b"/srv/flagst\xe4ff"), "must be a directory whose whole path is in UTF-8"),
        ("DATABASE_URL", "mysql://localhost/x", "must be a valid URL that starts with postgresql:// or postgres://"),
        ("DATABASE_URL", "sqlite:///x.db", "FLAGSTAFF_DATA_DIR"),
        ("SECRET_KEY", "short", "must be at least 32 characters"),
        ("PUBLIC_URL", "flags.example.com", "must be a valid URL that starts with http:// or https://"),
        ("PUBLIC_URL", "https://user:pass@example.com", "must be a web address without credentials"),
        ("PUBLIC_URL", "https://example.com/?a=b", "must be a web address without credentials"),
        ("PUBLIC_URL", 'https://example.com/"><script>', "must be a web address without credentials"),
        ("PUBLIC_URL", "https://example.com//flags", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", "https://example.com/flags//", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", "https://example.com/a/../flags", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", "https://example.com/./flags", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", "https://example.com/fl%61gs", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", "https://example.com/a%20b", "must have no path, or one of at most 100 letters"),
        ("PUBLIC_URL", f"https://example.com/{'x' * 101}", "must have no path, or one of at most 100 letters"),
        ("SMTP_URL", "mail.example.com:25", "smtp+starttls://"),
        ("SMTP_URL", "smtp://", "must be smtp+starttls://user:password@host:port"),
        ("SMTP_URL", "smtp://user@mail.example.com", "must be smtp+starttls://user:password@host:port"),
        ("SMTP_URL", "smtp://mail.example.com/inbox", "must be smtp+starttls://user:password@host:port"),
        ("CLICKHOUSE_URL", "clickhouse:8123", "must be https://user:password@host:8443"),
        ("CLICKHOUSE_URL", "http://host:port", "must be https://user:password@host:8443"),
        ("CLICKHOUSE_URL", "http://host/?database=x", "must be https://user:password@host:8443"),
        ("CLICKHOUSE_TABLE", "evaluations", "must be a database and a table"),
        ("CLICKHOUSE_TABLE", "a.b; DROP TABLE c", "must be a database and a table"),
        ("VALKEY_URL", "localhost:6379", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "http://localhost:6379", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "valkey://", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "valkey://localhost:port", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "valkey://localhost/limits", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "valkey://localhost/0#x", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "unix://run/valkey.sock", "must be valkey://user:password@host:6379/0"),
        ("VALKEY_URL", "valkey://localhost?db=first", "must have a whole number as its option db"),
        ("VALKEY_URL", "valkey://localhost?ssl_ca_certs=x", "has an option that is not accepted"),
        ("VALKEY_URL", "rediss://localhost?ssl_cert_reqs=none", "has an option that is not accepted"),
        ("VALKEY_URL", "valkeys://localhost?ssl_ca_certs=/no/file", "must name a file that exists"),
        ("MAIL_FROM", "Flagstaff", "must be one address"),
        ("MAIL_FROM", "a@example.com, b@example.com", "must be one address"),
        ("MAIL_FROM", "Flag\nBcc: x <a@example.com>", "must be one address"),
        ("EVALUATE_RATE_LIMIT", "200", "must be off or a number from 1 to 999999999 per second, minute, hour or day"),
        ("EVALUATE_RATE_LIMIT", "1000000000/minute", "must be off or a number from 1 to 999999999 per second"),
        ("LOGIN_RATE_LIMIT", "0/minute", "must be off or a number from 1 to 999999999 per second, minute, hour or day"),
        (
            "LOGIN_FAILURE_RATE_LIMIT",
            "5/fortnight",
            "must be off or a number from 1 to 999999999 per second, minute, hour or day",
        ),
        (
            "REGISTER_RATE_LIMIT",
            "-1/minute",
            "must be off or a number from 1 to 999999999 per second, minute, hour or day",
        ),
        ("SESSION_IDLE_MINUTES", "4", "must be off or a whole number from 5 to 1440, not '4'"),
        ("SESSION_IDLE_MINUTES", "1441", "must be off or a whole number from 5 to 1440"),
        ("RESET_RATE_LIMIT", "none", "must be off or a number from 1 to 999999999 per second, minute, hour or day"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "'10.0.0.1/8' is not a network"),
        ("TRUSTED_PROXIES", "10.0.0.0/8, proxy", "'proxy' is not a network"),
        ("CORS_ORIGINS", "*", "a wildcard such as '*' is not accepted"),
        ("CORS_ORIGINS", "https://*.example.com", "a wildcard"),
        ("CORS_ORIGINS", "https://example.com/app", "without a path"),
        ("HISTORY_RETENTION_DAYS", "0", "must be a whole number from 1"),
        ("HISTORY_MAX_BYTES", "10", "must be off or at least 1MB"),
        ("HISTORY_MAX_BYTES", "10 apples", "as in 10GB"),
        ("HISTORY_MAX_BYTES", "1.5GB", "as in 10GB"),
        ("HISTORY_MAX_BYTES", "-10GB", "as in 10GB"),
        ("ACCESS_LOG", "loud", "must be on or off"),
        ("LOG_FORMAT", "xml", "must be auto, json or console"),
        ("REGISTRATION", "off", "must be open or closed"),
    ],
)
def test_a_bad_value_is_refused_with_its_variable_and_what_is_accepted(variable: str, text: str, accepted: str) -> None:
    line = refusal(**{f"FLAGSTAFF_{variable}": text})
    assert line.startswith(f"FLAGSTAFF_{variable} ")
    assert accepted in line


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SECRET_KEY", "hunter2"),
        ("DATABASE_URL", "postgresql://flagstaff:hunter2/x@localhost/flagstaff"),
        ("DATABASE_URL", "oracle://flagstaff:hunter2@localhost/flagstaff"),
        ("SMTP_URL", "smtp://flagstaff:hunter2/x@localhost"),
        ("SMTP_URL", "smtp://flagstaff:hunter2#x@localhost"),
        ("SMTP_URL", "smtp://[hunter2"),
        ("VALKEY_URL", "valkey://:hunter2/x@localhost"),
        ("VALKEY_URL", "valkey://localhost?password=hunter2"),
    ],
)
def test_no_error_shows_a_secret(variable: str, text: str) -> None:
    assert "hunter2" not in refusal(**{f"FLAGSTAFF_{variable}": text})


@pytest.mark.parametrize(
    "url",
    [
        "valkey://localhost",
        "redis://:p%40ss@[::1]:6380/15",
        "rediss://user:password@valkey.example.com:6379/0",
        "valkeys://valkey.example.com?db=3",
        "unix:///run/valkey/valkey.sock?db=1",
    ],
)
def test_every_form_of_a_valkey_url_is_read(url: str) -> None:
    assert Settings.load({"FLAGSTAFF_VALKEY_URL": url}).valkey_url == url


def test_the_settings_object_shows_no_secret() -> None:
    settings = Settings.load(
        {
            "FLAGSTAFF_SECRET_KEY": SECRET,
            "FLAGSTAFF_DATABASE_URL": "postgresql://u:hunter2@localhost/x",
            "FLAGSTAFF_SMTP_URL": "smtp://u:hunter2@localhost",
        }
    )
    assert "hunter2" not in repr(settings)
    assert SECRET not in repr(settings)
    assert "hunter2" not in repr(settings.smtp)


def test_a_misspelled_name_is_refused_with_a_suggestion() -> None:
    line = refusal(FLAGSTAFF_EVALUATE_RATELIMIT="off")
    assert (
        line
        == "FLAGSTAFF_EVALUATE_RATELIMIT is not a setting of Flagstaff; did you mean FLAGSTAFF_EVALUATE_RATE_LIMIT?"
    )


def test_an_unknown_name_is_refused_with_a_reference_to_the_help() -> None:
    assert refusal(FLAGSTAFF_XYZZY="1").endswith("`flagstaff serve --help` lists all settings.")


def test_only_secrets_can_be_read_from_files() -> None:
    assert "is not a setting" in refusal(FLAGSTAFF_HOST_FILE="/etc/hostname")


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(SECRET)
    line = refusal(FLAGSTAFF_SECRET_KEY=SECRET, FLAGSTAFF_SECRET_KEY_FILE=str(file))
    assert line == "FLAGSTAFF_SECRET_KEY and FLAGSTAFF_SECRET_KEY_FILE are both set; set only one of them."


def test_a_secret_file_that_is_missing_empty_or_binary_is_refused(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refusal(FLAGSTAFF_SECRET_KEY_FILE=str(tmp_path / "none"))
    (tmp_path / "empty").write_text("\n")
    assert "is empty" in refusal(FLAGSTAFF_SECRET_KEY_FILE=str(tmp_path / "empty"))
    (tmp_path / "binary").write_bytes(b"\xff" * 40)
    assert "is not UTF-8 text" in refusal(FLAGSTAFF_SECRET_KEY_FILE=str(tmp_path / "binary"))


def test_a_bad_secret_in_a_file_names_the_variable_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("hunter2\n")
    line = refusal(FLAGSTAFF_SECRET_KEY_FILE=str(file))
    assert line.startswith("FLAGSTAFF_SECRET_KEY_FILE must be at least 32 characters")
    assert "hunter2" not in line


def test_nothing_set_gives_the_documented_defaults() -> None:
    settings = Settings.load({"HOME": "/root", "PATH": "/bin"})
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.data_dir == Path("flagstaff-data")
    assert settings.public_url == "http://127.0.0.1:8000"
    assert settings.mail_from == "Flagstaff <flagstaff@localhost>"
    assert settings.evaluate_rate_limit == RateLimit(200, 60)
    assert settings.register_rate_limit == settings.login_rate_limit == settings.reset_rate_limit == RateLimit(60, 60)
    assert settings.login_failure_rate_limit == RateLimit(10, 60)
    assert settings.account_failure_rate_limit == RateLimit(100, 3600)
    assert settings.registration == "open"
    assert settings.history_retention_days == 90
    assert settings.trusted_proxies == settings.cors_origins == ()
    assert (settings.database_url, settings.secret_key, settings.smtp) == (None,) * 3
    assert (settings.access_log, settings.log_format) == (True, "auto")


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.load({"FLAGSTAFF_PORT": "", "FLAGSTAFF_SMTP_URL": " "}) == Settings.load({})


def test_secrets_can_be_read_from_files(tmp_path: Path) -> None:
    contents = {
        "SECRET_KEY": SECRET,
        "DATABASE_URL": "postgres://localhost/flagstaff",
        "SMTP_URL": "smtp://localhost",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content + "\n")
    settings = Settings.load({f"FLAGSTAFF_{name}_FILE": str(tmp_path / name) for name in contents})
    assert settings == Settings.load({f"FLAGSTAFF_{name}": content for name, content in contents.items()})
    assert settings.secret_key == SECRET


def test_the_common_names_of_platforms_are_read_and_our_own_take_precedence() -> None:
    platform = {"PORT": "9000", "DATABASE_URL": "postgres://platform/x"}
    assert Settings.load(platform).port == 9000
    assert Settings.load(platform).database_url == "postgres://platform/x"
    ours = Settings.load(platform | {"FLAGSTAFF_PORT": "0", "FLAGSTAFF_DATABASE_URL": "postgresql://ours/x"})
    assert (ours.port, ours.database_url) == (0, "postgresql://ours/x")


def test_a_bad_value_under_a_common_name_is_reported_under_that_name() -> None:
    assert refusal(PORT="x").startswith("PORT must be")


def test_a_file_for_the_database_takes_precedence_over_the_platforms_name(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://ours/x")
    settings = Settings.load({"DATABASE_URL": "mysql://theirs", "FLAGSTAFF_DATABASE_URL_FILE": str(tmp_path / "url")})
    assert settings.database_url == "postgresql://ours/x"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail", SmtpServer("mail", 25, "none")),
        ("smtps://mail:1465", SmtpServer("mail", 1465, "tls")),
        ("smtp+starttls://me:p%40ss%2F%23@mail", SmtpServer("mail", 587, "starttls", "me", "p@ss/#")),
        ("smtp://[::1]:2525/", SmtpServer("::1", 2525, "none")),
    ],
)
def test_a_mail_server_is_read_from_its_url(url: str, server: SmtpServer) -> None:
    assert Settings.load({"FLAGSTAFF_SMTP_URL": url}).smtp == server


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("off", None),
        ("2000000", 2_000_000),
        ("10GB", 10_000_000_000),
        ("512 MiB", 512 * 1024**2),
        ("1TiB", 1024**4),
        ("1000KB", 1_000_000),
    ],
)
def test_bytes_are_a_number_with_a_unit_or_without_or_off(text: str, size: int | None) -> None:
    assert Settings.load({"FLAGSTAFF_HISTORY_MAX_BYTES": text}).history_max_bytes == size


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5/second", RateLimit(5, 1)),
        ("1000/minute", RateLimit(1000, 60)),
        ("1/hour", RateLimit(1, 3600)),
        ("9/day", RateLimit(9, 86400)),
        ("off", None),
    ],
)
def test_a_rate_limit_is_a_number_per_unit_or_off(text: str, limit: RateLimit | None) -> None:
    assert Settings.load({"FLAGSTAFF_EVALUATE_RATE_LIMIT": text}).evaluate_rate_limit == limit


def test_lists_are_separated_by_commas() -> None:
    settings = Settings.load(
        {
            "FLAGSTAFF_TRUSTED_PROXIES": "10.0.0.0/8, fd00::/8,127.0.0.1",
            "FLAGSTAFF_CORS_ORIGINS": "https://A.example.com:443/,http://localhost:3000, http://[::1]:80",
        }
    )
    assert settings.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"), ip_network("127.0.0.1/32"))
    assert settings.cors_origins == ("https://a.example.com", "http://localhost:3000", "http://[::1]")


def test_the_public_address_follows_host_and_port_and_the_sender_follows_it() -> None:
    assert Settings.load({"FLAGSTAFF_HOST": "::1", "PORT": "80"}).public_url == "http://[::1]:80"
    settings = Settings.load({"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com/"})
    assert (settings.public_url, settings.path_prefix) == ("https://flags.example.com", "")

    assert settings.mail_from == "Flagstaff <flagstaff@flags.example.com>"


@pytest.mark.parametrize("path", ["/flags", "/flags/", "/tools/flags", "/v1.2/~flags_a-b", f"/{'x' * 100}"])
def test_the_path_of_the_public_url_is_the_prefix_of_all_paths(path: str) -> None:
    settings = Settings.load({"FLAGSTAFF_PUBLIC_URL": f"https://example.com:8443{path}"})
    assert settings.path_prefix == path.rstrip("/")
    assert settings.public_url == f"https://example.com:8443{settings.path_prefix}"


def test_a_senders_name_is_quoted_where_mail_needs_it() -> None:
    assert Settings.load({"FLAGSTAFF_MAIL_FROM": "Acme, Inc. <a@b.example>"}).mail_from == '"Acme, Inc." <a@b.example>'
    assert Settings.load({"FLAGSTAFF_MAIL_FROM": "a@b.example"}).mail_from == "a@b.example"


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="<>") | st.sampled_from('(),.:;@[]\\" ')))
def test_a_sender_is_written_as_the_library_for_mails_writes_it(name: str) -> None:
    assume(name.isprintable())
    written = Settings.load({"FLAGSTAFF_MAIL_FROM": f"{name} <a@b.example>"}).mail_from
    assert written == str(Address(name.strip(' "'), addr_spec="a@b.example"))


def test_every_setting_has_a_row_for_the_reference() -> None:
    rows = {row.variable: row for row in Settings.rows()}
    assert rows["FLAGSTAFF_PORT"].default == "8000"
    assert rows["FLAGSTAFF_SMTP_URL"].default == "none"
    assert all(row.meaning.endswith(".") for row in rows.values())
