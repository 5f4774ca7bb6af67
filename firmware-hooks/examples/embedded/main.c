/* SPDX-License-Identifier: Apache-2.0
 * A switch monitor on the processor inside a card: records an event for each packet, freezes at the first bad one, and prints
 * the frozen ring and the switch's counts on the serial console. The third worked example of docs/add-to-your-nic.md.
 */
#include "board.h"
#include "ff_console.h"
#include "switch_c_freezeframe.h" /* of 'freezeframe card build': the numbers of the card file switch-c.toml */

enum { RECORDS = 256, BUILD = 1 };
#define REPORT_CYCLES (UINT64_C(1) << 20)

static uint8_t memory[RECORDS * FF_RING_RECORD_B];
static ff_ring ring;
static ff_switch monitor;
static const ff_console console = {board_put, 0};

static void note(const board_packet *packet)
{
    uint64_t now = board_cycles();
    ff_switch_forwarded(&monitor, packet->flow, packet->words, packet->cycles);
    ff_switch_occupied(&monitor, packet->input, packet->output, packet->waiting);
    ff_ring_log(&ring, now, packet->bad ? SWITCH_C_EVENT_BAD : SWITCH_C_EVENT_FORWARDED,
                packet->words | (uint64_t)packet->input << 16 | (uint64_t)packet->output << 24 | (uint64_t)packet->flow << 32);
    if (packet->bad)
        ff_ring_cause(&ring, now, 1u << SWITCH_C_CAUSE_BAD_PACKET);
}

int main(void)
{
    const ff_identity identity = {BUILD, board_boot_nonce(), BOARD_CLK_HZ, FF_SWITCH_FLOWS, SWITCH_C_CARD_HASH, SWITCH_C_CAUSES};
    uint64_t report = REPORT_CYCLES;
    ff_ring_init(&ring, memory, RECORDS);
    ring.post = 32; /* records after the cause */
    ff_ring_arm(&ring, board_cycles());
    while (board_on()) {
        board_packet packet;
        uint64_t now = board_cycles();
        while (board_forwarded(&packet))
            note(&packet);
        ff_ring_advance(&ring, now); /* a switch that goes quiet closes the ring all the same */
        if (ff_ring_frozen(&ring)) {
            ff_console_dump(&console, &ring, &identity);
            ff_ring_arm(&ring, board_cycles());
        }
        if (now >= report) {
            report = now + REPORT_CYCLES;
            ff_console_switch(&console, &monitor, now);
        }
    }
    return 0;
}
