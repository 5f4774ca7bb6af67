/* SPDX-License-Identifier: Apache-2.0
 * board: what the example's main loop asks of the board it runs on. One file a board: board_riscv.c, board_host.c.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

#define BOARD_CLK_HZ 50000000u

/* A packet that the switch has forwarded since the last call. */
typedef struct {
    unsigned flow, input, output;
    uint32_t words;    /* 64-bit words */
    uint32_t cycles;   /* from its first word in to its last word out */
    uint32_t waiting;  /* words that stood in the crosspoint then */
    bool bad;          /* its payload CRC was wrong */
} board_packet;

uint64_t board_cycles(void);                    /* of BOARD_CLK_HZ, since power-up; never smaller than before */
void board_put(void *context, char character);  /* to the serial console; waits for the UART */
bool board_forwarded(board_packet *packet);     /* false: none */
uint32_t board_boot_nonce(void);                /* another number at every power-up */
bool board_on(void);                            /* false: the program is to end */

#endif
