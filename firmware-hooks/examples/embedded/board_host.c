/* SPDX-License-Identifier: Apache-2.0
 * board_host: the board as a program on a workstation: the console is standard output, and a made-up switch forwards PACKETS
 * packets, of which number BAD is bad. What it forwarded it says on standard error, a line each, so that a test can compare.
 */
#include <stdio.h>

#include "board.h"

enum { PACKETS = 400, BAD = 300, LOOP_CYCLES = 40, EVERY = 25 };

static uint64_t cycle;
static unsigned forwarded;
static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (seed >> 8) % below;
}

uint64_t board_cycles(void)
{
    return cycle += LOOP_CYCLES;
}

void board_put(void *context, char character)
{
    (void)context;
    putchar(character);
}

bool board_forwarded(board_packet *packet)
{
    if (forwarded == PACKETS || draw(EVERY))
        return false;
    packet->flow = draw(8);
    packet->input = draw(4);
    packet->output = draw(4);
    packet->words = 3 + draw(512);
    packet->cycles = packet->words + 9 + draw(30);
    packet->waiting = draw(64);
    packet->bad = ++forwarded == BAD;
    fprintf(stderr, "%u %u %u %u %u\n", packet->flow, packet->input, packet->output, (unsigned)packet->words, packet->bad);
    return true;
}

uint32_t board_boot_nonce(void)
{
    return 0xB007;
}

bool board_on(void)
{
    return forwarded < PACKETS || cycle < UINT64_C(2) << 20;
}
