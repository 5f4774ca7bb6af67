"""Addresses that something listens at: both forms of a host, and what is no address."""

from __future__ import annotations

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:1234", ("127.0.0.1", 1234)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:65535", ("::1", 65535)),
        ("::1:80", ("::1", 80)),
    ],
)
def test_host_and_port_are_taken_apart_at_the_last_colon(
    text: str, address: tuple[str, int]
) -> None:
    assert listen_address(text) == address


@pytest.mark.parametrize(
    "text", ["nowhere", ":80", "[]:80", "host:", "host:65536", "host:-1", "host:٣"]
)
def test_what_is_no_address_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(InputError, match=r"listen address .*: write HOST:PORT, port 0\.\.65535"):
        listen_address(text)
    with pytest.raises(InputError, match=r"--listen .*: write HOST:PORT, for instance h:1"):
        listen_address(text, name="--listen", hint="for instance h:1")
