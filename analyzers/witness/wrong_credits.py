"""Credits that none of the known faults made wrong: refused for their CRC, or late. Whose they are, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from freezeframe.analyzers.card.names import NONE_KNOWN
from freezeframe.analyzers.contract import Evidence, Finding, Ground
from freezeframe.analyzers.credits.ledger import CreditTimes, FlowAccount
from freezeframe.analyzers.facts import credit_delays, doubt_ps, in_the_way_ps, packets_ps
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.witness.case import Case
from freezeframe.capture.time_text import format_ps

_SHOWN = 4  # rows
_FEW = 2  # credits of a flow from which on they are no accident


def wrong_credits(case: Case) -> Iterator[Finding]:
    """Yield what is known of credits that were refused, and of flows whose credits came late."""
    yield from refused_credits(case)
    for account in case.facts.accounts:
        yield from _late(case, account)


def refused_credits(case: Case) -> Iterator[Finding]:
    """Yield a finding for each card that refused credits for their CRC.

    The line changes what it carries, whosever it is. Where it carried all else and every credit of one flow is bad,
    the card that made them is where it is wrong.
    """
    view = case.facts.view
    for sender, receiver in view.directions:
        log = view.logs.get(sender)
        at = log.select("CREDIT", "refused_crc").tolist() if log is not None else []
        refused, parity = view.count(sender, "credits-refused"), view.count(sender, "bad-credit")
        many = len(at)
        # Counters go on over re-arms: what they counted before may be of an earlier recording.
        if refused is not None and parity is not None and view.value(sender, "ctl.generation") == 1:
            many = max(many, refused - parity)
        if not many:
            continue
        first = int(at[0]) if log is not None and len(at) else None
        t_ps, unc_ps = log.when(first) if log is not None and first is not None else (None, None)
        flow = _all_of_one_flow(case, sender, log) if log is not None and len(at) else None
        text = f"{sender} refused {many} credit{'s' * (many > 1)} from {receiver} for a bad CRC"
        if flow is None:
            text += f": changed on the line, or made wrong by {receiver}."
            more = "the next good credit of the flow makes up for it"
        else:
            text += (
                f": every one of flow {flow} since {format_ps(t_ps or 0)}. All else from {receiver} came right "
                f"meanwhile, and a line does not choose: {receiver} makes them wrong."
            )
            more = f"{sender} waits for credit of that flow"
        rows = (
            ()
            if log is None
            else tuple(log.row(int(i), "credit refused for its CRC") for i in at[:_SHOWN])
        )
        yield Finding(
            NONE_KNOWN,
            f"{text} None of the known faults accounts for it; {more}.",
            device=sender if flow is None else receiver,
            direction=f"{sender}->{receiver}",
            flow=flow,
            t_ps=t_ps,
            t_uncertainty_ps=unc_ps,
            evidence=(Evidence(text, sender, rows=(*rows, view.count_row(sender, "credits-refused"))),),
            ground=Ground.CONFIRMED,
            falsifier=f"It would be wrong if {sender} had refused no credit.",
        )  # fmt: skip


def _all_of_one_flow(case: Case, sender: str, log: EventLog) -> int | None:
    """Return the flow of which every credit was refused from some moment on while the line carried all else right."""
    at = log.select("CREDIT", "refused_crc")
    flows, since = set(log.flow[at].tolist()), int(log.t_ps[at[0]])
    if len(flows) > 1 or len(at) < _FEW or log.gaps or len(log.select("LOSS")):
        return None
    flow = int(log.flow[at[0]])
    taken = log.select("CREDIT", "taken")
    later = taken[log.t_ps[taken] > since]
    arrived = case.facts.view.stream(sender, case.facts.view.roles.rx.entry)
    others = int((log.flow[later] != flow).sum())
    if arrived is not None:
        meanwhile = [p for p in arrived.packets if int(arrived.t_ps[p.start]) > since]
        if any(packet.bad for packet in meanwhile):
            return None
        others += len(meanwhile)
    return flow if others and not bool((log.flow[later] == flow).any()) else None


def _late(case: Case, account: FlowAccount) -> Iterator[Finding]:
    """Yield the finding on a flow whose credits, from one on, took longer than all else between the two cards."""
    facts = case.facts
    doubt = doubt_ps(facts, account)
    if doubt is None:
        return
    own = credit_delays(_while_sent(case, account), doubt)[::-1]
    # What comes behind a late credit is late as well; the cable is as long the other way.
    usual = [
        delay
        for other in facts.accounts
        if (other.sender, other.receiver) == (account.receiver, account.sender)
        for _, delay in credit_delays(_while_sent(case, other), doubt)
    ]
    usual += packets_ps(facts, account.sender, account.receiver)
    most = max(usual, default=None)
    delays = [delay for _, delay in own]
    least_since = list(accumulate(delays[::-1], min))[::-1]
    margin = doubt + in_the_way_ps(facts, account)
    for n in range(len(delays) - _FEW + 1):
        before = max([*delays[:n], *([most] if most is not None else [])], default=None)
        if before is not None and least_since[n] > before + margin:
            break
    else:
        return
    log = facts.view.logs[account.receiver]
    at = [int(account.sent_credits.positions[i]) for i, _ in own[n:]]
    t_ps, unc_ps = log.when(at[0])
    text = (
        f"The credits of flow {account.flow} took {format_ps(least_since[n])} or more from {account.receiver}'s log to "
        f"{account.sender}'s since {format_ps(t_ps)}; before, and the other way, nothing took more than "
        f"{format_ps(before)}: "
        f"{account.sender} waits for {account.receiver}'s credits."
    )
    yield Finding(
        NONE_KNOWN,
        f"{text} None of the known faults accounts for it.",
        device=account.receiver,
        direction=account.direction,
        flow=account.flow,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        evidence=(
            Evidence(text, account.receiver, rows=tuple(log.row(i, "credit sent") for i in at[:_SHOWN])),
        ),
        ground=Ground.COMPARED,
        falsifier="It would be wrong if what went the other way, or the credits before, had taken as long.",
    )  # fmt: skip


def _while_sent(case: Case, account: FlowAccount) -> FlowAccount:
    """Return an account with the credits that were taken before the receiver's log ended, none where it lost some.

    Counts wrap: a credit of which the sending is not in the log would be taken for the one a turn before.
    """
    log = case.facts.view.flow_log(account.receiver)
    taken = account.taken_credits
    lossy = log is None or log.gaps or not len(log) or len(log.select("LOSS"))
    end_ps = int(log.t_ps[-1]) if log is not None and not lossy else -1
    kept = taken.t_ps <= end_ps
    return replace(
        account,
        taken_credits=CreditTimes(taken.positions[kept], taken.t_ps[kept], taken.freed[kept]),
    )
