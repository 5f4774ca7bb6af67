/* SPDX-License-Identifier: Apache-2.0
 * Drives the C hooks by commands from standard input, a line each, numbers in hex; answers on standard output.
 *   I depth | A cycle | R cycle kind data | E cycle kind source code flow value | C cycle causes | T cycle | K kinds | P post
 *   F flow words cycles | O in out words | W port words_in packets_in bad_in told words_out packets_out bad_out
 *   ? state of the ring and its bytes | D dump as console lines | S switch as console lines (cycle)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ff_console.h"

static void put(void *context, char character)
{
    (void)context;
    putchar(character);
}

int main(void)
{
    static const ff_console console = {put, NULL};
    static const ff_identity identity = {0xB01DFACE, 0xC0FFEE, 50000000, 8, 0, 0};
    static ff_switch sw;
    ff_ring ring;
    uint8_t *memory = NULL;
    char line[256];
    uint32_t i;
    while (fgets(line, sizeof line, stdin)) {
        uint64_t a[8] = {0};
        char *at = line + 1;
        for (i = 0; i < 8; i++)
            a[i] = strtoull(at, &at, 16);
        switch (line[0]) {
        case 'I':
            free(memory);
            memory = calloc(a[0], FF_RING_RECORD_B);
            ff_ring_init(&ring, memory, (uint32_t)a[0]);
            break;
        case 'A': ff_ring_arm(&ring, a[0]); break;
        case 'R': ff_ring_record(&ring, a[0], (unsigned)a[1], a[2]); break;
        case 'E':
            ff_ring_event(&ring, a[0], (unsigned)a[1], (unsigned)a[2], (unsigned)a[3], (unsigned)a[4], a[5]);
            break;
        case 'C': ff_ring_cause(&ring, a[0], (uint16_t)a[1]); break;
        case 'T': ff_ring_advance(&ring, a[0]); break;
        case 'K': ring.kinds = (uint16_t)a[0]; break;
        case 'P': ring.post = (uint32_t)a[0]; break;
        case 'F': ff_switch_forwarded(&sw, (unsigned)a[0], (uint32_t)a[1], (uint32_t)a[2]); break;
        case 'O': ff_switch_occupied(&sw, (unsigned)a[0], (unsigned)a[1], (uint32_t)a[2]); break;
        case 'W': {
            const ff_switch_port counts = {a[1], a[5], a[4], (uint32_t)a[2], (uint32_t)a[6], (uint32_t)a[3], (uint32_t)a[7]};
            ff_switch_counted(&sw, (unsigned)a[0], &counts);
            break;
        }
        case 'D': printf(ff_console_dump(&console, &ring, &identity) ? "" : "not frozen\r\n"); break;
        case 'S': ff_console_switch(&console, &sw, a[0]); break;
        case '?':
            printf("%u %u %u %u %u %u %u %" PRIu64 " %u ", ring.state, ring.write_ptr, ring.wrapped, ring.stored, ring.offered,
                   ring.late, ring.causes, ring.cause_cycle, ring.generation);
            for (i = 0; i < ring.depth * FF_RING_RECORD_B; i++)
                printf("%02x", memory[i]);
            putchar('\n');
            break;
        default: return 2;
        }
        fflush(stdout);
    }
    free(memory);
    return 0;
}
