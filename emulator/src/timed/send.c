/* Packets: by stores, or by the engine. */
#include "card/vic.h"
#include "packet.h"
#include "timed/timed.h"

static bool has_room(struct member *me, void *what)
{
    (void)what;
    const struct view *view = &me->own->shared->view;
    return view->sent - view->taken < me->own->card->job->config.model.send_words;
}

/* Write packets that the queue of the card has room for. Without room it stops, as the stores of a processor would. */
static int wait_for_room(struct member *me, size_t wanted, size_t *some, uint64_t timeout_ns)
{
    struct timed *own = me->own;
    struct view *view = &own->shared->view;
    uint64_t most = own->card->job->config.model.send_words;
    int status = VIC_OK;
    if (!has_room(me, NULL)) {
        timed_observe(me);
    }
    if (!has_room(me, NULL)) {
        struct watched watched = {DVSIM_VIC_TAKEN, 0, view->sent + 1 - most};
        status = timed_wait(me, watched, has_room, NULL, timeout_ns);
    }
    uint64_t left = most - (view->sent - view->taken);
    *some = status == VIC_OK ? (left < wanted ? (size_t)left : wanted) : 0;
    return status;
}

enum { CHUNK = 64 }; /* 1 KiB of the stack */

/* Store n items of `each` words; the next item is at me->clock + step + crossing. */
static int store_packets(struct member *me, struct post post, const uint64_t *words, size_t n, unsigned each)
{
    struct timed *own = me->own;
    post.step_ps = dvsim_pcie_store_ps(&own->pcie, each);
    post.at_ps = me->clock_ps + post.step_ps + own->pcie.crossing_ps;
    post_items(me, post, words, n, each);
    own->shared->view.sent += n;
    me->clock_ps += (int64_t)n * post.step_ps;
    return VIC_OK;
}

/* *sent: how many, also if that were not all. */
static int send_all(struct member *me, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent,
                    uint64_t timeout_ns)
{
    int status = VIC_OK;
    *sent = 0;
    for (size_t i = 0, some; i < n && status == VIC_OK; i += some) {
        uint64_t both[2 * CHUNK];
        status = wait_for_room(me, n - i < CHUNK ? n - i : CHUNK, &some, timeout_ns);
        for (size_t k = 0; k < some && status == VIC_OK; k++) { /* another thread may have changed them meanwhile */
            both[2 * k] = read_once(&headers[i + k]);
            both[2 * k + 1] = read_once(&payloads[i + k]);
            status = packets_check(me->own->card, &both[2 * k], &both[2 * k + 1], 1, i + k);
        }
        if (status == VIC_OK) {
            status = store_packets(me, (struct post){.kind = POST_SEND}, both, some, 2);
            *sent += some;
        }
    }
    return status;
}

static int send_within(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent,
                       uint64_t timeout_ns)
{
    int status = packets_check(card, headers, payloads, n, 0);
    if (status != VIC_OK) {
        return status;
    }
    ENTER(me, card, false);
    status = send_all(me, headers, payloads, n, sent, timeout_ns);
    timed_leave(me);
    return status;
}

int timed_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    size_t sent;
    return send_within(card, headers, payloads, n, &sent, VIC_FOREVER);
}

/* A full FIFO is noticed when it has pushed back as far as the card's queue. */
int timed_try_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent)
{
    int status = send_within(card, headers, payloads, n, sent, 0);
    return status == VIC_ETIMEDOUT ? fail_as(VIC_EAGAIN) : status;
}

int timed_send_cached(struct vic *card, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    ENTER(me, card, true);
    int status = post_check(me, headers, payloads, n);
    for (size_t i = 0, some; i < n && status == VIC_OK; i += some) {
        struct post post = {.kind = POST_CACHED, .a = headers + (uint32_t)i};
        status = wait_for_room(me, n - i < CHUNK ? n - i : CHUNK, &some, VIC_FOREVER);
        if (status == VIC_OK) {
            status = store_packets(me, post, payloads + i, some, 1);
        }
    }
    timed_leave(me);
    return status;
}

static int put_by_stores(struct member *me, uint64_t header, const uint64_t *words, size_t n)
{
    int status = VIC_OK;
    for (size_t i = 0, some; i < n && status == VIC_OK; i += some) {
        uint64_t both[2 * CHUNK];
        status = wait_for_room(me, n - i < CHUNK ? n - i : CHUNK, &some, VIC_FOREVER);
        for (size_t k = 0; k < some; k++) {
            both[2 * k] = header + i + k; /* the address is in the lowest bits */
            both[2 * k + 1] = words[i + k];
        }
        if (status == VIC_OK) {
            status = store_packets(me, (struct post){.kind = POST_SEND}, both, some, 2);
        }
    }
    return status;
}

/* The program may use the words again when the engine has fetched them. */
static int put_by_engine(struct member *me, uint64_t header, const uint64_t *words, size_t n)
{
    struct timed *own = me->own;
    uint32_t tag = tag_new(own);
    me->clock_ps += dvsim_pcie_store_ps(&own->pcie, 2);
    post_items(me, (struct post){.kind = POST_STAGE}, words, n, 1);
    int64_t at_ps = me->clock_ps + own->pcie.crossing_ps;
    struct post post = {.kind = POST_ENGINE_PUT, .at_ps = at_ps, .b = tag, .count = n};
    post_items(me, post, &header, 1, 1);
    return timed_wait_event(me, DVSIM_VIC_DONE, tag, 1, NULL, VIC_FOREVER);
}

int timed_put(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n,
              unsigned counter)
{
    uint64_t header = vic_header(dest, VIC_WRITE, addr, counter);
    ENTER(me, card, false);
    int status = dvsim_pcie_engine_is_faster(&me->own->pcie, (int64_t)n) ? put_by_engine(me, header, words, n)
                                                                        : put_by_stores(me, header, words, n);
    timed_leave(me);
    return status;
}
