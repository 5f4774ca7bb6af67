/* SPDX-License-Identifier: Apache-2.0 */
#include "ff_defrag.h"

enum { ETHERNET_B = 14, IP_B = 20, UDP_B = 8, TYPE = 12, VERSION = 14, LENGTH = 16, ID = 18, OFFSET = 20, PROTOCOL = 23, SUM = 24,
       SOURCE = 26, UDP_LENGTH = 38, UDP_SUM = 40 };
enum { MORE = 0x2000, RESERVED_OR_DONT = 0xC000, OFFSET_MASK = 0x1FFF, UDP = 17 };

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static void put(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

#ifndef FF_DEFRAG_COPY
#define FF_DEFRAG_COPY copy
static void copy(uint8_t *to, const uint8_t *from, uint32_t count)
{
    while (count--)
        *to++ = *from++;
}
#endif

static bool same(const uint8_t *a, const uint8_t *b, uint32_t count)
{
    while (count--)
        if (*a++ != *b++)
            return false;
    return true;
}

#ifndef FF_DEFRAG_SUM
#define FF_DEFRAG_SUM sum
/* The ones' complement sum of 16-bit words added to one, not complemented; an odd last byte is the high one of its word. */
static uint32_t sum(const uint8_t *at, uint32_t count, uint32_t start)
{
    uint32_t total = start;
    for (; count > 1; count -= 2, at += 2)
        total += get(at); /* 65,535 bytes cannot overflow 32 bits */
    if (count)
        total += (uint32_t)at[0] << 8;
    while (total >> 16)
        total = (total & 0xFFFF) + (total >> 16);
    return total;
}
#endif

/* Whether a frame is a whole fragment of UDP: IPv4 without options whose header checksum and length agree. */
static bool is_fragment(const uint8_t *frame, uint32_t length)
{
    uint32_t bytes, flags;
    if (length < FF_DEFRAG_HEADER_B || get(frame + TYPE) != 0x0800 || frame[VERSION] != 0x45 || frame[PROTOCOL] != UDP)
        return false;
    bytes = get(frame + LENGTH);
    flags = get(frame + OFFSET);
    if (bytes <= IP_B || ETHERNET_B + bytes > length || (flags & RESERVED_OR_DONT) || FF_DEFRAG_SUM(frame + VERSION, IP_B, 0) != 0xFFFF)
        return false;
    if (flags & MORE) /* one that is held is given back as it came: it must have no padding */
        return ETHERNET_B + bytes == length && (bytes - IP_B) % 8 == 0;
    return (flags & OFFSET_MASK) != 0;
}

/* Whether what is gathered is a UDP datagram whose length and checksum agree; one without a checksum is taken by its length. */
static bool is_datagram(const ff_defrag *defrag)
{
    const uint8_t *buffer = defrag->buffer;
    uint32_t bytes = defrag->held - FF_DEFRAG_HEADER_B;
    if (get(buffer + UDP_LENGTH) != bytes)
        return false;
    return get(buffer + UDP_SUM) == 0 || FF_DEFRAG_SUM(buffer + FF_DEFRAG_HEADER_B, bytes, FF_DEFRAG_SUM(buffer + SOURCE, 8, UDP + bytes)) == 0xFFFF;
}

static void give_alone(ff_defrag *defrag, const uint8_t *frame, uint32_t length)
{
    defrag->alone++;
    defrag->deliver(defrag->context, frame, length, 1);
}

/* The guess was wrong: every frame held goes on as it came. The header of each takes the place of payload that has gone before it. */
static void fall_back(ff_defrag *defrag, ff_defrag_reason reason)
{
    uint32_t i, begin = 0;
    if (defrag->count == 0)
        return;
    defrag->wrong[reason]++;
    for (i = 0; i < defrag->count; i++) {
        if (i > 0)
            begin = defrag->ends[i - 1] - FF_DEFRAG_HEADER_B;
        FF_DEFRAG_COPY(defrag->buffer + begin, defrag->headers[i], FF_DEFRAG_HEADER_B);
        give_alone(defrag, defrag->buffer + begin, defrag->ends[i] - begin);
    }
    defrag->count = 0;
}

/* One more fragment stands behind those that are held. */
static void hold(ff_defrag *defrag, const uint8_t *frame, uint32_t payload)
{
    if (defrag->count == 0) {
        FF_DEFRAG_COPY(defrag->buffer, frame, FF_DEFRAG_HEADER_B);
        defrag->held = FF_DEFRAG_HEADER_B;
    }
    FF_DEFRAG_COPY(defrag->buffer + defrag->held, frame + FF_DEFRAG_HEADER_B, payload);
    FF_DEFRAG_COPY(defrag->headers[defrag->count], frame, FF_DEFRAG_HEADER_B);
    defrag->held += payload;
    defrag->ends[defrag->count++] = defrag->held;
}

/* What the next fragment says of the guess; FF_DEFRAG_REASONS: it belongs behind those that are held. */
static ff_defrag_reason verdict(const ff_defrag *defrag, const uint8_t *frame, uint32_t payload)
{
    const uint8_t *first = defrag->buffer;
    uint32_t offset = (get(frame + OFFSET) & OFFSET_MASK) << 3;
    uint32_t next = defrag->held - FF_DEFRAG_HEADER_B;
    if (!same(frame, first, ETHERNET_B + 2) || get(frame + ID) != get(first + ID) || !same(frame + SOURCE, first + SOURCE, 8))
        return FF_DEFRAG_OTHER; /* also where the type of service differs: one header could not tell both */
    if (offset != next)
        return offset > next ? FF_DEFRAG_GAP : FF_DEFRAG_REORDER;
    if (defrag->count == FF_DEFRAG_FRAMES || payload > defrag->size - defrag->held || IP_B + next + payload > 0xFFFF)
        return FF_DEFRAG_TOO_LONG;
    return FF_DEFRAG_REASONS;
}

/* The last fragment has come: one IP header for all of it, or frame by frame where UDP does not agree. */
static void finish(ff_defrag *defrag, const uint8_t *frame, uint32_t length)
{
    uint8_t *buffer = defrag->buffer;
    if (!is_datagram(defrag)) {
        defrag->count--; /* the last one goes on from where it came: it may have padding that the buffer has not */
        fall_back(defrag, FF_DEFRAG_CHECKSUM);
        give_alone(defrag, frame, length);
        return;
    }
    put(buffer + LENGTH, defrag->held - ETHERNET_B);
    put(buffer + OFFSET, 0);
    put(buffer + SUM, 0);
    put(buffer + SUM, ~FF_DEFRAG_SUM(buffer + VERSION, IP_B, 0) & 0xFFFF);
    defrag->datagrams++;
    defrag->deliver(defrag->context, buffer, defrag->held, defrag->count);
    defrag->count = 0;
}

void ff_defrag_init(ff_defrag *defrag, uint8_t *buffer, uint32_t size, ff_defrag_deliver deliver, void *context)
{
    *defrag = (ff_defrag){.deliver = deliver, .context = context, .buffer = buffer, .size = size};
}

void ff_defrag_frame(ff_defrag *defrag, const uint8_t *frame, uint32_t length)
{
    uint32_t payload, flags;
    defrag->frames++;
    if (!is_fragment(frame, length)) {
        fall_back(defrag, FF_DEFRAG_OTHER);
        give_alone(defrag, frame, length);
        return;
    }
    payload = get(frame + LENGTH) - IP_B;
    flags = get(frame + OFFSET);
    if (defrag->count) {
        ff_defrag_reason found = verdict(defrag, frame, payload);
        if (found == FF_DEFRAG_REASONS) {
            hold(defrag, frame, payload);
            if (!(flags & MORE))
                finish(defrag, frame, length);
            return;
        }
        fall_back(defrag, found);
    }
    if ((flags & OFFSET_MASK) == 0 && payload >= UDP_B && FF_DEFRAG_HEADER_B + payload <= defrag->size)
        hold(defrag, frame, payload); /* the first of a datagram: the guess begins */
    else
        give_alone(defrag, frame, length);
}

void ff_defrag_flush(ff_defrag *defrag)
{
    fall_back(defrag, FF_DEFRAG_LATE);
}
