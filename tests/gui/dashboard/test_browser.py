"""--serve: the dashboard in a browser of this machine, for pages of its own only."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from freezeframe.gui.dashboard.browser import browser_server
from tests.capture.counters.made_tree import made_tree
from tests.gui.cli import started


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(tmp_path: Path) -> Iterator[int]:
    """Run the verb with --serve; it has to end well and to have printed one line."""
    port = free_port()
    root = str(made_tree(tmp_path))
    with started("watch", "netdev:eth9", "--serve", str(port), "--root", root) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"ready http://127.0.0.1:{port}/\n"
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


def test_a_page_gets_a_dashboard_of_its_own_and_foreign_pages_get_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        asyncio.run(visit(port))


def test_slow_silent_and_broken_clients_keep_no_page_out(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        asyncio.run(crowd(port))


async def crowd(port: int) -> None:
    """Hold more connections than there are places, one byte at a time, and send nonsense to the page's web socket."""
    here = f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session:
        await first_page(session, here)
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
        for octet in b"GET / HT":
            for _, writer in slow[::2]:
                writer.write(bytes([octet]))
            async with session.get(here, timeout=aiohttp.ClientTimeout(10)) as answer:
                assert answer.status == 200
        for made in (
            b"\x16\x03\x01",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET /\xff\r\n\r\n",
            b"A: b\r\n" * 9000,
        ):
            slow.append(await asyncio.open_connection("127.0.0.1", port))
            slow[-1][1].write(made)
            slow[-1][1].write_eof()
        for size in ("width=100000000", "height=0", "width=-1", "width=a", "width=%D9%A3"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
                await session.ws_connect(f"{here}/ws?{size}", origin=here)
        for message in (
            "{",
            "[]",
            "5",
            '["resize", {"width": 1e9, "height": 1}]',
            '["stdin", 5]',
            "[" * 9000,
        ):
            async with session.ws_connect(f"{here}/ws", origin=here) as page_socket:
                await page_socket.send_str(message)
                async for got in page_socket:
                    assert got.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)
                assert page_socket.close_code == aiohttp.WSCloseCode.POLICY_VIOLATION
        async with session.get(here) as answer:
            assert answer.status == 200
        for _, writer in slow:
            writer.close()


async def first_page(session: aiohttp.ClientSession, here: str) -> str:
    """Return the page: the line "ready" comes a moment before it listens."""
    for _ in range(200):
        try:
            async with session.get(here) as answer:
                assert answer.status == 200
                return await answer.text()
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.05)
    raise AssertionError("nothing listens")


async def visit(port: int) -> None:
    here = f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session:
        page = await first_page(session, here)
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
