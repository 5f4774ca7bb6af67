"""Messages between host and worker: literal bytes, cut anywhere, and nonsense."""

from __future__ import annotations

import pytest

from freezeframe.decoders.worker_frames import FrameReader, frame


def test_a_message_is_a_line_of_json_and_its_payload() -> None:
    assert frame({"rows": 2}, b"\x00\n\x01") == b'{"rows": 2, "payload_B": 3}\n\x00\n\x01'


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_messages_cut_anywhere_come_out_whole(size: int) -> None:
    stream = frame({"a": "ü"}, b"\n\n") + frame({"b": 1}) + frame({"c": []}, b"{}")
    reader = FrameReader()
    found = []
    for at in range(0, len(stream), size):
        reader.feed(stream[at : at + size])
        while (message := reader.next()) is not None:
            found.append(message)
    assert found == [
        ({"a": "ü", "payload_B": 2}, b"\n\n"),
        ({"b": 1, "payload_B": 0}, b""),
        ({"c": [], "payload_B": 2}, b"{}"),
    ]


@pytest.mark.parametrize(
    "line", [b"hello\n", b"[1]\n", b"{}\n", b'{"payload_B": "x"}\n', b"\xff\n"]
)
def test_what_is_no_message_is_refused(line: bytes) -> None:
    reader = FrameReader()
    reader.feed(line)
    with pytest.raises(ValueError):
        reader.next()
