"""The event engine of profiles of stages: one compiled loop over events in the order of their times.

It runs to the end, or up to a time, so that who has messages of their own (`emulator.adapter.live`) goes step by step.
At each time all events happen, then jobs begin as long as one can: of the jobs that find all of their resources, tokens
and room, the first by priority, due date or turn, then by the time they came.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from freezeframe.decoders.kernel_numbers import ZERO, int64s
from freezeframe.emulator.adapter.layout import (
    ANSWER,
    EDD,
    NEVER,
    OPEN,
    PRIORITY,
    ROUND_ROBIN,
    SATURATING,
    WINDOW,
    Table,
    Whole,
    World,
)

DONE, HEAP_FULL = 0, 1
_ARRIVE, _FINISH, _ENTER, _LOOK, _COME = int64s(0, 5)
_MORE, _LESS = ZERO + 1, ZERO - 1
_SIZE, _SEQ, _NOW, _OVER, _FULL, _PERIOD, _TAKEN = 0, 1, 2, 3, 4, 5, 6
SAMPLED = 4  # numbers of a group in a sample


@njit(nogil=True, cache=True)
def start(w: World) -> None:
    """Let the first messages of all flows come."""
    for f in range(len(w.flows)):
        flow = w.flows[f]
        if flow.messages == 0:
            continue
        if flow.mode == OPEN:
            _push(w.state, w.heap, w.messages[flow.first].born, _ARRIVE, f, ZERO)
        elif flow.mode == SATURATING:
            _push(w.state, w.heap, ZERO, _ARRIVE, f, ZERO)
        elif flow.mode == WINDOW:
            for _ in range(flow.outstanding):
                _push(w.state, w.heap, ZERO, _ARRIVE, f, ZERO)


@njit(nogil=True, cache=True)
def come(w: World, m: int, t: int) -> None:
    """Let a message of a flow that is fed from outside come at a time that is not over; there is room in the heap."""
    _push(w.state, w.heap, t, _COME, m, ZERO)


@njit(nogil=True, cache=True)
def run(w: World, until: int) -> int:
    """Run until nothing more can happen up to and at a time. Returns `DONE`, or `HEAP_FULL`: again, with more room."""
    while w.state[_SIZE] > 0 and w.heap[0].t <= until:
        now = w.heap[0].t
        while w.state[_TAKEN] < len(w.samples) and (w.state[_TAKEN] + 1) * w.state[_PERIOD] <= now:
            _sample(w)
        w.state[_NOW] = now
        while w.state[_SIZE] > 0 and w.heap[0].t == now:
            kind, what, version = w.heap[0].kind, w.heap[0].what, w.heap[0].version
            _pop(w.state, w.heap)
            if kind == _ARRIVE:
                _arrive(w, what, now)
            elif kind == _COME:
                _reach_all(w, what, now)
            elif kind == _FINISH:
                if w.packets[what].version == version:
                    _finish(w, what, now)
            elif kind == _ENTER:
                _enter(w, what, now)
        while True:
            best = _choose(w, now)
            if best < 0:
                break
            _begin(w, best, now)
        if w.state[_FULL]:
            return HEAP_FULL
    return DONE


@njit(nogil=True, cache=True)
def _sample(w: World) -> None:
    """Write down what was counted before the next multiple of the period; a job under way counts up to there."""
    taken = w.state[_TAKEN]
    at = (taken + 1) * w.state[_PERIOD]
    row = w.samples[taken]
    for g in range(len(w.groups)):
        row[SAMPLED * g] = w.groups[g].jobs
        row[SAMPLED * g + 1] = w.groups[g].packets
        row[SAMPLED * g + 2] = w.groups[g].dropped
        row[SAMPLED * g + 3] = w.groups[g].busy
    for r in range(len(w.resources)):
        place = SAMPLED * len(w.groups) + r
        row[place] = w.resources[r].busy
        for s in range(w.resources[r].servers):
            p = w.running[r, s]
            if p >= 0:
                row[place] += at - w.packets[p].started
                q = w.steps[w.flows[w.packets[p].flow].step + w.packets[p].step].queue
                # Its whole time was counted when it began; what is left of it then is still to come.
                row[SAMPLED * w.queues[q].group + 3] -= w.packets[p].left - (
                    at - w.packets[p].started
                )
    for q in range(len(w.queues)):
        p = w.queues[q].head
        while p >= 0 and w.packets[p].left >= 0:  # taken off its resource
            row[SAMPLED * w.queues[q].group + 3] -= w.packets[p].left
            p = w.packets[p].next
    w.state[_TAKEN] += 1


@njit(nogil=True, cache=True)
def _push(state: Whole, heap: Table, t: int, kind: int, what: int, version: int) -> None:
    at = state[_SIZE]
    if at == len(heap):
        state[_FULL] = 1
        return
    state[_SIZE] += 1
    state[_SEQ] += 1
    seq = state[_SEQ]
    while at > 0:
        above = (at - 1) >> 1
        if heap[above].t <= t:
            break
        heap[at] = heap[above]
        at = above
    heap[at].t, heap[at].seq, heap[at].kind = t, seq, kind
    heap[at].what, heap[at].version = what, version


@njit(nogil=True, cache=True)
def _pop(state: Whole, heap: Table) -> None:
    state[_SIZE] -= 1
    size = state[_SIZE]
    if size == 0:
        return
    t, seq = heap[size].t, heap[size].seq
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        right = below + 1
        if right < size and (
            heap[right].t < heap[below].t
            or (heap[right].t == heap[below].t and heap[right].seq < heap[below].seq)
        ):
            below = right
        if t < heap[below].t or (t == heap[below].t and seq < heap[below].seq):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = heap[size]


@njit(nogil=True, cache=True, inline="always")
def _arrive(w: World, f: int, now: int) -> None:
    """The flow's next message is there, and all of its packets."""
    flow = w.flows[f]
    if flow.next == flow.messages:
        return
    m = flow.first + flow.next
    flow.next += 1
    message = w.messages[m]
    if flow.mode == OPEN:
        if flow.next < flow.messages:
            _push(w.state, w.heap, w.messages[m + 1].born, _ARRIVE, f, ZERO)
    elif flow.mode != SATURATING:
        message.born = now
    _reach_all(w, m, now)


@njit(nogil=True, cache=True)
def _reach_all(w: World, m: int, now: int) -> None:
    """All packets of a message reach their first stage."""
    message = w.messages[m]
    due = w.flows[message.flow].due
    for p in range(message.first, message.first + message.packets):
        w.packets[p].due = now + due if due > 0 else NEVER
        _reach(w, p, now)


@njit(nogil=True, cache=True, inline="always")
def _reach(w: World, p: int, now: int) -> None:
    """A packet reaches its next stage: at once, or where the stage is polled when it is looked at."""
    packet = w.packets[p]
    poll = w.queues[w.steps[w.flows[packet.flow].step + packet.step].queue].poll
    if poll > 0 and now % poll != 0:
        _push(w.state, w.heap, (now // poll + 1) * poll, _ENTER, p, ZERO)
    else:
        _enter(w, p, now)


@njit(nogil=True, cache=True, inline="always")
def _enter(w: World, p: int, now: int) -> None:
    packet = w.packets[p]
    q = w.steps[w.flows[packet.flow].step + packet.step].queue
    queue = w.queues[q]
    group = w.groups[queue.group]
    if group.capacity > 0 and group.waiting >= group.capacity:
        group.dropped += packet.members
        _drop(w, p, now)
        return
    group.waiting += 1
    group.most = max(group.most, group.waiting)
    w.state[_SEQ] += 1
    packet.seq = w.state[_SEQ]
    packet.entered = now
    packet.left = -1
    packet.next = -1
    queue.length += 1
    if queue.head < 0:
        queue.head = p
        queue.tail = p
    elif queue.edd and w.packets[queue.tail].due > packet.due:
        before, at = -1, queue.head
        while at >= 0 and (w.packets[at].left >= 0 or w.packets[at].due <= packet.due):
            before, at = at, w.packets[at].next
        packet.next = at
        if at < 0:
            queue.tail = p
        if before < 0:
            queue.head = p
        else:
            w.packets[before].next = p
    else:
        w.packets[queue.tail].next = p
        queue.tail = p
    if queue.wait > 0 and queue.length < queue.gather:
        _push(w.state, w.heap, now + queue.wait, _LOOK, q, ZERO)


@njit(nogil=True, cache=True)
def _drop(w: World, p: int, now: int) -> None:
    """A packet is lost where it found no room; what it holds is given back."""
    packet = w.packets[p]
    first = w.flows[packet.flow].step
    for s in range(packet.step):
        step = w.steps[first + s]
        for i in range(step.take, step.take + step.takes):
            pool = w.refs[i]
            held = True
            for later in range(s, packet.step):
                other = w.steps[first + later]
                for j in range(other.give, other.give + other.gives):
                    held = held and w.refs[j] != pool
                for j in range(other.leave, other.leave + other.leaves):
                    held = held and (later == s or w.refs[j] != pool)
            if held:
                _count(w, pool, p, _LESS, now)
    one = p
    while one >= 0:
        w.packets[one].dropped = 1
        _over(w, one, now, True)
        one = w.packets[one].member


@njit(nogil=True, cache=True, inline="always")
def _over(w: World, p: int, now: int, lost: bool) -> None:
    """A packet has arrived or is lost; with its message's last one the next of a window comes."""
    w.state[_OVER] += 1
    packet = w.packets[p]
    packet.done = now
    message = w.messages[packet.message]
    message.left -= 1
    message.lost |= lost
    if message.left > 0:
        return
    message.done = now
    flow = w.flows[packet.flow]
    if flow.mode == WINDOW:
        then = flow.reply if flow.reply >= 0 and not lost else packet.flow
        _push(w.state, w.heap, now + flow.think, _ARRIVE, ZERO + then, ZERO)
    elif flow.mode == ANSWER:  # the next question
        _push(w.state, w.heap, now + flow.think, _ARRIVE, ZERO + flow.reply, ZERO)


@njit(nogil=True, cache=True, inline="always")
def _amount(w: World, pool: int, p: int) -> int:
    """Return the tokens of a packet."""
    unit = w.pools[pool].unit_B
    if w.pools[pool].per_message:
        return int(w.messages[w.packets[p].message].first == p)
    return 1 if unit == 0 else int(max(1, (w.packets[p].size + unit - 1) // unit))


@njit(nogil=True, cache=True, inline="always")
def _has(w: World, pool: int, p: int) -> bool:
    """Whether a pool has the tokens of a packet, of those it was merged from, or of the message that is assembled."""
    flow, wanted, one = w.packets[p].flow, 0, p
    if w.queues[w.steps[w.flows[flow].step + w.packets[p].step].queue].assemble:
        message = w.messages[w.packets[p].message]
        for other in range(message.first, message.first + message.packets):
            wanted += _amount(w, pool, other)
        one = -1
    while one >= 0:
        wanted += _amount(w, pool, one)
        one = w.packets[one].member
    over = w.used[pool, flow] - w.reserved[pool, flow]
    more = max(0, over + wanted) - max(0, over)
    return bool(w.pools[pool].beyond + more <= w.pools[pool].room)


@njit(nogil=True, cache=True)
def _count(w: World, pool: int, p: int, sign: int, now: int) -> None:
    table = w.pools[pool]
    table.area += float(table.used) * float(now - table.since)
    table.since = now
    one = p
    while one >= 0:
        flow = w.packets[one].flow
        amount = sign * _amount(w, pool, one)
        over = w.used[pool, flow] - w.reserved[pool, flow]
        table.beyond += max(0, over + amount) - max(0, over)
        w.used[pool, flow] += amount
        table.used += amount
        one = w.packets[one].member
    table.most = max(table.most, table.used)


@njit(nogil=True, cache=True, inline="always")
def _bank(w: World, resource: int, p: int) -> int:
    return int(resource + w.packets[p].message % w.resources[resource].banks)


@njit(nogil=True, cache=True, inline="always")
def _victim(w: World, resource: int, priority: int) -> int:
    """Return which running job of lower priority would be taken off: the lowest, of these the last begun; or -1."""
    found, lowest = ZERO - 1, priority
    if w.resources[resource].preempts == 0:
        return found
    for s in range(w.resources[resource].servers):
        p = w.running[resource, s]
        if p < 0:
            continue
        its = w.steps[w.flows[w.packets[p].flow].step + w.packets[p].step].priority
        if its < lowest or (
            its == lowest and found >= 0 and w.packets[p].started > w.packets[found].started
        ):
            found, lowest = p, its
    return found


@njit(nogil=True, cache=True, inline="always")
def _can(w: World, q: int, now: int) -> bool:
    """Whether the first job of a queue can begin now."""
    queue = w.queues[q]
    p = queue.head
    packet = w.packets[p]
    step = w.steps[w.flows[packet.flow].step + packet.step]
    for i in range(step.use, step.use + step.uses):
        resource = _bank(w, w.refs[i], p)
        if w.resources[resource].free == 0 and _victim(w, resource, step.priority) < 0:
            return False
        if w.resources[resource].owner >= 0 and w.resources[resource].owner != packet.message:
            return False
    if packet.left >= 0:  # it goes on
        return True
    if queue.length < queue.gather and now < packet.entered + queue.wait:
        return False
    if queue.assemble and queue.length < w.messages[packet.message].packets:
        return False
    if queue.back_off >= 0 and w.groups[queue.back_off].waiting >= queue.back_off_at:
        return False
    able = True
    for i in range(step.take, step.take + step.takes):
        able = able and _has(w, w.refs[i], p)
    return able


@njit(nogil=True, cache=True, inline="always")
def _choose(w: World, now: int) -> int:
    """Return the queue whose first job begins next, or -1."""
    best, best_priority, best_key, best_seq = -1, 0, 0, 0
    for q in range(len(w.queues)):
        p = w.queues[q].head
        if p < 0:
            continue
        packet = w.packets[p]
        step = w.steps[w.flows[packet.flow].step + packet.step]
        priority = step.priority if step.policy == PRIORITY else 0
        key = 0
        if step.policy == EDD or w.queues[q].edd:
            key = packet.due
        elif step.policy == ROUND_ROBIN:
            key = w.turn[w.refs[step.use], packet.flow]
        if best >= 0 and (
            priority < best_priority
            or (
                priority == best_priority
                and (key > best_key or (key == best_key and packet.seq > best_seq))
            )
        ):
            continue
        if _can(w, q, now):
            best, best_priority, best_key, best_seq = q, priority, key, packet.seq
    return best


@njit(nogil=True, cache=True, inline="always")
def _begin(w: World, q: int, now: int) -> None:
    queue = w.queues[q]
    p = queue.head
    packet = w.packets[p]
    flow = w.flows[packet.flow]
    step = w.steps[flow.step + packet.step]
    queue.head = packet.next
    if packet.left < 0:
        packet.left = _duration(w, q, p, now)
        for i in range(step.take, step.take + step.takes):
            _count(w, w.refs[i], p, _MORE, now)
        for i in range(step.leave, step.leave + step.leaves):
            _count(w, w.refs[i], p, _LESS, now)
        message = w.messages[packet.message]
        if flow.mode == SATURATING and packet.step == 0 and message.born < 0:
            message.born = now
            _push(w.state, w.heap, now, _ARRIVE, ZERO + packet.flow, ZERO)
    packet.next = -1
    if queue.head < 0:
        queue.tail = -1
    for i in range(step.use, step.use + step.uses):
        resource = _bank(w, w.refs[i], p)
        if w.resources[resource].free == 0:
            _preempt(w, _victim(w, resource, step.priority), now)
    for i in range(step.use, step.use + step.uses):
        resource = _bank(w, w.refs[i], p)
        w.resources[resource].free -= 1
        if w.resources[resource].whole:
            if w.resources[resource].owner < 0:
                w.resources[resource].owner = packet.message
                w.resources[resource].begun = 0
            w.resources[resource].begun += 1
            if w.resources[resource].begun == w.messages[packet.message].packets:
                w.resources[resource].owner = -1
        w.state[_SEQ] += 1
        w.turn[w.refs[i], packet.flow] = w.state[_SEQ]
        for s in range(w.resources[resource].servers):
            if w.running[resource, s] < 0:
                w.running[resource, s] = p
                break
    packet.started = now
    _push(w.state, w.heap, now + packet.left, _FINISH, p, packet.version)


@njit(nogil=True, cache=True, inline="always")
def _duration(w: World, q: int, p: int, now: int) -> int:
    """Make the job that begins with a packet, of as many packets as gather there, and return how long it takes."""
    queue, packet = w.queues[q], w.packets[p]
    step = w.steps[w.flows[packet.flow].step + packet.step]
    group = w.groups[queue.group]
    last = p
    while w.packets[last].member >= 0:  # of what was merged before
        last = w.packets[last].member
    entries, most = 1, queue.most
    if queue.assemble:
        most = w.messages[packet.message].packets
    total, members = packet.sum, packet.members
    group.waited += now - packet.entered
    while entries < most and queue.head >= 0 and queue.length > entries:
        other = w.packets[queue.head]
        if other.left >= 0:
            break
        other.entry = 1 - queue.merge
        w.packets[last].member = queue.head
        last = queue.head
        total += other.sum
        members += other.members
        group.waited += now - other.entered
        while w.packets[last].member >= 0:
            last = w.packets[last].member
        queue.head = other.next
        entries += 1
    queue.length -= entries
    group.waiting -= entries
    group.jobs += 1
    group.packets += members
    packet.sum = total
    packet.members = members
    bytes_ = float(total)
    lasts = float(step.fixed + step.message * members)
    lasts += float(step.segment * ((total + step.segment_B - 1) // step.segment_B))
    if step.knee_B > 0 and total > step.knee_B:
        lasts += step.byte * float(step.knee_B) + step.beyond * (bytes_ - float(step.knee_B))
    else:
        lasts += step.byte * bytes_
    whole = int(np.rint(lasts))
    group.busy += whole
    return whole


@njit(nogil=True, cache=True, inline="always")
def _release(w: World, p: int, now: int) -> None:
    packet = w.packets[p]
    step = w.steps[w.flows[packet.flow].step + packet.step]
    for i in range(step.use, step.use + step.uses):
        resource = _bank(w, w.refs[i], p)
        w.resources[resource].free += 1
        w.resources[resource].busy += now - packet.started
        for s in range(w.resources[resource].servers):
            if w.running[resource, s] == p:
                w.running[resource, s] = -1


@njit(nogil=True, cache=True)
def _preempt(w: World, p: int, now: int) -> None:
    """Take a job off its resources; it is the first of its queue, with what is left of it."""
    if p < 0:
        return
    packet = w.packets[p]
    step = w.steps[w.flows[packet.flow].step + packet.step]
    for i in range(step.use, step.use + step.uses):
        w.resources[_bank(w, w.refs[i], p)].preempted += 1
    _release(w, p, now)
    packet.left -= now - packet.started
    packet.version += 1
    queue = w.queues[step.queue]
    packet.next = queue.head
    queue.head = p
    if queue.tail < 0:
        queue.tail = p


@njit(nogil=True, cache=True, inline="always")
def _finish(w: World, p: int, now: int) -> None:
    """A job ends: what it occupies is free, and what was in it goes on, together or each by itself."""
    packet = w.packets[p]
    step = w.steps[w.flows[packet.flow].step + packet.step]
    _release(w, p, now)
    packet.version += 1
    for i in range(step.give, step.give + step.gives):
        _count(w, w.refs[i], p, _LESS, now)
    queue = w.queues[step.queue]
    if (queue.most == 1 and queue.assemble == 0) or queue.merge == 1:
        _go_on(w, p, now)
        return
    first = p
    while first >= 0:  # each entry of the queue goes on by itself
        last, total, members = first, w.packets[first].size, 1
        while w.packets[last].member >= 0 and w.packets[w.packets[last].member].entry == 0:
            last = w.packets[last].member
            total += w.packets[last].size
            members += 1
        following = w.packets[last].member
        w.packets[last].member = -1
        w.packets[first].sum, w.packets[first].members = total, members
        w.packets[first].entry = 0
        _go_on(w, first, now)
        first = following


@njit(nogil=True, cache=True, inline="always")
def _go_on(w: World, p: int, now: int) -> None:
    packet = w.packets[p]
    packet.step += 1
    if packet.step < w.flows[packet.flow].steps:
        _reach(w, p, now)
        return
    while p >= 0:
        following = w.packets[p].member
        _over(w, p, now, False)
        p = following


def run_tables(world: World) -> World:
    """Run tables to the end, with as much room for events as that takes; return them as they are then."""
    room = len(world.heap)
    while True:
        tables = World._make(np.copy(table) for table in world)
        tables = tables._replace(heap=np.zeros(room, world.heap.dtype))
        start(tables)
        if run(tables, int(NEVER)) == DONE:
            return tables
        room *= 4
