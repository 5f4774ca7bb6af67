/* SPDX-License-Identifier: Apache-2.0
 * Drives ff_defrag by commands from standard input, a line each.
 *   B size     a buffer of so many bytes, the rest forgotten | F hex      a frame | T          the rest does not come
 * Prints a line "frames hex" for each delivery, and at the end "= frames datagrams alone wrong...".
 * Buffer and frame are allocated to the byte, so that the sanitizer sees every access beside them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ff_defrag.h"

static void deliver(void *context, const uint8_t *bytes, uint32_t length, unsigned frames)
{
    uint32_t i;
    (void)context;
    printf("%u ", frames);
    for (i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

static uint8_t digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

int main(void)
{
    static char line[200000];
    static ff_defrag defrag;
    uint8_t *buffer = NULL;
    unsigned i;
    while (fgets(line, sizeof line, stdin)) {
        size_t digits = strcspn(line + 2, "\n"), at;
        uint8_t *frame;
        switch (line[0]) {
        case 'B':
            free(buffer);
            buffer = malloc(strtoul(line + 2, NULL, 10));
            ff_defrag_init(&defrag, buffer, (uint32_t)strtoul(line + 2, NULL, 10), deliver, NULL);
            break;
        case 'F':
            frame = malloc(digits / 2 + !digits);
            for (at = 0; at < digits / 2; at++)
                frame[at] = (uint8_t)(digit(line[2 + 2 * at]) << 4 | digit(line[3 + 2 * at]));
            ff_defrag_frame(&defrag, frame, (uint32_t)(digits / 2));
            free(frame);
            break;
        case 'T': ff_defrag_flush(&defrag); break;
        default: return 2;
        }
    }
    printf("= %" PRIu32 " %" PRIu32 " %" PRIu32, defrag.frames, defrag.datagrams, defrag.alone);
    for (i = 0; i < FF_DEFRAG_REASONS; i++)
        printf(" %" PRIu32, defrag.wrong[i]);
    putchar('\n');
    free(buffer);
    return 0;
}
