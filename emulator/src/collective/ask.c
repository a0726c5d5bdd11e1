/* Reading words of other cards, by queries, and of this card. */
#include "team.h"

enum { DIRECT = 1 /* word; more are fetched by DMA */, BATCH = 64 };
enum { ANSWER_NS = 20 * 1000 * 1000, TIMES = 5 };

static int start(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, vic_dma_t **dma)
{
    int status = n > DIRECT ? vic_dma_read(card, to, addr, n, dma) : VIC_ENOSPC;
    if (status == VIC_ENOSPC) { /* one word; or the program's own transfers fill the table */
        *dma = NULL;
        status = vic_read(card, addr, to, n);
    }
    return status;
}

static int finish(vic_t *card, vic_dma_t **dma)
{
    return *dma != NULL ? vic_dma_wait(card, dma, VIC_FOREVER) : VIC_OK;
}

int fetch_words(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n)
{
    vic_dma_t *dma = NULL;
    int status = n != 0 ? start(card, addr, to, n, &dma) : VIC_OK;
    return status == VIC_OK ? finish(card, &dma) : status;
}

int fetch_except(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, size_t own, size_t own_end)
{
    vic_dma_t *first = NULL, *second = NULL;
    int status = own != 0 ? start(card, addr, to, own, &first) : VIC_OK, other = VIC_OK;
    if (status == VIC_OK && own_end < n) {
        other = start(card, addr + (vic_addr_t)own_end, to + own_end, n - own_end, &second);
    }
    if (status == VIC_OK) {
        status = finish(card, &first); /* even if the second has failed: the first still writes to `to` */
    }
    if (status == VIC_OK && other == VIC_OK) {
        other = finish(card, &second);
    }
    return status == VIC_OK ? other : status;
}

static int send_all(struct directory *directory, const struct question *question, size_t n, size_t each)
{
    uint64_t header[BATCH], reply_header[BATCH];
    vic_addr_t reply = directory->base + RECORD * directory->attr.cards;
    int status = VIC_OK;
    for (size_t i = 0, count = 0; i < n * each && status == VIC_OK; i++) {
        const struct question *asked = &question[i / each];
        header[count] = vic_header(asked->card, VIC_QUERY, asked->addr + (vic_addr_t)(i % each), VIC_NO_COUNTER);
        reply_header[count++] = vic_header(directory->attr.card, VIC_WRITE, reply + (vic_addr_t)i, directory->counter);
        if (count == BATCH || i + 1 == n * each) {
            status = vic_send(directory->kept.card, header, reply_header, count);
            count = 0;
        }
    }
    return status;
}

/* Functional mode: write a word that no answer has where the answers will come. */
static int mark_replies(struct directory *directory, size_t n)
{
    uint64_t word[BATCH];
    vic_addr_t reply = directory->base + RECORD * directory->attr.cards;
    int status = VIC_OK;
    directory->mark = mix(directory->mark + 1);
    for (size_t i = 0; i < BATCH; i++) {
        word[i] = directory->mark;
    }
    for (size_t i = 0; i < n && status == VIC_OK; i += BATCH) {
        status = vic_write(directory->kept.card, reply + (vic_addr_t)i, word, n - i < BATCH ? n - i : BATCH);
    }
    return status;
}

static int look_for_replies(struct directory *directory, size_t n, bool *complete)
{
    uint64_t word[BATCH];
    vic_addr_t reply = directory->base + RECORD * directory->attr.cards;
    int status = VIC_OK;
    *complete = true;
    for (size_t i = 0; i < n && status == VIC_OK && *complete; i += BATCH) {
        size_t count = n - i < BATCH ? n - i : BATCH;
        status = vic_read(directory->kept.card, reply + (vic_addr_t)i, word, count);
        for (size_t k = 0; k < count && status == VIC_OK; k++) {
            *complete &= word[k] != directory->mark;
        }
    }
    return status;
}

/* Wait until all answers have come, even if the time for counting them is over: those of another host may come at any
 * later time, and would then be taken for answers of the next question. If the counter reads 0 early, a program has
 * written to it: set it again, as the wait would end at once each time, and never notice that a card has died. */
static int wait_answers(struct directory *directory, size_t n, uint64_t timeout_ns)
{
    bool complete = directory->attr.mode == 1, early = false;
    int status;
    do {
        status = vic_counter_wait(directory->kept.card, directory->counter, timeout_ns);
        if (!complete && (status == VIC_OK || status == VIC_ETIMEDOUT)) {
            int look = look_for_replies(directory, n, &complete);
            if (status == VIC_OK && look == VIC_OK && !complete) {
                look = vic_counter_set(directory->kept.card, directory->counter, 1);
                early = true;
            }
            status = look != VIC_OK ? look : status;
            vic_relax(directory->kept.card);
        }
    } while (!complete && (status == VIC_OK || status == VIC_ETIMEDOUT));
    if (status == VIC_ETIMEDOUT && early) {
        return VIC_OK; /* all have come; whether they were counted is not known any more */
    }
    if (status == VIC_ETIMEDOUT && directory->attr.mode != 1) { /* the last one came just now, and is counted in a moment */
        status = vic_counter_wait(directory->kept.card, directory->counter, timeout_ns);
    }
    return status;
}

/* If a program writes to the counter of the answers, ask again, each time with twice the timeout, and at last fail. */
static int ask(struct directory *directory, const struct question *question, size_t n, size_t each)
{
    int status = VIC_ETIMEDOUT;
    for (int times = 0; times < TIMES && status == VIC_ETIMEDOUT; times++) {
        status = directory->attr.mode == 1 ? VIC_OK : mark_replies(directory, n * each);
        if (status == VIC_OK) {
            status = vic_counter_set(directory->kept.card, directory->counter, (int64_t)(n * each));
        }
        if (status == VIC_OK) {
            status = send_all(directory, question, n, each);
        }
        if (status == VIC_OK) {
            status = wait_answers(directory, n * each, (uint64_t)ANSWER_NS << times);
        }
    }
    return status != VIC_ETIMEDOUT ? status
                                   : fail(VIC_EPEER, "answers of other cards are not counted: a program counts on counter "
                                                     "%u, which a team uses", directory->counter);
}

int directory_ask(struct directory *directory, const struct question *question, size_t n, size_t each, uint64_t *answer)
{
    if (n == 0) {
        return VIC_OK;
    }
    /* vic_relax lets time pass, without which the other thread could not go on in timed mode */
    while (atomic_exchange(&directory->asking, 1) != 0) {
        vic_relax(directory->kept.card);
    }
    int status = directory->failed;
    if (status == VIC_OK) {
        status = ask(directory, question, n, each);
    }
    if (status == VIC_OK) {
        vic_addr_t reply = directory->base + RECORD * directory->attr.cards;
        status = fetch_words(directory->kept.card, reply, answer, n * each);
    }
    directory->failed = status;
    atomic_store(&directory->asking, 0);
    return status;
}
