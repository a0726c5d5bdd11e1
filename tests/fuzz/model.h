/* model.h: the cards of a job as models/card has them, word by word, with a fabric that takes no time: what the cards of
 * cards.h are held against. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "card/vic.h"
#include "fuzz.h"
#include "handle.h"

enum { CARDS = 3, WORDS = 640, DEPTH = 8 };

struct model_card {
    dvsim_vic *vic;
    uint64_t sram[WORDS], fifo[DEPTH];
    size_t fifo_words;
    uint64_t counters;
};

struct model {
    struct model_card card[CARDS];
};

extern const struct job_config model_job; /* a job of the same size */

void model_open(struct model *model);
void model_close(struct model *model);

/* May a card send all of these? */
bool model_can_send(struct model *model, uint32_t from, const uint64_t *headers, const uint64_t *payloads, size_t n);

/* Do counters end the same however late packets are counted? A call may count its packets all at once: not if one
 * sets a counter that another counts down. */
bool model_commutes(const uint64_t *headers, const uint64_t *payloads, size_t n);

/* False: they put more words into a FIFO than there is room for. */
bool model_has_room(const struct model *model, const uint64_t *headers, const uint64_t *payloads, size_t n);

/* Packets that it can send and that have room, one after the other. */
void model_send(struct model *model, uint32_t from, const uint64_t *headers, const uint64_t *payloads, size_t n);

void model_put(struct model *model, uint32_t from, uint32_t dest, uint32_t addr, const uint64_t *words, size_t n,
               unsigned counter);

/* Take words out of the FIFO. */
size_t model_take(struct model *model, uint32_t from, uint64_t *words, size_t min, size_t max);

/* All that a program can see of the cards is the same; the FIFOs are empty then. */
void model_compare(struct model *model, vic_t **card);

/* The counters alone, of cards that may be closed. */
void model_compare_counters(const struct model *model, const struct job *job);

#endif
