"""Start and stop the real servers from a shell: `python -m tests.servers up | down | status | run -- COMMAND`."""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.servers import SERVERS, Server, ServerFailedError
from tests.servers.cache import cache, locked


def up(names: list[str]) -> int:
    """Start what does not run yet, and print the variables that lead tests to it."""
    with locked(cache() / "state.lock"):
        servers = {**{name: SERVERS[name]() for name in names}, **_known()}
        try:
            _all_at_once(_start, servers.values())
        finally:
            _remember(server for server in servers.values() if server.running)
    for server in servers.values():
        for name, value in server.environment().items():
            print(f"export {name}={shlex.quote(value)}")
    return 0


def down() -> int:
    """Stop what `up` started, and remove its data."""
    with locked(cache() / "state.lock"):
        _all_at_once(Server.close, _known().values())
        _state().unlink(missing_ok=True)
    return 0


def status() -> int:
    """Say what runs; fail if something that was started does not."""
    servers = _known()
    for name, server in servers.items():
        word = "ready" if server.running and server.ready() else "not ready" if server.running else "dead"
        urls = " ".join(server.environment().values())
        print(
            f"{name:10} {word:10} pid {server.process.pid if server.process else 0:<8} {urls}  {server.log}"
        )
    if not servers:
        print("no servers are up")
    return 0 if all(server.running for server in servers.values()) else 1


def run(names: list[str], command: list[str]) -> int:
    """Run the command among servers of its own, which are gone afterwards, whatever happens."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job would inherit "ignore"
    servers = [SERVERS[name]() for name in names]
    with ExitStack() as stack:
        stack.callback(_all_at_once, Server.close, servers)
        _all_at_once(_start, servers)
        found = {name: value for server in servers for name, value in server.environment().items()}
        with subprocess.Popen(command, env={**os.environ, **found}) as child:
            return _outcome(child)


def _outcome(child: subprocess.Popen[bytes]) -> int:
    """The command's exit status. A Ctrl-C reaches it as well, and it decides how to end.

    When we are told to end, it gets a Ctrl-C too: that lets pytest close the servers that tests started for themselves.
    """
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue
        except SystemExit:
            child.send_signal(signal.SIGINT)
            child.wait()
            raise


def _start(server: Server) -> None:
    begun = time.monotonic()
    server.start()
    print(f"{server.name} is ready after {time.monotonic() - begun:.1f} s", file=sys.stderr)


def _all_at_once(action: Callable[[Server], object], servers: Iterable[Server]) -> None:
    """Do it to every server side by side; one that fails does not keep the others from it."""
    with ThreadPoolExecutor() as pool:
        doings = [pool.submit(action, server) for server in servers]
    for doing in doings:
        doing.result()


def _state() -> Path:
    return cache() / "state.json"


def _known() -> dict[str, Server]:
    """What `up` started and `down` has not stopped."""
    if not _state().exists():
        return {}
    return {name: SERVERS[name].from_state(state) for name, state in json.loads(_state().read_text()).items()}


def _remember(servers: Iterable[Server]) -> None:
    _state().write_text(json.dumps({server.name: server.to_state() for server in servers}, indent=2))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, function in (("up", up), ("run", run)):
        action = actions.add_parser(name, help=function.__doc__)
        action.add_argument("--only", nargs="+", choices=SERVERS, default=list(SERVERS), metavar="SERVER")
        if name == "run":
            action.add_argument("command", nargs="+")
    actions.add_parser("down", help=down.__doc__)
    actions.add_parser("status", help=status.__doc__)
    chosen = parser.parse_args()
    try:
        match chosen.action:
            case "up":
                return up(chosen.only)
            case "down":
                return down()
            case "status":
                return status()
            case _:
                return run(chosen.only, chosen.command)
    except ServerFailedError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
