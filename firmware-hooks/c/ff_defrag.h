/* SPDX-License-Identifier: Apache-2.0
 * ff_defrag: speculative defragmentation. Frames of one UDP datagram that come in a row are stripped, gathered in one buffer and handed to
 * the host as one; where the guess that they come in a row was wrong, every frame goes on as it came, in order, and none is lost.
 *
 * A guess is wrong when another frame comes in between, one is missing, two are exchanged, a length or checksum does not agree, or the rest does
 * not come. The host's own protocol stack then sees what it would have seen without this.
 *
 * Source: RFC 791 (fragments), RFC 768 (UDP), RFC 1071 (checksum). Freestanding C99, no allocation, no division.
 */
#ifndef FF_DEFRAG_H
#define FF_DEFRAG_H

#include <stdbool.h>
#include <stdint.h>

#ifndef FF_DEFRAG_FRAMES
#define FF_DEFRAG_FRAMES 8 /* of a datagram, at most; a longer one goes frame by frame */
#endif
/* A card that copies by DMA, or has an adder for checksums, says here what it calls instead: FF_DEFRAG_COPY(to, from, count),
 * FF_DEFRAG_SUM(bytes, count, start) as in ff_defrag.c. */
enum { FF_DEFRAG_HEADER_B = 34 }; /* Ethernet and IPv4 without options */

/* Why a guess was wrong. */
typedef enum {
    FF_DEFRAG_OTHER,    /* a frame that does not belong to the datagram */
    FF_DEFRAG_GAP,      /* a later fragment of it */
    FF_DEFRAG_REORDER,  /* an earlier one, or one again */
    FF_DEFRAG_CHECKSUM, /* UDP's length or checksum does not agree */
    FF_DEFRAG_TOO_LONG, /* more frames or bytes than there is room for */
    FF_DEFRAG_LATE,     /* ff_defrag_flush: the rest did not come */
    FF_DEFRAG_REASONS
} ff_defrag_reason;

/* Hands so many bytes to the host, one DMA and one descriptor: a frame as it came, or with frames > 1 a whole datagram with the Ethernet
 * header of its first frame and one IP header. It must have taken the bytes when it returns. */
typedef void (*ff_defrag_deliver)(void *context, const uint8_t *bytes, uint32_t length, unsigned frames);

typedef struct {
    ff_defrag_deliver deliver;
    void *context;
    uint8_t *buffer;
    uint32_t size;                                              /* bytes of the buffer */
    uint32_t held;                                              /* bytes in it, with the headers of the first frame */
    uint32_t count;                                             /* frames held */
    uint32_t ends[FF_DEFRAG_FRAMES];                            /* where the payload of each ends in the buffer */
    uint8_t headers[FF_DEFRAG_FRAMES][FF_DEFRAG_HEADER_B];      /* of each, as they came */
    uint32_t frames, datagrams, alone;                          /* in; out as one; out frame by frame */
    uint32_t wrong[FF_DEFRAG_REASONS];                          /* guesses that were wrong */
} ff_defrag;

void ff_defrag_init(ff_defrag *defrag, uint8_t *buffer, uint32_t size, ff_defrag_deliver deliver, void *context);

/* A frame has come, from its destination address on, without FCS. */
void ff_defrag_frame(ff_defrag *defrag, const uint8_t *frame, uint32_t length);

/* What is held goes on frame by frame: when the rest has not come for a while, and before the card stops. */
void ff_defrag_flush(ff_defrag *defrag);

#endif
