"""--serve: the dashboard in a browser of this machine, for pages of its own only."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import aiohttp

from freezeframe.gui.dashboard.browser import browser_server
from tests.capture.counters.made_tree import made_tree
from tests.gui.cli import process_environment


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_page_gets_a_dashboard_of_its_own_and_foreign_pages_get_nothing(tmp_path: Path) -> None:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "freezeframe",
        "watch",
        "netdev:eth9",
        "--root",
        str(made_tree(tmp_path)),
    ]
    with subprocess.Popen(
        [*command, "--serve", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=process_environment(),
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"ready http://127.0.0.1:{port}/\n"
            asyncio.run(visit(port))
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


async def visit(port: int) -> None:
    here = f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session:
        for _ in range(200):  # the line "ready" comes a moment before it listens
            try:
                async with session.get(here) as answer:
                    page = await answer.text()
                    break
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)
        assert answer.status == 200
        assert f"ws://127.0.0.1:{port}/ws" in page
        assert [
            part
            for part in page.split('"')
            if part.startswith("http") and not part.startswith(here)
        ] == []
        async with session.get(here, headers={"Host": f"evil.example:{port}"}) as answer:
            assert answer.status == 403
        for origin in ("http://evil.example", f"http://evil.example:{port}", "null"):
            assert await refused(session, here, origin)
        async with session.ws_connect(f"{here}/ws?width=100&height=30", origin=here) as page_socket:
            got = b""
            async for message in page_socket:
                got += message.data if isinstance(message.data, bytes) else message.data.encode()
                if b"rx_crc_errors" in got:
                    break
        assert b"rx_crc_errors" in got


async def refused(session: aiohttp.ClientSession, here: str, origin: str) -> bool:
    try:
        async with session.ws_connect(f"{here}/ws", origin=origin):
            return False
    except aiohttp.WSServerHandshakeError as error:
        return error.status == 403


def test_it_listens_on_the_loopback_only() -> None:
    assert browser_server(8000, ["watch", "netdev:lo"]).host == "127.0.0.1"


def test_what_the_user_wrote_reaches_the_shell_as_one_word_each() -> None:
    command = browser_server(8000, ["watch", "netdev:a; touch x", "--alarm", "rx>0"]).command
    assert command.endswith("-m freezeframe watch 'netdev:a; touch x' --alarm 'rx>0'")
