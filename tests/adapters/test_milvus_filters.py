"""Filters never let a value become syntax: read back by milvus-lite's own parser and by a search through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pymilvus import DataType, MilvusClient

from clew_services.adapters.stores.milvus_filters import equals, quoted

EVIL = [
    'x" or document_id != "',
    "foo\\",
    '\\"',
    '" or 1 == 1 or document_id == "',
    "a\nb",
    "\r\t\\n",
    "{x}",
    "'",
    "%",
    "",
    "\x00",
    "ẞ集",
]

texts = st.one_of(
    st.sampled_from(EVIL),
    st.text(st.sampled_from("\"\\'\n\r\tn orand=!{}%()"), max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusClient]:
    from milvus_lite.server_manager import server_manager_instance

    path = str(tmp_path_factory.mktemp("filters") / "f.db")
    made = MilvusClient(path)
    schema = made.create_schema(auto_id=False)
    schema.add_field("chunk_id", DataType.VARCHAR, max_length=64, is_primary=True)
    schema.add_field("document_id", DataType.VARCHAR, max_length=512)
    schema.add_field("page", DataType.INT64)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=2)
    made.create_collection("rows", schema=schema)
    made.create_index("rows", _dense(made), sync=False)
    made.load_collection("rows")
    yield made
    made.close()
    server_manager_instance.release_server(path)


def _dense(client: MilvusClient) -> Any:
    params = client.prepare_index_params()
    params.add_index("dense", index_type="FLAT", metric_type="COSINE")
    return params


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example('x" or document_id != "', "y")
@example("foo\\", "y")
@example("a\nb", "a\\nb")
@given(texts, texts)
def test_a_value_matches_its_own_rows_and_never_another_document_s(
    client: MilvusClient, mine: str, theirs: str
) -> None:
    rows = [
        {"chunk_id": "1", "document_id": mine, "page": 1, "dense": [1.0, 0.0]},
        {"chunk_id": "2", "document_id": theirs, "page": 1, "dense": [1.0, 0.0]},
        {"chunk_id": "3", "document_id": "somebody else's", "page": 1, "dense": [1.0, 0.0]},
    ]
    client.upsert("rows", rows)
    expected = {row["chunk_id"] for row in rows if row["document_id"] == mine}
    expression = equals(document_id=mine, page=1)
    found = client.query("rows", filter=expression, output_fields=["chunk_id"])
    assert {row["chunk_id"] for row in found} == expected
    hits = client.search("rows", [[1.0, 0.0]], anns_field="dense", limit=5, filter=expression)[0]
    assert {hit["chunk_id"] for hit in hits} == expected


@given(texts)
def test_a_literal_ends_where_it_ends(value: str) -> None:
    inner = quoted(value)[1:-1]
    assert "\n" not in inner
    assert "\r" not in inner
    plain = inner.replace("\\\\", "")
    assert '"' not in plain.replace('\\"', "")
    assert not plain.endswith("\\")


def test_fields_are_joined_and_no_field_means_all() -> None:
    assert equals(document_id='a"b', page=-3) == 'document_id == "a\\"b" and page == -3'
    assert equals() == ""


@pytest.mark.parametrize("name", ["text", "dense", "tenant", "1 == 1 or page", "$meta", ""])
def test_an_unknown_field_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no field"):
        equals(**{name: "x"})


@pytest.mark.parametrize(
    ("name", "value"),
    [("page", "1 or 1 == 1"), ("document_id", 1), ("page", True), ("page", 1.5), ("version", None)],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=name):
        equals(**{name: value})
