"""Documents: features share long lists of values, and are read in chunks."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.applications.feature_encoder import FeatureEncoder
from flagstaff.evaluation.unleash.documents import CHUNK_BYTES, Digests, Document

LONG = [f'user-"{number}\\' for number in range(60)]
lists = st.sampled_from([[], ["a"], LONG[:49], LONG[:50], LONG, ["\0"] * 50])
strategies = st.lists(st.lists(st.builds(lambda values: {"values": values}, lists), max_size=3), max_size=3)


def feature(found: list[list[dict[str, Any]]]) -> dict[str, Any]:
    return {"name": "one\0", "strategies": [{"constraints": each} for each in found], "variants": []}


@given(st.lists(strategies, max_size=5))
def test_what_is_encoded_in_parts_is_the_same_json(found: list[Any]) -> None:
    encoder = FeatureEncoder()
    features = [encoder.encode(feature(each)) for each in found]
    document = Document.of(b"[", features, b"]").between(b'{"all":', b"}")
    whole = document.whole()
    assert json.loads(whole) == {"all": [feature(each) for each in found]}
    assert document.length == len(whole)


def test_a_long_list_of_values_is_there_once_and_hashed_once() -> None:
    encoder = FeatureEncoder()
    one, other = (encoder.encode(feature([[{"values": list(LONG)}]]) | {"name": name}) for name in ("one", "other"))
    assert one[1] is other[1]
    digests = [Digests(b"") for _ in range(3)]
    for digest, features in zip(digests, ((one, other), (one, other), (other, one)), strict=True):
        for each in features:
            digest.add(each)
    first, same, different = (digest.hexdigest() for digest in digests)
    assert first == same != different


def test_a_document_of_any_size_is_read_in_chunks_that_a_connection_can_hold() -> None:
    long = (b'"' + b"x" * 3 * CHUNK_BYTES + b'"',)
    document = Document.of(b"[", [long, (b"1",), long, *[(b"2",)] * CHUNK_BYTES], b"]")
    chunks = list(document.chunks())
    assert max(map(len, chunks)) == CHUNK_BYTES
    assert json.loads(b"".join(chunks)) == ["x" * 3 * CHUNK_BYTES, 1, "x" * 3 * CHUNK_BYTES, *[2] * CHUNK_BYTES]
    assert document.length == sum(map(len, chunks))


def test_what_follows_the_features_fits_into_chunks_too() -> None:
    for length in range(CHUNK_BYTES - 20, CHUNK_BYTES + 2):
        document = Document.of(b"[", [(b"1" * length,)], b"]").between(b"{", b"}" * (CHUNK_BYTES + 10))
        chunks = list(document.chunks())
        assert b"".join(chunks) == b"{[" + b"1" * length + b"]" + b"}" * (CHUNK_BYTES + 10)
        assert max(map(len, chunks)) == CHUNK_BYTES
