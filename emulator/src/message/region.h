/* region.h: what messages have allocated on a card. It stays when they are closed, as peers may still write
 * there: the next opening on the same card has it again. */
#ifndef MESSAGE_REGION_H
#define MESSAGE_REGION_H

#include "layer.h"
#include "message.h"

extern struct layer message_layer;

struct region {
    struct kept kept;
    bool used;
    size_t words;
    vic_addr_t base;
    uint32_t counters;
    unsigned counter[MOST_ACTIVITY + 2];
};

/* VIC_EBUSY: messages are open on this card. VIC_ENOSPC, VIC_ESYS. */
int region_find(vic_t *card, size_t words, uint32_t counters, struct region **result);

/* Messages are closed. */
void region_leave(vic_t *card);

#endif
