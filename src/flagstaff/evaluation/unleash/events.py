"""Events that tell clients of features, as Unleash's stream and `delta` send them. Their numbers are revisions."""

from collections.abc import Iterable
from uuid import UUID

from flagstaff.evaluation.unleash.documents import Document, Feature
from flagstaff.evaluation.unleash.local_flags import LocalFlags


def hydrate(flags: LocalFlags) -> Document:
    """All features."""
    head = b'{"events":[{"type":"hydration","eventId":%d,"features":[' % flags.revision
    return Document.of(head, [*flags.features.values()], b'],"segments":[]}]}')


def tell(flags: LocalFlags, changed: Iterable[str], project_id: UUID) -> Document:
    """The features with these keys, or the news that they no longer exist."""
    events: list[Feature] = []
    for key in changed:
        feature = flags.features.get(key)
        if feature is None:
            event = b'{"type":"feature-removed","eventId":%d,"featureName":"%b","project":"%b"}'
            events.append((event % (flags.revision, key.encode(), project_id.hex.encode()),))
        else:
            events.append((b'{"type":"feature-updated","eventId":%d,"feature":' % flags.revision, *feature, b"}"))
    return Document.of(b'{"events":[', events, b"]}")
