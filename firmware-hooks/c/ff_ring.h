/* SPDX-License-Identifier: Apache-2.0
 * ff_ring: the trace memory of Freezeframe for a processor inside the network card: 72-bit records in a ring of bytes.
 *
 * The same stimulus gives the same bytes as the hardware's recorder does (docs/formats.md section 2, rules 1 to 5 and 7); as in the
 * event log several records may be of one cycle (dt 0). Nothing is lost: what is offered is stored until the ring closes.
 *
 * Freestanding C99. No allocation, no division, no lock: call with interrupts off where an interrupt records, too. Time is
 * what the caller gives: cycles of one clock, 64 bits, never smaller than before. What a call costs: docs/c-hooks.md.
 */
#ifndef FF_RING_H
#define FF_RING_H

#include <stdbool.h>
#include <stdint.h>

#define FF_RING_RECORD_B 9 /* data, least significant byte first, then kind | dt << 4 */

typedef struct {
    uint8_t *records;     /* depth * FF_RING_RECORD_B bytes */
    uint32_t depth;       /* records, 1.. */
    uint32_t write_ptr;   /* slot the next record takes */
    bool wrapped;         /* every slot has been written since arm */
    uint32_t stored;      /* records since arm: TIME and MARK, too */
    uint32_t offered;     /* events since arm that were let in */
    uint32_t late;        /* records whose cycle was smaller than one before: stored with the cycle before */
    uint16_t kinds;       /* mask of the kinds that are recorded */
    uint32_t post;        /* records stored after a cause; taken when the cause comes */
    uint32_t drain_log2;  /* a missing record counts as one of post every 2^drain_log2 cycles */
    uint32_t generation;  /* counts arms */
    uint8_t state;        /* enum ff_state */
    uint16_t causes;      /* mask of enum ff_cause, or of the causes of the card's header: the first cause, and those of its cycle */
    uint64_t cause_cycle;
    /* the clockwork */
    uint64_t now;         /* latest cycle that was seen */
    uint64_t previous;    /* cycle of the previous stored record */
    bool has_previous, timed;
    uint32_t left, drains;
} ff_ring;

/* Makes a ring over memory that holds depth records; it is idle. The memory is not touched. */
void ff_ring_init(ff_ring *ring, uint8_t *records, uint32_t depth);

/* Begins a new recording with what comes after this cycle. What the ring held is overwritten bit by bit. */
void ff_ring_arm(ff_ring *ring, uint64_t cycle);

/* Records a word or an event of this cycle. Kinds of enum ff_kind but MARK, LOSS and TIME, which are the recorder's own. */
void ff_ring_record(ff_ring *ring, uint64_t cycle, unsigned kind, uint64_t data);

/* Records an event; value is 40 bits, source and code of the enums in ff_formats.h. */
void ff_ring_event(ff_ring *ring, uint64_t cycle, unsigned kind, unsigned source, unsigned code, unsigned flow,
                   uint64_t value);

/* The same for a card that is described by a file, in the form of its event log (docs/card-map.md section 6). The number of an event
 * (..._EVENT_...) or a state machine (..._MACHINE_...) stands in the header of 'freezeframe card build'; value has 40 bits. */
void ff_ring_log(ff_ring *ring, uint64_t cycle, unsigned event, uint64_t value);
void ff_ring_state(ff_ring *ring, uint64_t cycle, unsigned machine, unsigned was, unsigned now);

/* Notes causes to freeze (mask) of this cycle. The first cycle with a cause latches; later ones change nothing. */
void ff_ring_cause(ff_ring *ring, uint64_t cycle, uint16_t causes);

/* Lets time pass up to this cycle, itself included: call it now and then, so that a program that hangs still freezes. */
void ff_ring_advance(ff_ring *ring, uint64_t cycle);

/* Whether the ring has closed; it changes no more until it is armed. */
bool ff_ring_frozen(const ff_ring *ring);

#endif
