/* Words of other cards, by queries; words of this card. */
#include "fail.h"
#include "meeting.h"

enum { DIRECT = 1 /* word; more are fetched by DMA */, BATCH = 64 };
enum { ANSWER_NS = 20 * 1000 * 1000, TIMES = 5 };

static int start(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, vic_dma_t **dma)
{
    int status = n > DIRECT ? vic_dma_read(card, to, addr, n, dma) : VIC_ENOSPC;
    if (status == VIC_ENOSPC) { /* or the program uses all of the table */
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

int fetch_round(vic_t *card, vic_addr_t addr, uint64_t *to, size_t n, size_t own, size_t own_end)
{
    vic_dma_t *first = NULL, *second = NULL;
    int status = own != 0 ? start(card, addr, to, own, &first) : VIC_OK, other = VIC_OK;
    if (status == VIC_OK && own_end < n) {
        other = start(card, addr + (vic_addr_t)own_end, to + own_end, n - own_end, &second);
    }
    if (status == VIC_OK) {
        status = finish(card, &first); /* also if the other one failed: it writes to `to` */
    }
    if (status == VIC_OK && other == VIC_OK) {
        other = finish(card, &second);
    }
    return status == VIC_OK ? other : status;
}

static int send_all(struct meeting *meeting, const struct question *question, size_t n, size_t each)
{
    uint64_t header[BATCH], wish[BATCH];
    vic_addr_t reply = meeting->base + RECORD * meeting->attr.cards;
    int status = VIC_OK;
    for (size_t i = 0, count = 0; i < n * each && status == VIC_OK; i++) {
        const struct question *asked = &question[i / each];
        header[count] = vic_header(asked->card, VIC_QUERY, asked->addr + (vic_addr_t)(i % each), VIC_NO_COUNTER);
        wish[count++] = vic_header(meeting->attr.card, VIC_WRITE, reply + (vic_addr_t)i, meeting->counter);
        if (count == BATCH || i + 1 == n * each) {
            status = vic_send(meeting->kept.card, header, wish, count);
            count = 0;
        }
    }
    return status;
}

/* Before functional mode asks: no answer is like this. */
static int mark_all(struct meeting *meeting, size_t n)
{
    uint64_t word[BATCH];
    vic_addr_t reply = meeting->base + RECORD * meeting->attr.cards;
    int status = VIC_OK;
    meeting->mark = mix(meeting->mark + 1);
    for (size_t i = 0; i < BATCH; i++) {
        word[i] = meeting->mark;
    }
    for (size_t i = 0; i < n && status == VIC_OK; i += BATCH) {
        status = vic_write(meeting->kept.card, reply + (vic_addr_t)i, word, n - i < BATCH ? n - i : BATCH);
    }
    return status;
}

static int have_all_come(struct meeting *meeting, size_t n, bool *all)
{
    uint64_t word[BATCH];
    vic_addr_t reply = meeting->base + RECORD * meeting->attr.cards;
    int status = VIC_OK;
    *all = true;
    for (size_t i = 0; i < n && status == VIC_OK && *all; i += BATCH) {
        size_t count = n - i < BATCH ? n - i : BATCH;
        status = vic_read(meeting->kept.card, reply + (vic_addr_t)i, word, count);
        for (size_t k = 0; k < count && status == VIC_OK; k++) {
            *all &= word[k] != meeting->mark;
        }
    }
    return status;
}

/* Until all have come, and are counted in time or not: from another host they may be later than any time, and then would
 * be taken for those of the next question. If the counter reads 0 before, a program has written there: a wait for that would
 * end at once each time, and never say that a card has died. */
static int wait_answers(struct meeting *meeting, size_t n, uint64_t patience_ns)
{
    bool all = meeting->attr.mode == 1, early = false;
    int status;
    do {
        status = vic_counter_wait(meeting->kept.card, meeting->counter, patience_ns);
        if (!all && (status == VIC_OK || status == VIC_ETIMEDOUT)) {
            int look = have_all_come(meeting, n, &all);
            if (status == VIC_OK && look == VIC_OK && !all) {
                look = vic_counter_set(meeting->kept.card, meeting->counter, 1);
                early = true;
            }
            status = look != VIC_OK ? look : status;
            vic_relax(meeting->kept.card);
        }
    } while (!all && (status == VIC_OK || status == VIC_ETIMEDOUT));
    if (status == VIC_ETIMEDOUT && early) {
        return VIC_OK; /* all are there, and more than that cannot be known */
    }
    if (status == VIC_ETIMEDOUT && meeting->attr.mode != 1) { /* the last has come since, and is counted in a moment */
        status = vic_counter_wait(meeting->kept.card, meeting->counter, patience_ns);
    }
    return status;
}

/* Somebody may write over the counter of the answers: then ask again, each time with twice the patience, and at last say
 * so. */
static int ask(struct meeting *meeting, const struct question *question, size_t n, size_t each)
{
    int status = VIC_ETIMEDOUT;
    for (int times = 0; times < TIMES && status == VIC_ETIMEDOUT; times++) {
        status = meeting->attr.mode == 1 ? VIC_OK : mark_all(meeting, n * each);
        if (status == VIC_OK) {
            status = vic_counter_set(meeting->kept.card, meeting->counter, (int64_t)(n * each));
        }
        if (status == VIC_OK) {
            status = send_all(meeting, question, n, each);
        }
        if (status == VIC_OK) {
            status = wait_answers(meeting, n * each, (uint64_t)ANSWER_NS << times);
        }
    }
    return status != VIC_ETIMEDOUT ? status
                                   : fail(VIC_EPEER, "answers of other cards are not counted: a program counts on counter "
                                                     "%u, which a team uses", meeting->counter);
}

int meeting_ask(struct meeting *meeting, const struct question *question, size_t n, size_t each, uint64_t *answer)
{
    if (n == 0) {
        return VIC_OK;
    }
    /* who waits for the other thread lets time pass: in timed mode it could not go on otherwise */
    while (atomic_exchange(&meeting->asking, 1) != 0) {
        vic_relax(meeting->kept.card);
    }
    int status = meeting->failed;
    if (status == VIC_OK) {
        status = ask(meeting, question, n, each);
    }
    if (status == VIC_OK) {
        vic_addr_t reply = meeting->base + RECORD * meeting->attr.cards;
        status = fetch_words(meeting->kept.card, reply, answer, n * each);
    }
    meeting->failed = status;
    atomic_store(&meeting->asking, 0);
    return status;
}
