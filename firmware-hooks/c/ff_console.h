/* SPDX-License-Identifier: Apache-2.0
 * ff_console: prints a frozen ring and the switch's counts as lines on a serial console, for `freezeframe console` at the other end.
 *
 * Every line is "ff:" TEXT " *" and four hex digits: the CRC-16/IBM-3740 of TEXT. Other output may stand between the lines; a line
 * that got damaged is told by its CRC. Freestanding C99; put() is the caller's and may wait for the UART.
 *
 * Lines; numbers are hex without 0x:
 *   begin GENERATION            a dump begins
 *   reg ADDRESS VALUE           a register of the map (docs/formats.md section 1; of a card with a file, docs/card-map.md section 1)
 *   rec SLOT BYTES              one record: 9 bytes in memory order, 18 digits
 *   end RECORDS CRC32           the dump is over: its records, and the CRC-32/ISO-HDLC over their bytes in slot order
 *   flow CYCLE FLOW WORDS       switch: words forwarded
 *   xpt CYCLE IN OUT NOW MOST   switch: words in a crosspoint
 *   port CYCLE PORT WORDS_IN PACKETS_IN BAD_IN TOLD WORDS_OUT PACKETS_OUT BAD_OUT
 *                               switch: what a port has counted (ff_switch.h)
 *   fwd CYCLE PACKETS CYCLES LEAST MOST REFUSED
 */
#ifndef FF_CONSOLE_H
#define FF_CONSOLE_H

#include "ff_ring.h"
#include "ff_switch.h"

typedef struct {
    void (*put)(void *context, char character);
    void *context;
} ff_console;

/* What the processor knows of itself. */
typedef struct {
    uint32_t build_hash, boot_nonce;
    uint32_t clk_hz;      /* of the cycles that the ring was given */
    uint32_t flows_count; /* 1..128; of a card without a file */
    uint64_t card_hash;   /* ..._CARD_HASH of the header of 'freezeframe card build'; 0: a card without a file */
    uint32_t causes;      /* ..._CAUSES of it */
} ff_identity;

/* Prints a frozen ring: identity, state, and every record that is valid. Returns false, printing nothing, when it is not frozen. */
bool ff_console_dump(const ff_console *console, const ff_ring *ring, const ff_identity *identity);

/* Prints what the switch counted, flows, crosspoints and ports that are 0 left out. "fwd" is the last line of it. */
void ff_console_switch(const ff_console *console, const ff_switch *sw, uint64_t cycle);

#endif
