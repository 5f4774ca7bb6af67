/* SPDX-License-Identifier: Apache-2.0
 * ff_defrag as a program of a RISC-V core: frames from a port, deliveries to it. 0 length, 4 next byte, 8 frames of a delivery, 12 its bytes,
 * 16 done.
 */
#include <stddef.h>

#include "ff_defrag.h"

static volatile uint32_t *const port = (volatile uint32_t *)(uintptr_t)0x10020000u;
static volatile uint8_t *const bytes_in = (volatile uint8_t *)(uintptr_t)0x10020004u;
static volatile uint8_t *const bytes_out = (volatile uint8_t *)(uintptr_t)0x1002000Cu;

void *memset(void *at, int value, size_t count);

static void deliver(void *context, const uint8_t *bytes, uint32_t length, unsigned frames)
{
    (void)context;
    port[2] = frames;
    while (length--)
        *bytes_out = *bytes++;
}

void *memset(void *at, int value, size_t count)
{
    volatile uint8_t *byte = at;
    while (count--)
        *byte++ = (uint8_t)value;
    return at;
}

int main(void)
{
    static uint8_t buffer[9000], frame[1600];
    static ff_defrag defrag;
    uint32_t length, i;
    ff_defrag_init(&defrag, buffer, sizeof buffer, deliver, NULL);
    while ((length = port[0]) != 0xFFFFFFFFu) {
        for (i = 0; i < length; i++)
            frame[i] = *bytes_in;
        ff_defrag_frame(&defrag, frame, length);
    }
    ff_defrag_flush(&defrag);
    port[4] = 1;
    return 0;
}
