/* SPDX-License-Identifier: Apache-2.0 */
#include "ff_ring.h"

#include "ff_formats.h"

enum { SILENCE = 14, LONGEST_DT = 15 };
#define OWN_KINDS (1u << FF_KIND_MARK | 1u << FF_KIND_LOSS | 1u << FF_KIND_TIME)

static void put(ff_ring *ring, uint64_t cycle, unsigned kind, uint64_t data)
{
    uint64_t gap = cycle - ring->previous;
    unsigned dt = !ring->has_previous || gap > LONGEST_DT ? LONGEST_DT : (unsigned)gap;
    uint8_t *at = ring->records + (uintptr_t)ring->write_ptr * FF_RING_RECORD_B;
    uint32_t low = (uint32_t)data, high = (uint32_t)(data >> 32); /* a 32-bit core shifts 64 bits in a call */
    unsigned i;
    for (i = 0; i < 4; i++, low >>= 8, high >>= 8) {
        at[i] = (uint8_t)low;
        at[i + 4] = (uint8_t)high;
    }
    at[8] = (uint8_t)(kind | dt << 4);
    if (++ring->write_ptr == ring->depth) {
        ring->write_ptr = 0;
        ring->wrapped = true;
    }
    ring->stored++;
    ring->previous = cycle;
    ring->has_previous = true;
    ring->timed = kind == FF_KIND_TIME;
}

/* Rule 5: acceptance is shut; MARK in the cycle after the one in which post reached 0, TIME in the next. */
static void close_after(ff_ring *ring, uint64_t cycle)
{
    uint64_t since = cycle + 1 - ring->cause_cycle;
    if (since > FF_MARK_SINCE_CYCLES_MASK)
        since = FF_MARK_SINCE_CYCLES_MASK;
    put(ring, cycle + 1, FF_KIND_MARK, FF_PUT(MARK, CAUSES, ring->causes) | FF_PUT(MARK, SINCE_CYCLES, since));
    put(ring, cycle + 2, FF_KIND_TIME, cycle + 2);
    ring->state = FF_STATE_FROZEN;
}

/* One of post is used up in this cycle. */
static void spend(ff_ring *ring, uint64_t cycle)
{
    if (--ring->left == 0)
        close_after(ring, cycle);
}

static bool running(const ff_ring *ring)
{
    return ring->state == FF_STATE_ARMED || ring->state == FF_STATE_TRIGGERED;
}

/* Lets the cycles up to `until` end in which nothing more is recorded: TIME where one is due, and the drain of post. */
static void pass(ff_ring *ring, uint64_t until)
{
    while (running(ring)) {
        bool due = ring->has_previous && !ring->timed;
        uint64_t time = ring->previous + SILENCE;
        bool counts = ring->state == FF_STATE_TRIGGERED;
        /* The cycle that uses up one of post although nothing is recorded; post 0 shuts in the cycle of the cause. */
        uint64_t drop = ring->cause_cycle;
        if (counts && ring->left)
            drop += (uint64_t)(ring->drains + 1) << ring->drain_log2;
        if (due && time <= until && (!counts || time <= drop)) {
            put(ring, time, FF_KIND_TIME, time);
            if (counts && time > ring->cause_cycle)
                spend(ring, time);
        } else if (counts && drop <= until) {
            if (ring->left == 0) {
                close_after(ring, drop);
            } else {
                ring->drains++;
                spend(ring, drop);
            }
        } else {
            break;
        }
    }
}

/* Time never runs backwards in a ring: a cycle before the latest one counts as the latest. */
static uint64_t onward(ff_ring *ring, uint64_t cycle)
{
    if (cycle < ring->now) {
        ring->late++;
        return ring->now;
    }
    if (cycle > ring->now) {
        pass(ring, cycle - 1);
        ring->now = cycle;
    }
    return cycle;
}

void ff_ring_init(ff_ring *ring, uint8_t *records, uint32_t depth)
{
    static const ff_ring idle = {.kinds = 0xFFFF, .post = 64, .drain_log2 = 10, .timed = true};
    *ring = idle;
    ring->records = records;
    ring->depth = depth;
}

void ff_ring_arm(ff_ring *ring, uint64_t cycle)
{
    ff_ring_advance(ring, cycle); /* what was due until now is of the old recording */
    ring->write_ptr = ring->stored = ring->offered = ring->late = 0;
    ring->wrapped = ring->has_previous = false;
    ring->timed = true;
    ring->causes = 0;
    ring->cause_cycle = 0;
    ring->left = ring->drains = 0;
    ring->now = cycle + 1; /* record what comes after this cycle */
    ring->generation++;
    ring->state = FF_STATE_ARMED;
}

void ff_ring_record(ff_ring *ring, uint64_t cycle, unsigned kind, uint64_t data)
{
    if (!running(ring) || kind > 15 || !(ring->kinds & ~OWN_KINDS & 1u << kind))
        return;
    cycle = onward(ring, cycle);
    if (!running(ring))
        return;
    if (ring->state == FF_STATE_TRIGGERED && ring->left == 0 && cycle > ring->cause_cycle)
        return; /* closing */
    ring->offered++;
    put(ring, cycle, kind, data);
    if (ring->state == FF_STATE_TRIGGERED && cycle > ring->cause_cycle)
        spend(ring, cycle);
}

void ff_ring_event(ff_ring *ring, uint64_t cycle, unsigned kind, unsigned source, unsigned code, unsigned flow,
                   uint64_t value)
{
    ff_ring_record(ring, cycle, kind,
                   FF_PUT(EVENT, VALUE, value) | FF_PUT(EVENT, FLOW, flow) | FF_PUT(EVENT, SOURCE, source)
                       | FF_PUT(EVENT, CODE, code));
}

/* A record of an event log: value [0,40], low bits of its own cycle [40,16], source [56,8]. */
static void log_record(ff_ring *ring, uint64_t cycle, unsigned kind, unsigned source, uint64_t value)
{
    uint64_t at = cycle < ring->now ? ring->now : cycle; /* as it will be stored */
    ff_ring_record(ring, cycle, kind, FF_PUT(EVENT, VALUE, value) | (at & 0xFFFF) << 40 | FF_PUT(EVENT, CODE, source));
}

void ff_ring_log(ff_ring *ring, uint64_t cycle, unsigned event, uint64_t value)
{
    log_record(ring, cycle, FF_KIND_USER, event, value);
}

void ff_ring_state(ff_ring *ring, uint64_t cycle, unsigned machine, unsigned was, unsigned now)
{
    log_record(ring, cycle, FF_KIND_STATE, machine, FF_PUT(STATE_VALUE, NEW, now) | FF_PUT(STATE_VALUE, OLD, was));
}

void ff_ring_cause(ff_ring *ring, uint64_t cycle, uint16_t causes)
{
    if (!running(ring) || !causes)
        return;
    cycle = onward(ring, cycle);
    if (ring->state == FF_STATE_ARMED) {
        ring->state = FF_STATE_TRIGGERED;
        ring->causes = causes;
        ring->cause_cycle = cycle;
        ring->left = ring->post;
    } else if (ring->state == FF_STATE_TRIGGERED && cycle == ring->cause_cycle) {
        ring->causes |= causes;
    }
}

void ff_ring_advance(ff_ring *ring, uint64_t cycle)
{
    if (!running(ring) || cycle < ring->now)
        return;
    pass(ring, cycle);
    ring->now = cycle;
}

bool ff_ring_frozen(const ff_ring *ring)
{
    return ring->state == FF_STATE_FROZEN;
}
