"""URLs of PostgreSQL as hosted services and other programs write them."""

import ssl
from pathlib import Path

import pytest

from flagstaff.settings.database_urls import parse_database_url

BASE = "postgresql://flags:p%40ss@db.example.com:5432/flags"
TWO = "postgresql://flags@a.example.com:5432,[::1]:5433/flags"
FORM = "must be a valid URL that starts with postgresql:// or postgres://"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without certificates."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PGSSLROOTCERT", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://flags:hunter2/x@localhost/flags", FORM),
        ("postgresql://a:hunter2,b:5432/flags", FORM),
        ("postgresql://a:5432,b:65536/flags", FORM),
        ("postgresql://localhost/flags#hunter2", FORM),
        ("postgresql://local host/flags", FORM),
        (f"{BASE}?sslmode=bogus", "must have one of these as sslmode: disable, allow, prefer, require"),
        (f"{BASE}?ssl=bogus", "must have no parameter ssl, or ssl=true"),
        (f"{BASE}?sslmode=verify-full&sslrootcert=/missing/ca.pem", "has the parameter sslrootcert, but its file"),
        (f"{BASE}?sslcert=/missing/client.pem", "has the parameter sslcert, but its file"),
        (f"{BASE}?target_session_attrs=read-only", "must have one of these as target_session_attrs: any, primary"),
        (f"{BASE}?target_session_attrs=standby", "must have one of these as target_session_attrs: any, primary"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(url: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"must|has") as refusal:
        parse_database_url(url)
    assert str(refusal.value).startswith(message)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        BASE,
        "postgres:///flags?host=/run/postgresql",
        f"{BASE}?sslmode=require",
        f"{BASE}?options=-c%20search_path%3Dflags",
        f"{TWO}?target_session_attrs=any",
    ],
)
def test_what_the_driver_understands_stays_as_it_is(url: str) -> None:
    assert parse_database_url(url) == url


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("connect_timeout=10", ""),
        ("sslmode=require&connect_timeout=10&keepalives_idle=30&application_name=x", "sslmode=require"),
        ("pgbouncer=true&connection_limit=1", ""),
        ("sslmode=require&channel_binding=prefer", "sslmode=require"),
        ("ssl=true", "sslmode=require"),
        ("ssl=0", "sslmode=disable"),
        ("ssl=no-verify", None),
        ("ssl=true&sslmode=disable", "sslmode=disable"),
    ],
)
def test_settings_of_other_clients_are_read_as_they_are_meant(query: str, read: str | None) -> None:
    if read is None:
        with pytest.raises(ValueError, match="ssl=true"):
            parse_database_url(f"{BASE}?{query}")
    else:
        assert parse_database_url(f"{BASE}?{query}") == (f"{BASE}?{read}" if read else BASE)


@pytest.mark.parametrize(
    "query",
    [
        "sslmode=require&channel_binding=require",  # as Neon writes it
        "channel_binding=require",
        "sslrootcert=system",
        "sslmode=verify-full",
    ],
)
def test_a_server_is_verified_with_the_certificates_of_the_system(
    query: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = home / "ca.pem"
    bundle.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    assert ssl.get_default_verify_paths().cafile == str(bundle)
    read = parse_database_url(f"{BASE}?{query}")
    assert sorted(read.partition("?")[2].split("&")) == [
        "sslmode=verify-full",
        f"sslrootcert={str(bundle).replace('/', '%2F')}",
    ]


def test_own_certificates_are_used_where_the_driver_finds_them(home: Path) -> None:
    (home / ".postgresql").mkdir()
    (home / ".postgresql" / "root.crt").touch()
    assert parse_database_url(f"{BASE}?sslmode=verify-full") == f"{BASE}?sslmode=verify-full"


def test_a_server_that_can_be_written_to_is_chosen_of_several() -> None:
    assert parse_database_url(TWO) == f"{TWO}?target_session_attrs=read-write"
