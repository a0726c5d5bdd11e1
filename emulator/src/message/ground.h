/* ground.h: what messages have allocated on a card. It stays when they are closed, as peers may still write
 * there: the next opening on the same card has it again. */
#ifndef MESSAGE_GROUND_H
#define MESSAGE_GROUND_H

#include "layer.h"
#include "message.h"

extern struct layer message_layer;

struct ground {
    struct kept kept;
    bool used;
    size_t words;
    vic_addr_t base;
    uint32_t counters;
    unsigned counter[MOST_ACTIVITY + 2];
};

/* VIC_EBUSY: messages are open on this card. VIC_ENOSPC, VIC_ESYS. */
int ground_find(vic_t *card, size_t words, uint32_t counters, struct ground **result);

/* Messages are closed. */
void ground_leave(vic_t *card);

#endif
