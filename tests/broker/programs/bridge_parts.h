/* bridge_parts.h: parts of vicbridge on a socket pair instead of a broker, and on a card of which only the answers
 * matter: what is sent to it is noted. */
#ifndef BRIDGE_PARTS_H
#define BRIDGE_PARTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../model/check.h"
#include "publish.h"

/* What the card answers, how often it was asked, and the last envelope that was given to it. */
extern _Atomic int card_status;
extern _Atomic uint64_t card_opens, card_envelopes, card_tries;
extern struct vic_envelope card_last;
extern uint32_t card_to;

/* The so-manieth from now on of what the bridge allocates, or of its threads, is not to be had; 0: all are. */
extern _Atomic int memory_fails_in, threads_fail_in;

struct wire {
    struct link *link;
    int broker; /* the other end */
};

/* A link that has logged in, as it seems. */
struct wire wire_open(struct link *link, struct bridge *bridge);
void wire_close(struct wire *wire);

/* A frame of the broker; `method` is the class and the method, `arguments` and so many bytes follow. */
void wire_method(struct wire *wire, unsigned channel, unsigned class_id, unsigned method, const char *arguments,
                 size_t bytes);
void wire_header(struct wire *wire, unsigned channel, uint64_t body_bytes, const char *message_id);
void wire_body(struct wire *wire, unsigned channel, const char *text);
void wire_frame(struct wire *wire, unsigned type, unsigned channel, const void *payload, size_t bytes);

/* Read what was sent to the broker: up to `most` bytes, those that are there. */
size_t wire_read(struct wire *wire, unsigned char *room, size_t most);

/* A message as it comes off the card. */
struct message *a_message(uint64_t id, const char *body);

/* An envelope of card 1 as the main thread hands it to the consumer. */
struct message *an_envelope(const struct vic_envelope *envelope);

#define ARGUMENTS(text) text, sizeof text - 1

#endif
