"""Events that tell clients of features, as Unleash's stream and `delta` send them. Their numbers are revisions."""

from collections.abc import Generator, Iterable
from uuid import UUID

from flagstaff.evaluation.unleash.local_flags import LocalFlags


def hydration(flags: LocalFlags) -> bytes:
    """All features."""
    features = b",".join(flags.features.values())
    return _events([b'{"type":"hydration","eventId":%d,"features":[%b],"segments":[]}' % (flags.revision, features)])


def telling(flags: LocalFlags, changed: Iterable[str], project_id: UUID) -> Generator[None, None, bytes]:
    """The features with these keys, or the news that they no longer exist, in small steps."""
    events = []
    for key in changed:
        feature = flags.features.get(key)
        if feature is None:
            event = b'{"type":"feature-removed","eventId":%d,"featureName":"%b","project":"%b"}'
            events.append(event % (flags.revision, key.encode(), project_id.hex.encode()))
        else:
            events.append(b'{"type":"feature-updated","eventId":%d,"feature":%b}' % (flags.revision, feature))
        yield
    return _events(events)


def _events(events: Iterable[bytes]) -> bytes:
    return b'{"events":[%b]}' % b",".join(events)
