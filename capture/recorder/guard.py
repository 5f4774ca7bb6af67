"""Wait for a freeze, pull it, arm again: unattended, for faults that take days.

Each freeze becomes ``NNNN-NONCE-GENERATION-CAUSE.ff`` in one directory; of several targets one capture holds all. A
freeze that has its whole folder is not pulled again, whatever was restarted in between. A recorder is armed as soon
as its recording stands on the disk, and only then: what it holds must be what stands there, by boot nonce and
generation, or nothing is armed. Every generation is accounted for (`freezeframe.capture.custody.accounts`).

Source: docs/reliability.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from freezeframe.capture.card.device import split_card
from freezeframe.capture.count_text import plural
from freezeframe.capture.custody.accounts import Accounts
from freezeframe.capture.custody.giving_up import note_armed
from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.custody.host_rules import Fired
from freezeframe.capture.custody.lease import Leases
from freezeframe.capture.custody.ledger import GIVEN_UP, Ledger, RecordingKey
from freezeframe.capture.custody.store import (
    Keep,
    has_gaps,
    keys_of,
)
from freezeframe.capture.errors import (
    FreezeframeError,
    InputError,
    NoRoomError,
    RecorderStateError,
    TargetError,
)
from freezeframe.capture.folder import HostTrace
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.guard_place import GuardPlace, made_alone
from freezeframe.capture.recorder.guard_posts import (
    Post,
    Way,
    open_ways,
    refuse_card_files,
    refuse_traces,
    refuse_twice,
)
from freezeframe.capture.recorder.host_freeze import fired_words, freeze_now
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.recorder.pull import PullReport, is_whole
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.targets.base import open_target

_SLICE_S = 0.1  # between two looks at ``stop``
_LONGEST_AWAY_S = 5.0  # between two attempts to reach a target that is away
_ROOM_S = 2.0  # between two looks at a disk that is full

OnCapture = Callable[[PullReport], None]
OnTrouble = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Extras:
    """What a guard does beside pulling and arming; each may be left out.

    Attributes:
        host: traces of the cards' computers, read when the recorders have been.
        traced: the devices that they are of.
        beside: called with a capture's path once it stands, to write what was seen beside it.
        fired: what the host has seen that is to freeze the cards, in words; emptied by the call.
        wait: waits so many seconds, or until ``fired`` has something.
        lines: what else there is to log, a line each; emptied by the call.
        trouble: called with what is wrong (``away``, ``no-room``, ``lost``) or well again (``back``, ``room``), and
            a line.
        unexplained: the names of the captures that are still to be explained; of any moment. None of them is removed.
        ended: called when nothing is watched any more, before what is superfluous is removed and the log closed.
    """

    host: Callable[[], Sequence[HostTrace]] = tuple
    traced: Sequence[str] = ()
    beside: Callable[[Path], None] = lambda path: None
    fired: Callable[[], Sequence[Fired]] = tuple
    wait: Callable[[float], object] = time.sleep
    lines: Callable[[], Sequence[str]] = tuple
    trouble: OnTrouble = lambda what, line: None
    unexplained: Callable[[], Collection[str]] = tuple
    ended: Callable[[], None] = lambda: None


def guard(
    target_urls: str | Sequence[str],
    keep: Keep | int,
    directory: Path | str,
    on_capture: OnCapture | None = None,
    stop: Callable[[], bool] = lambda: False,
    *,
    poll_s: float = 0.2,
    wait_s: float = 30.0,
    log: Callable[[str], None] | None = None,
    extras: Extras | None = None,
    home: Path | None = None,
    begun: Callable[[GuardLog], None] = lambda log: None,
) -> int:
    """Pull every freeze of one target, or of several as one case, until ``stop`` says so; return how many were.

    A target that is not up yet, or vanishes, is waited for; so is room on the disk. A freeze of which something could
    not be read is pulled once more before the recorder is armed.

    Args:
        target_urls: of the cards; what is no target URL is refused at once.
        keep: which folders stay in ``directory``; a number: the newest so many.
        directory: made when it is not there; its parent must be.
        on_capture: called with each report, after the recorder was armed again, and quick; what it raises as
            FreezeframeError goes to the log.
        stop: asked several times a second.
        poll_s: pause between two looks at the recorders.
        wait_s: how long a pull waits for a target that vanishes during it; and how long one of several may be away
            before the others are pulled without it.
        log: called with each line that also goes to the guard's log, with its time.
        home: in place of the user's state directory, where this host keeps what it knows.
        begun: called with the log once the directory is this guard's; others may write to it until `Extras.ended`.
    Raises:
        InputError: the directory cannot be used, another guard of this host has the card, or cards of card files
            are several or have host traces.
        DeviceUnknownError: at the start only.
    """
    place = Path(directory)
    rule = keep if isinstance(keep, Keep) else Keep(keep)
    urls = [target_urls] if isinstance(target_urls, str) else list(target_urls)
    with ExitStack() as opened:
        ways = open_ways(urls, opened)
        # Before the directory is made: a guard that is refused leaves nothing behind.
        leases = Leases(home)
        opened.callback(leases.release)
        up = [way for way in ways if not isinstance(way, TargetError)]
        told = extras or Extras()
        refuse_twice(up)
        refuse_traces(up, told.traced, all_up=len(up) == len(ways))
        refuse_card_files(up, alone=len(urls) == 1 and told.host is tuple)
        leases.take([d.identity.boot_nonce for way in up for d in way.devices], place)
        opened.enter_context(made_alone(place))
        lines = GuardLog(place, log, keep_B=rule.log_bytes)
        opened.callback(lines.close)
        captures = GuardPlace(place, rule, lines, told.unexplained)
        post = _Guard(urls, captures, on_capture, lines, wait_s, told, home, leases)
        captures.tidy()
        begun(lines)
        captures.prune()  # not before it is known what is still to be explained
        try:
            post.begin(ways)
            while not stop():
                pause_s = post.look(poll_s)
                lines.sync()
                _sleep(pause_s, stop, post.extras.wait)
        finally:
            post.end()
            post.extras.ended()
            captures.prune()
    return post.pulled


class _Guard:
    """What a guard knows between two looks at its targets."""

    def __init__(
        self,
        urls: Sequence[str],
        place: GuardPlace,
        on_capture: OnCapture | None,
        log: GuardLog,
        wait_s: float,
        extras: Extras,
        home: Path | None,
        leases: Leases,
    ) -> None:
        self.pulled = 0
        self.extras = extras
        self._place = place
        self._on_capture = on_capture
        self._log = log
        self._wait_s = wait_s
        self._ledger = Ledger(home)
        self._leases = leases
        self._posts = [Post(url, Accounts(place.directory, self._ledger, log)) for url in urls]
        self._to_note: list[tuple[Post, Sequence[RecordingKey], Sequence[int], Path | None]] = []
        self._watching = False
        self._untold = ""  # why other guards do not know of this one
        self._away_s = 0.0
        self._trouble = ""
        self._again: set[tuple[RecordingKey, ...]] = set()
        self._ran: datetime | None = None  # when no recorder was frozen at the last look

    def begin(self, ways: Sequence[Way | TargetError]) -> None:
        """Take every target that is up."""
        for post, way in zip(self._posts, ways, strict=True):
            if isinstance(way, TargetError):
                self._away(post, way)
            else:
                self._open(post, way)
        self._watching = True

    def end(self) -> None:
        self._log_beside()
        if self._watching:
            for post in self._posts:
                if post.frozen and not self._known(post.keys):
                    key, url = post.keys[0], post.url.partition("?")[0]
                    self._log(
                        f"{url}: generation {key.generation} of boot {key.nonce:#010x} is frozen, and not kept here: "
                        "pull it, or start the guard again"
                    )
            self._log(f"watching ends; {self.pulled} pulled")
        for post in self._posts:
            post.close()
        self._leases.release()

    def look(self, poll_s: float) -> float:
        """Look at the recorders once, do what there is to do, return how long to pause."""
        self._log_beside()
        self._place.prune_explained()
        try:
            if fired := list(self.extras.fired()):
                # Before the look, which takes its time; but of one that was just opened nothing is known yet.
                there = [post for post in self._posts if post.target is not None]
                self._freeze([p for p in there if p.states or self._answers(p)], fired)
            here = [post for post in self._posts if self._answers(post)]
            try:
                if self._act(here):
                    self._well()
            finally:
                self._note_arms()
            if len(here) < len(self._posts):
                self._away_s = min(max(2 * self._away_s, poll_s), _LONGEST_AWAY_S)
                return self._away_s if not here else poll_s
            self._away_s = 0.0
            return poll_s
        except NoRoomError as error:
            self._tell("no-room", f"{error}; the recorder stays frozen until there is room")
            return max(poll_s, _ROOM_S)
        except InputError as error:
            self._log(f"{error}; the guard ends")
            raise
        except TargetError as error:
            self._tell("away", f"{error}; going on")
            for post in self._posts:
                post.close()
            self._away_s = min(max(2 * self._away_s, poll_s), _LONGEST_AWAY_S)
            return self._away_s

    def _log_beside(self) -> None:
        for line in self.extras.lines():
            self._log(line)

    def _open(self, post: Post, way: Way | None = None) -> None:
        line = post.open(way)
        assert post.target is not None
        alone = len(self._posts) == 1 and self.extras.host is tuple
        refuse_card_files([Way(post.target, post.devices)], alone=alone)
        up = [Way(p.target, p.devices) for p in self._posts if p.target is not None]
        if not post.known:
            # At its first answer only: that a nonce of few bits comes again later ends no night.
            refuse_twice(up)
            refuse_traces(up, self.extras.traced, all_up=len(up) == len(self._posts))
        post.known = True
        nonces = [d.identity.boot_nonce for each in self._posts for d in each.devices]
        trouble = self._leases.take(nonces, self._place.directory)
        if trouble and trouble != self._untold:
            self._log(trouble)
        self._untold = trouble
        self._log(line)

    def _answers(self, post: Post) -> bool:
        """Open a target that is closed and read its recorders; return whether it answered."""
        try:
            if post.target is None:
                self._open(post)
            post.states = [read_state(device) for device in post.devices]
        except TargetError as error:
            self._away(post, error)
            return False
        for line in post.accounts.look(post.states[0]):
            self._log(line)
            self.extras.trouble("lost", line)
        pairs = zip(post.states, post.devices, strict=True)
        if any(state.nonce != device.identity.boot_nonce for state, device in pairs):
            self._log("the target was restarted; what it had recorded before is gone")
            post.close()
            return False
        return True

    def _away(self, post: Post, error: TargetError) -> None:
        post.close()
        if post.away_since_s is None:
            post.away_since_s = time.monotonic()
        self._tell("away", f"{error}; going on")

    def _tell(self, what: str, line: str) -> None:
        """One line for a trouble, however long it lasts."""
        if self._trouble != what:
            self._log(line)
            self.extras.trouble(what, line)
        self._trouble = what

    def _well(self) -> None:
        if self._trouble and all(post.target is not None for post in self._posts):
            self.extras.trouble("room" if self._trouble == "no-room" else "back", "goes on")
            self._trouble = ""

    def _act(self, here: Sequence[Post]) -> bool:
        """Do what the states ask for; return whether there was anybody to ask."""
        for post in here:
            if all(state.state == "idle" for state in post.states):
                self._arm(post, "idle", post.keys, None)
        frozen = [post for post in here if post.frozen]
        if not frozen:
            self._ran = datetime.now(UTC)
            return bool(here)
        rest = []
        for post in frozen:
            known = self._known(post.keys)
            if known and (post.keys in self._again or not has_gaps(known[-1])):
                self._arm(post, f"{known[-1].name} was pulled before", post.keys, known[-1])
            else:
                rest.append(post)
        if rest and not self._waits_for_the_others():
            self._pull(here)
        return True

    def _waits_for_the_others(self) -> bool:
        """Return whether one of several targets is away for so short a time that the case may still be whole."""
        now_s = time.monotonic()
        return any(
            post.away_since_s is not None and now_s - post.away_since_s < self._wait_s
            for post in self._posts
        )

    def _freeze(self, here: Sequence[Post], fired: Sequence[Fired]) -> None:
        armed = [
            (device, state.generation)
            for post in here
            for device, state in zip(post.devices, post.states, strict=True)
            if state.state == "armed"
        ]
        taken_ms = freeze_now(armed, fired[0].seen_ns)
        for one in fired:
            self._log(f"{fired_words(one)}: {taken_ms or 'no card was recording'}")

    def _known(self, keys: Sequence[RecordingKey]) -> list[Path]:
        return self._place.known(keys, several=len(self._posts) > 1)

    def _pull(self, here: Sequence[Post]) -> None:
        first = here[0]
        cause = _cause([state for post in here for state in post.states])
        path = self._place.next(first.keys[0], cause)
        keys = tuple(key for post in here for key in post.keys)
        known = self._known(keys)
        if known:
            # The target went away during that pull and has come back with the recording.
            self._again |= {keys, *(post.keys for post in here)}
            self._log(f"{known[-1].name} has gaps; pulled once more")
        armed: list[str] = []

        def stands(
            _: Path, recordings: Sequence[Sequence[RecordingKey]], tallies: Sequence[Tally]
        ) -> None:
            """Arm at once, over exactly what was written, unless the pull has gone on over targets of its own."""
            if (is_whole(tallies) or known) and not any(tally.outages for tally in tallies):
                since_s = time.monotonic()
                for post, keys in zip(here, recordings, strict=True):
                    armed.append(post.url)
                    self._arm(post, f"{path.name} stands on the disk", keys, path, since_s)

        report = pull_case(
            [post.target for post in here if post.target is not None],
            path,
            freeze=True,
            wait_s=self._wait_s,
            reopen=[partial(open_target, split_card(post.url)[0]) for post in here],
            host=self.extras.host,
            card=split_card(first.url)[1],
            ledger=self._ledger,
            ran=self._ran,
            stands=stands,
        )
        self._said(report)
        try:
            if report.outages:
                for post in here:
                    post.close()
                    self._open(post)
            if not report.complete and not known:
                self._log(f"{path.name} has gaps; the recorder stays frozen for one more pull")
                return
            self.pulled += 1
            for post, of_post in zip(here, _of_posts(path, here), strict=True):
                if post.url not in armed:
                    self._arm(post, f"{path.name} stands on the disk", of_post, path)
                post.accounts.kept(of_post[0], path.name)
        finally:
            # Whatever became of the target: the capture is here, and seconds of explaining are not blind.
            self._hand_on(report)
            self._place.prune()

    def _said(self, report: PullReport) -> None:
        missing = "" if report.complete else f"; missing: {'; '.join(report.lost)}"
        self._log(
            f"{report.path.name}: {plural(report.words, 'word', thousands='')} in {report.seconds:.2f} s, "
            f"{report.retries} read again{missing}"
        )
        if report.not_noted:
            self._log(report.not_noted)

    def _hand_on(self, report: PullReport) -> None:
        def explain() -> None:
            if self._on_capture is not None:
                self._on_capture(report)

        for step in (partial(self.extras.beside, report.path), explain):
            try:
                step()
            except FreezeframeError as error:  # the other step is taken all the same
                self._log(f"{report.path.name}: {error}")

    def _arm(
        self,
        post: Post,
        why: str,
        over: Sequence[RecordingKey],
        kept: Path | None,
        since_s: float | None = None,
    ) -> None:
        try:
            generations = arm_all(post.devices, [(r.nonce, r.generation) for r in over])
        except RecorderStateError as error:
            self._log(f"{why}; not armed: {error}")
            return
        took = ""
        if since_s is not None:
            took = f" {1000 * (time.monotonic() - since_s):.0f} ms after its last word"
        armed = ", ".join(
            f"{device.name} generation {number}"
            for device, number in zip(post.devices, generations, strict=True)
        )
        where = f" at {post.url.partition('?')[0]}" if len(self._posts) > 1 else ""
        self._log(f"{why}; armed{took}: {armed}{where}")
        self._to_note.append((post, over, generations, kept))

    def _note_arms(self) -> None:
        """Write down what was armed over; after all are armed, for each line waits for the disk."""
        for post, over, generations, kept in self._to_note:
            if kept is not None:
                url = post.url.partition("?")[0]
                place = str(kept.resolve())
                self._ledger.note(GIVEN_UP, over, by="guard", target=url, kept=place)
            note_armed(post.devices, over, generations, by="guard", ledger=self._ledger)
        self._to_note = []


def _of_posts(folder: Path, posts: Sequence[Post]) -> list[tuple[RecordingKey, ...]]:
    """Return the recordings in a capture, by the target they are from."""
    keys = iter(keys_of(folder))
    return [tuple(next(keys) for _ in post.devices) for post in posts]


def _cause(states: Sequence[RecorderState]) -> str:
    """Return the cause that names a freeze: the first that no other card brought."""
    own = [cause for state in states for cause in state.own_causes]
    first = (*own, *(cause for state in states for cause in state.causes), "unknown")[0]
    return first.replace("_", "-")  # a card file's names have underscores


def _sleep(pause_s: float, stop: Callable[[], bool], wait: Callable[[float], object]) -> None:
    end_s = time.monotonic() + pause_s
    while (left_s := end_s - time.monotonic()) > 0 and not stop():
        if wait(min(left_s, _SLICE_S)):
            return  # the host has seen something
