/* SPDX-License-Identifier: Apache-2.0
 * board_trace: the board as a program on a workstation whose switch forwards what standard input says, as
 * 'freezeframe what-if switch --deliveries FILE.csv' writes it: done_ps,flow,from,to,packets,took_ps,waiting,... in the order of
 * time, behind a line of headings. The console is standard output. Ends one report after the last packet.
 */
#include <inttypes.h>
#include <stdio.h>

#include "board.h"

enum { LOOP_CYCLES = 40 };
#define PS_PER_CYCLE (UINT64_C(1000000000000) / BOARD_CLK_HZ)
#define AFTER_CYCLES (UINT64_C(2) << 20)

static uint64_t cycle, next_ps, took_ps, end;
static board_packet next;
static enum { HEADINGS, NONE, THERE, OVER } state = HEADINGS;

static void take(void)
{
    if (state == HEADINGS)
        scanf("%*[^\n]");
    if (scanf(" %" SCNu64 ",%u,%u,%u,%" SCNu32 ",%" SCNu64 ",%" SCNu32 "%*[^\n]", &next_ps, &next.flow, &next.input, &next.output,
              &next.words, &took_ps, &next.waiting) == 7) {
        next.cycles = (uint32_t)(took_ps / PS_PER_CYCLE);
        state = THERE;
    } else {
        state = OVER;
        end = cycle + AFTER_CYCLES;
    }
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
    if (state == HEADINGS || state == NONE)
        take();
    if (state != THERE || next_ps / PS_PER_CYCLE > cycle)
        return false;
    *packet = next;
    state = NONE;
    return true;
}

uint32_t board_boot_nonce(void)
{
    return 0xB007;
}

bool board_on(void)
{
    return state != OVER || cycle < end;
}
