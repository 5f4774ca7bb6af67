/* SPDX-License-Identifier: Apache-2.0
 * ff_switch: what the monitor of a switch counts: words a flow, words that stand in each crosspoint, cycles a packet takes through,
 * and what the counters of its ports say.
 *
 * Source: the switch monitor of the FORTH paper, section 3.7. Freestanding C99, no division.
 */
#ifndef FF_SWITCH_H
#define FF_SWITCH_H

#include <stdint.h>

#ifndef FF_SWITCH_PORTS
#define FF_SWITCH_PORTS 8
#endif
#ifndef FF_SWITCH_FLOWS
#define FF_SWITCH_FLOWS 128
#endif

/* What a port has counted since power-up; a packet when its last word passed, bad when a check of it failed there. */
typedef struct {
    uint64_t words_in, words_out;       /* packets and credits */
    uint64_t told;                      /* words of which the node was told that they left the crosspoints of this input */
    uint32_t packets_in, packets_out;
    uint32_t bad_in, bad_out;           /* packets and credits */
} ff_switch_port;

typedef struct {
    uint64_t words[FF_SWITCH_FLOWS];                              /* forwarded */
    uint32_t occupancy[FF_SWITCH_PORTS][FF_SWITCH_PORTS];         /* words now, [input][output] */
    uint32_t most_occupied[FF_SWITCH_PORTS][FF_SWITCH_PORTS];     /* since the last clear */
    uint64_t packets, cycles;                                     /* forwarded, and what they took in all */
    uint32_t least_cycles, most_cycles;                           /* of one packet; 0 without one */
    ff_switch_port ports[FF_SWITCH_PORTS];                        /* as they were read last */
    uint32_t refused;                                             /* calls with a flow or port that is none */
} ff_switch;

void ff_switch_clear(ff_switch *sw);

/* A packet has been forwarded: its flow, its words, and the cycles from its first word in to its last word out. */
void ff_switch_forwarded(ff_switch *sw, unsigned flow, uint32_t words, uint32_t cycles);

/* So many words stand in a crosspoint now. */
void ff_switch_occupied(ff_switch *sw, unsigned input, unsigned output, uint32_t words);

/* The counters of a port were read; they replace what was read before. */
void ff_switch_counted(ff_switch *sw, unsigned port, const ff_switch_port *counts);

#endif
