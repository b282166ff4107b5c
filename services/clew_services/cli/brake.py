"""``clew brake``: consumers that stopped after many dead letters in a row, and how to let them go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_services.cli.common import DataOption, JsonOption, emit_json, err, fail, load, out, say

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer(
    help="See which consumers stopped after many dead letters in a row, and let them go on.",
    no_args_is_help=True,
)
OpsOption = Annotated[
    str,
    typer.Option(
        "--ops", help="Ops address of the process, http://HOST:PORT. [default: what runs over the folder]"
    ),
]


@app.command("list")
def list_(ops: OpsOption = "", json: JsonOption = False, data: DataOption = None) -> None:
    """List every step of a running process, and whether its brake is on."""
    steps = _asked(_address(ops, data), "/readyz")["steps"]
    for name, step in steps.items():
        if json:
            emit_json({"step": name} | step)
        else:
            say(out, f"{name:<24}", ("brake on", "bold red") if step["brake"] else ("off", "dim"))


@app.command()
def release(
    steps: Annotated[
        list[str] | None, typer.Argument(metavar="[STEP]...", help="Steps, as `list` names them; none: all.")
    ] = None,
    ops: OpsOption = "",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Take the brake off, so that the consumer takes messages at once; what is wrong may pull it again."""
    told = _asked(_address(ops, data), "/brake/release", {"steps": steps or []})
    if "error" in told:
        fail(told["error"]["type"], told["error"]["message"])
    if json:
        emit_json(told)
        return
    for name in told["released"]:
        say(out, f"{name} takes messages again")
    if not told["released"]:
        say(err, "no brake was on")


def _address(ops: str, data: Path | None) -> str:
    from clew_services.run_file import read_run_file

    settings = load(data)
    running = None if ops else read_run_file(settings.data)
    if not ops and running is None:
        fail("unusable", f"nothing runs over {settings.data}: name a process with --ops")
    return ops or (running.ops if running else "")


def _asked(address: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """What a process's ops server answers to a question, or to a wish. Ends the command when nobody answers."""
    import json
    import urllib.error
    import urllib.request

    content = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on the loopback
    if not address.startswith(("http://", "https://")):
        fail("bad-setting", f"--ops {address!r}: it begins with http:// or https://", 2)
    try:
        request = urllib.request.Request(  # noqa: S310 - looked at above
            address.rstrip("/") + path, content, {"content-type": "application/json"}
        )
        with opener.open(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:  # not ready is an answer, too
        try:
            return json.load(error)
        except ValueError:
            fail("unusable", f"{address} answers with {error.code}: is it the ops address of a Clew process?")
    except (OSError, ValueError) as error:
        fail("unusable", f"no answer from {address} ({error}): does the process run?")
