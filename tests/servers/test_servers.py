"""The launchers keep their word: each server serves, survives SIGKILL with its data, and leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pulsar
import pytest
from pymilvus import MilvusClient

from tests.servers import Milvus, Postgres, Pulsar, Server

pytestmark = pytest.mark.servers

QUIET = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)


@pytest.fixture
def own_pulsar() -> Iterator[Pulsar]:
    """A second broker, beside the one that the whole run shares."""
    with Pulsar() as server:
        yield server


def test_a_message_that_pulsar_acknowledged_survives_its_kill(own_pulsar: Pulsar) -> None:
    topic = "persistent://public/default/survivor"
    client = pulsar.Client(own_pulsar.service_url, logger=QUIET)
    consumer = client.subscribe(topic, "reader", initial_position=pulsar.InitialPosition.Earliest)
    producer = client.create_producer(topic, batching_enabled=False)
    producer.send(b"before")

    own_pulsar.kill()
    own_pulsar.restart()

    message = consumer.receive(timeout_millis=30_000)
    assert message.data() == b"before"
    consumer.acknowledge(message)
    producer.send(b"after")
    # What was handed over before the kill comes again: at least once, and never instead of what follows.
    while (message := consumer.receive(timeout_millis=30_000)).data() == b"before":
        consumer.acknowledge(message)
    assert message.data() == b"after"
    consumer.close()
    producer.close()
    client.close()


def test_a_row_that_milvus_flushed_survives_its_kill() -> None:
    with Milvus() as server:
        client = MilvusClient(uri=server.uri)
        client.create_collection("survivors", dimension=4, consistency_level="Strong")
        client.insert("survivors", [{"id": 7, "vector": [0.1, 0.2, 0.3, 0.4]}])
        client.flush("survivors")
        client.close()

        server.kill()
        server.restart()

        client = MilvusClient(uri=server.uri)
        client.load_collection("survivors")
        assert [row["id"] for row in client.get("survivors", ids=[7])] == [7]
        client.close()


def test_a_row_that_postgres_committed_survives_its_kill() -> None:
    with Postgres() as server:
        with psycopg.connect(server.dsn) as connection:
            connection.execute("create table survivor as select 1 as one")

        server.kill()
        server.restart()

        with psycopg.connect(server.dsn) as connection:
            assert connection.execute("select one from survivor").fetchone() == (1,)


@pytest.mark.parametrize("kind", [Postgres, Pulsar, Milvus])
def test_a_closed_server_leaves_nothing_behind(kind: type[Server]) -> None:
    with kind() as server:
        process, data = server.process, server.data
        assert process is not None
        assert data is not None
        assert (process.alive, data.exists()) == (True, True)

    assert (process.alive, data.exists()) == (False, False)


def test_two_servers_of_a_kind_share_no_port_and_a_given_folder_stays(tmp_path: Path) -> None:
    one, other = Pulsar(), Pulsar(data=tmp_path)
    assert not set(one.ports.values()) & set(other.ports.values())
    other.close()
    assert tmp_path.exists()
