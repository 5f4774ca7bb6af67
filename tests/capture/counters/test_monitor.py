"""Rates, alarms, laws, freezes, staleness and the log over several sources."""

from __future__ import annotations

import random

import pytest

from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.counters.alarms import parse_alarm
from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.history import History
from freezeframe.capture.counters.laws import Law, LawWatch, card_laws
from freezeframe.capture.counters.monitor import Monitor
from freezeframe.capture.errors import InputError
from freezeframe.capture.recorder.state import RecorderState
from tests.capture.counters.played import SECOND_NS, PlayedReader, PlayedSource, counter, gauge


def recorder(
    state: str, *causes: str, nonce: int = 7, generation: int = 1, cycle: int = 900
) -> RecorderState:
    return RecorderState("B", state, causes, generation, nonce, cycle, False, {})


def watched(*counters: Counter, alarms: tuple[str, ...] = ()) -> tuple[PlayedReader, Monitor]:
    reader = PlayedReader(PlayedSource([], counters))
    return reader, Monitor([reader], [parse_alarm(text) for text in alarms])


def at(second: float, **values: int) -> Sample:
    return Sample(int(second * SECOND_NS), values)


def test_a_rate_is_the_growth_over_the_time_between_two_samples() -> None:
    history = History(False, 10)
    history.add(0, 100)
    assert history.rate is None
    history.add(SECOND_NS // 2, 150)
    assert history.rate == 100.0


def test_a_counter_that_went_back_has_no_rate_for_that_step_and_is_counted() -> None:
    history = History(False, 10)
    for second, value in enumerate((1000, 2000, 5, 25)):
        history.add(second * SECOND_NS, value)
        assert history.restarts == (second >= 2)
        assert history.rate == {0: None, 1: 1000.0, 2: None, 3: 20.0}[second]


def test_a_place_of_the_spark_line_is_the_highest_rate_of_a_second() -> None:
    history = History(False, 3)
    value = 0
    for tenth in range(40):
        value += {12: 50}.get(tenth, 1)
        history.add(tenth * SECOND_NS // 10, value)
    assert list(history.bins) == [
        500.0,
        10.0,
        10.0,
    ]  # the second with the burst, and the two after it


def test_after_a_gap_nothing_is_made_up() -> None:
    history = History(False, 3)
    history.add(0, 100)
    history.gap()
    history.add(60 * SECOND_NS, 700)
    assert (history.value, history.rate) == (700, None)
    history.add(61 * SECOND_NS, 710)
    assert history.rate == 10.0


@pytest.mark.parametrize("seed", range(20))
def test_rates_times_their_steps_add_up_to_the_growth(seed: int) -> None:
    made = random.Random(seed)
    history = History(False, 5)
    t_ns = value = 0
    history.add(t_ns, value)
    total = 0.0
    for _ in range(50):
        step_ns, grown = made.randrange(1, 2 * SECOND_NS), made.randrange(1 << 20)
        t_ns, value = t_ns + step_ns, value + grown
        history.add(t_ns, value)
        assert history.rate is not None
        total += history.rate * step_ns / SECOND_NS
    assert total == pytest.approx(value)


def test_an_alarm_rings_above_its_rate_once_and_ends_once() -> None:
    reader, monitor = watched(counter("rx_late"), alarms=("rx_la*>10",))
    reader.play(at(0, rx_late=0), at(1, rx_late=10))
    assert monitor.poll(0)[1] == []
    reader.play(at(2, rx_late=30), at(3, rx_late=60))
    assert [event.text for event in monitor.poll(0)[1] if event.kind == "alarm"] == [
        "rx_late: 20 a second (rx_la*>10)"
    ]
    assert monitor.sources[0].ringing == {"rx_late": {"rx_la*>10"}}
    reader.play(at(4, rx_late=60))
    (event,) = monitor.poll(0)[1]
    assert (event.kind, event.begins, event.text) == (
        "alarm",
        False,
        "rx_late: no longer (rx_la*>10)",
    )
    assert monitor.sources[0].ringing == {}


def test_the_threshold_of_a_gauge_is_on_its_value() -> None:
    reader, monitor = watched(gauge("level"), alarms=("made:a/level>=5",))
    reader.play(at(0, level=5))
    assert [event.text for event in monitor.poll(0)[1]] == ["level: 5 (made:a/level>=5)"]


@pytest.mark.parametrize(
    "text", ["", "rx", "rx>", ">5", "rx>many", "rx>nan", "rx>inf", "rx=5", "rx>5 6"]
)
def test_an_alarm_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="alarm"):
        parse_alarm(text)


@pytest.mark.parametrize(
    ("text", "name", "sign", "limit"),
    [
        ("rx>0", "rx", ">", 0.0),
        (" A.tx_* <= 1e6 ", "A.tx_*", "<=", 1e6),
        ("a<-3", "a", "<", -3.0),
        ("a>=.5", "a", ">=", 0.5),
    ],
)
def test_an_alarm_is_a_name_a_sign_and_a_number(
    text: str, name: str, sign: str, limit: float
) -> None:
    alarm = parse_alarm(text)
    assert (alarm.name, alarm.sign, alarm.limit) == (name, sign, limit)


LAW = Law("FIFO", ("into",), ("out",), 0, 100)


def broken_after(*pairs: tuple[int, int]) -> dict[str, str]:
    watch, found = LawWatch([LAW]), dict[str, str]()
    for number, (into, out) in enumerate(pairs):
        found = watch.broken(at(number, into=into, out=out))
    return found


def test_what_went_in_is_out_or_in_the_fifo() -> None:
    assert broken_after((500, 500), (600, 500), (600, 550), (600, 600)) == {}


def test_more_out_than_in_is_broken_when_nothing_moves_any_more() -> None:
    assert broken_after((600, 601), (600, 601)) == {}
    assert broken_after((600, 601), (600, 601), (600, 601)) == {
        "FIFO": "1 more came out than went in"
    }


def test_more_missing_than_the_fifo_holds_is_broken() -> None:
    assert broken_after((901, 800), (901, 800), (901, 800)) == {
        "FIFO": "1 went in and never came out"
    }


def test_while_words_move_some_of_them_are_counted_late() -> None:
    """Counts of two clock domains reach a snapshot some cycles apart."""
    assert broken_after(*((n, n + 20) for n in range(1000, 5000, 400))) == {}
    assert broken_after(*((n, n + 70) for n in range(1000, 5000, 400))) == {
        "FIFO": "70 more came out than went in"
    }


def test_of_a_card_that_was_armed_before_a_law_bounds_how_far_a_balance_moves() -> None:
    """docs/formats.md 1.1: counters run on over an arm, and words that were in a FIFO then are gone."""
    watch = LawWatch([LAW])

    def broken(generation: int, into: int) -> dict[str, str]:
        state = recorder("armed", generation=generation)
        return watch.broken(Sample(0, {"into": into, "out": 500}, recorders=(state,)))

    assert [broken(5, into) for into in (900, 920, 960, 990, 1000)] == [{}] * 5
    assert [broken(6, into) for into in (1900, 1950, 1990)] == [{}] * 3
    assert [broken(6, 2200) for _ in range(2)] == [
        {},
        {"FIFO": "200 went in and never came out"},
    ]
    assert broken(7, 2200) == {}


def test_a_law_whose_counters_are_not_in_the_sample_says_nothing() -> None:
    watch = LawWatch([LAW])
    assert [watch.broken(at(n, into=5)) for n in range(4)] == [{}] * 4


def test_the_laws_of_a_card_hold_each_fifo_to_its_depth() -> None:
    laws = {
        law.name: law
        for law in card_laws("A", roles_of(card_of_map().card), {"tx_fifo": 1024, "rx_fifo": 4096})
    }
    assert laws["A outgoing FIFO, words"] == Law(
        "A outgoing FIFO, words", ("A.tx_enq_words",), ("A.tx_deq_words",), 0, 1024
    )
    assert laws["A incoming FIFO, packets"].most == 4096


def test_a_broken_law_is_logged_once_and_so_is_its_end() -> None:
    reader = PlayedReader(PlayedSource([], [counter("into"), counter("out")], laws=[LAW]))
    monitor = Monitor([reader])
    reader.play(*(at(n, into=5, out=6) for n in range(5)), at(6, into=6, out=6))
    assert [event.text for event in monitor.poll(0)[1]] == [
        "FIFO: 1 more came out than went in",
        "FIFO: adds up again",
    ]


def test_a_freeze_is_told_with_its_cause_when_it_happens() -> None:
    reader, monitor = watched()
    reader.play(Sample(0, {}, {}, (recorder("armed"),)), Sample(1, {}, {}, (recorder("armed"),)))
    assert [(event.kind, event.text) for event in monitor.poll(0)[1]] == [
        ("state", "B is armed, generation 1")
    ]
    reader.play(Sample(2, {}, {}, (recorder("frozen", "pay-crc", "length"),)))
    assert [(event.kind, event.text) for event in monitor.poll(0)[1]] == [
        ("freeze", "B is frozen, cause pay-crc, length at bus cycle 900, generation 1")
    ]
    reader.play(Sample(3, {}, {}, (recorder("frozen", "pay-crc", "length"),)))
    assert monitor.poll(0)[1] == []


def test_a_card_with_another_boot_nonce_was_powered_up_anew() -> None:
    reader, monitor = watched()
    reader.play(
        Sample(0, {}, {}, (recorder("armed"),)), Sample(1, {}, {}, (recorder("armed", nonce=8),))
    )
    assert "B was powered up or configured anew" in [event.text for event in monitor.poll(0)[1]]


def test_a_link_that_changes_is_logged() -> None:
    reader, monitor = watched()
    reader.play(
        Sample(0, {}, {"link": "up"}),
        Sample(1, {}, {"link": "down"}),
        Sample(2, {}, {"link": "down"}),
    )
    assert [event.text for event in monitor.poll(0)[1]] == ["link: up -> down"]


def test_errors_that_grow_are_logged_and_not_again_while_they_go_on() -> None:
    reader, monitor = watched(counter("rx_dropped"), counter("rx_packets"))
    reader.play(at(0, rx_dropped=1, rx_packets=1))
    reader.play(*(at(n, rx_dropped=1 + n, rx_packets=50 * n) for n in range(1, 6)))
    assert [event.text for event in monitor.poll(0)[1]] == ["rx_dropped grew by 1 to 2"]
    reader.play(at(16, rx_dropped=7, rx_packets=900))
    assert [event.text for event in monitor.poll(0)[1]] == ["rx_dropped grew by 1 to 7"]


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("rx_crc_errors", True), ("A.header_errors", True), ("hw.packet_seq_err", True), ("tx_dropped", True),
        ("A.rx_fifo_overflows", True), ("aer.fatal.TLP", True), ("port_xmit_discards", True), ("VL15_dropped", True),
        ("A.interrupts", False), ("rx_packets", False), ("driver.droplets_ok", True), ("irq.64", False),
        ("A.memory.tx_enq.stored", False), ("A.memory.tx_enq.lost", True), ("hw.out_of_sequence", True),
    ],
)  # fmt: skip
def test_what_ought_not_to_happen_is_known_by_the_words_of_its_name(key: str, wrong: bool) -> None:
    reader, monitor = watched(counter(key))
    reader.play(Sample(0, {key: 1}), Sample(1, {key: 2}))
    assert bool(monitor.poll(0)[1]) == wrong


def test_counters_that_go_back_are_one_line_however_many() -> None:
    reader, monitor = watched(counter("a"), counter("b"))
    reader.play(at(0, a=10, b=10), at(1, a=1, b=1))
    assert [event.text for event in monitor.poll(0)[1]] == [
        "a and 1 more went back: the device was restarted, or the counter wrapped"
    ]


def test_a_source_that_is_silent_is_stale_and_comes_back() -> None:
    reader = PlayedReader(PlayedSource([], [counter("a")]), period_s=0.5)
    monitor = Monitor([reader])
    reader.play(at(10, a=1), at(10.5, a=2))
    assert monitor.poll(11 * SECOND_NS)[1] == []
    (event,) = monitor.poll(14 * SECOND_NS)[1]
    assert (event.kind, event.begins, event.text) == ("stale", True, "stale: no answer")
    assert monitor.poll(15 * SECOND_NS)[1] == []
    assert monitor.sources[0].histories["a"].value == 2
    assert monitor.sources[0].rate("a") is None
    reader.play(at(20, a=50))
    (event,) = monitor.poll(20 * SECOND_NS)[1]
    assert (event.kind, event.begins, event.text) == ("stale", False, "answers again")
    assert monitor.sources[0].rate("a") is None


def test_interrupts_per_packet_is_the_ratio_of_two_rates() -> None:
    reader, monitor = watched(counter("irq.total"), counter("rx_packets"), counter("tx_packets"))
    for second in range(2):
        reader.play(
            Sample(
                second * SECOND_NS,
                {"irq.total": 30 * second, "rx_packets": 50 * second, "tx_packets": 10 * second},
            )
        )
    monitor.poll(0)
    assert monitor.sources[0].ratios() == {"interrupts per packet": 0.5}


def test_samples_of_several_sources_come_in_order_of_time() -> None:
    readers = [PlayedReader(PlayedSource([], [counter("a")], url=f"made:{n}")) for n in range(2)]
    monitor = Monitor(readers)
    readers[0].play(at(1, a=1), at(3, a=1))
    readers[1].play(at(2, a=1))
    assert [(number, sample.t_ns // SECOND_NS) for number, sample in monitor.poll(0)[0]] == [
        (0, 1),
        (1, 2),
        (0, 3),
    ]


def test_a_rate_is_by_the_clock_that_counted_and_a_snapshot_that_is_read_again_changes_nothing() -> (
    None
):
    """A snapshot every 0.33 s read every 0.5 s: by the reader's clock a comb of 0.66 and 1.33 of the true rate."""
    history = History(False, 20)
    rates = []
    for reading in range(12):
        snapshots = reading * 500_000 // 330_000
        own_ns, value = snapshots * 1000, snapshots * 70  # 70 a microsecond of the card
        history.add(reading * SECOND_NS // 2, value, own_ns)
        rates.append(history.rate)
    assert rates[0] is None and set(rates[1:]) == {70 * 1e6}
    for second in range(6, 20):  # and then its clock stands still
        history.add(second * SECOND_NS, value, own_ns)
    assert history.rate is None


def test_what_became_of_a_freeze_stands_until_the_card_is_armed_again() -> None:
    reader = PlayedReader(PlayedSource([], [], url="card:"))
    monitor = Monitor([reader])
    (watched,) = monitor.sources
    frozen = recorder("frozen", "pay-crc")
    reader.play(Sample(0, {}, {}, (frozen,)))
    monitor.poll(0)
    monitor.tell("card:", "pulled and explained: word-omitted", 5)
    assert watched.told == "pulled and explained: word-omitted" == monitor.log[-1].text
    reader.play(Sample(SECOND_NS, {}, {}, (frozen,)))
    monitor.poll(SECOND_NS)
    assert watched.told
    reader.play(Sample(2 * SECOND_NS, {}, {}, (recorder("armed", generation=2),)))
    monitor.poll(2 * SECOND_NS)
    assert watched.told == ""
