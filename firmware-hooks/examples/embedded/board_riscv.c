/* SPDX-License-Identifier: Apache-2.0
 * board_riscv: the board as a RISC-V core (RV32 or RV64 with the cycle counter) with a 16550 UART and the switch's report port.
 *
 * Report port, 32-bit words: 0 bit 0 a report stands (write: it has been taken); 1 flow [0,8] input [8,8] output [16,8] bad [24,1];
 * 2 words; 3 cycles; 4 words waiting in the crosspoint; 5 the boot nonce that the hardware drew.
 */
#include <stddef.h>

#include "board.h"

void *memset(void *at, int value, size_t count);

#ifndef BOARD_UART
#define BOARD_UART 0x10000000u
#endif
#ifndef BOARD_SWITCH
#define BOARD_SWITCH 0x10010000u
#endif
enum { THR = 0, LSR = 5, LSR_EMPTY = 0x20 };

static volatile uint8_t *const uart = (volatile uint8_t *)(uintptr_t)BOARD_UART;
static volatile uint32_t *const port = (volatile uint32_t *)(uintptr_t)BOARD_SWITCH;

uint64_t board_cycles(void)
{
#if __riscv_xlen == 32
    uint32_t high, low, again;
    do { /* the low half may carry between the reads */
        __asm__ volatile("rdcycleh %0\n\trdcycle %1\n\trdcycleh %2" : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
#else
    uint64_t cycle;
    __asm__ volatile("rdcycle %0" : "=r"(cycle));
    return cycle;
#endif
}

void board_put(void *context, char character)
{
    (void)context;
    while (!(uart[LSR] & LSR_EMPTY)) {
    }
    uart[THR] = (uint8_t)character;
}

bool board_forwarded(board_packet *packet)
{
    uint32_t ports;
    if (!(port[0] & 1))
        return false;
    ports = port[1];
    packet->flow = ports & 0xFF;
    packet->input = ports >> 8 & 0xFF;
    packet->output = ports >> 16 & 0xFF;
    packet->bad = ports >> 24 & 1;
    packet->words = port[2];
    packet->cycles = port[3];
    packet->waiting = port[4];
    port[0] = 1;
    return true;
}

uint32_t board_boot_nonce(void)
{
    return port[5];
}

bool board_on(void)
{
    return true;
}

/* A compiler may call it although the program has no library (here to clear a ring or the switch's counts). */
void *memset(void *at, int value, size_t count)
{
    volatile uint8_t *byte = at;
    while (count--)
        *byte++ = (uint8_t)value;
    return at;
}
