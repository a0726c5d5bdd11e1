/* Words that --reorder holds back, and lets go in another order. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/random.h"
#include "functional.h"
#include "grow.h"
#include "remote.h"
#include "thread.h"

enum { FEW = 4096, CHUNK = 1024, PERIOD_NS = 100 * 1000, PERIOD_MOST_NS = 5 * 1000 * 1000 };

struct pending_packet {
    uint64_t header, payload;
    struct transfer *dma;
};

struct pending {
    _Atomic size_t *count; /* functional.pending_count */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t some;
    struct pending_packet *packet;
    size_t capacity;
    uint64_t random, passes; /* passes: in which some packets left */
    bool shuffle, runs, stop;
    pthread_t thread;
};

static struct pending *pending_of(const struct vic *card)
{
    return functional_of(card)->pending;
}

static bool append(struct pending *pending, uint64_t header, uint64_t payload, struct transfer *dma)
{
    size_t count = atomic_load(pending->count);
    if (!grow(&pending->packet, &pending->capacity, count < CHUNK ? CHUNK : count + 1, sizeof *pending->packet)) {
        return false;
    }
    pending->packet[count] = (struct pending_packet){header, payload, dma};
    atomic_store(pending->count, count + 1);
    return true;
}

/* The reply of a query is a packet of its own, and may be as late as any. */
static bool reply_later(struct vic *card, struct pending *pending, const struct pending_packet *query,
                        struct tally *tally)
{
    struct packet packet = packet_of(query->header);
    _Atomic uint64_t *word = &job_sram(card->job, packet.dest)[packet.addr];
    if (!append(pending, query->payload, word_load(word), NULL)) {
        return false;
    }
    tally_add(card, tally, tally_key(packet.dest, packet.counter), 1);
    return true;
}

static bool leave(struct vic *card, struct pending *pending, const struct pending_packet *packet, struct tally *tally)
{
    struct packet what = packet_of(packet->header);
    bool query = what.op == VIC_QUERY && job_is_here(card->job, what.dest);
    if (query ? !reply_later(card, pending, packet, tally)
              : !deliver(card, packet->header, packet->payload, tally)) {
        return false;
    }
    if (packet->dma != NULL) {
        atomic_fetch_sub(&packet->dma->left, 1);
    }
    return true;
}

/* About half of what is pending leaves, in any order. */
static bool pass_shuffled(struct vic *card, struct pending *pending, struct tally *tally)
{
    bool left = false;
    for (size_t tries = (atomic_load(pending->count) + 1) / 2; tries > 0; tries--) {
        size_t at = dvsim_next(&pending->random) % atomic_load(pending->count); /* none leaves twice, so there are some */
        struct pending_packet packet = pending->packet[at]; /* a copy: the array may move */
        if (leave(card, pending, &packet, tally)) {
            size_t last = atomic_load(pending->count) - 1;
            pending->packet[at] = pending->packet[last];
            atomic_store(pending->count, last);
            left = true;
        }
    }
    return left;
}

/* All that can leave does, in order; of very many packets only the first are looked at. */
static bool pass_in_order(struct vic *card, struct pending *pending, size_t most, struct tally *tally)
{
    size_t i = 0, stay = 0;
    for (; i < atomic_load(pending->count) && i < most; i++) {
        struct pending_packet packet = pending->packet[i];
        if (!leave(card, pending, &packet, tally)) {
            pending->packet[stay++] = packet;
        }
    }
    size_t count = atomic_load(pending->count);
    memmove(pending->packet + stay, pending->packet + i, (count - i) * sizeof *pending->packet);
    atomic_store(pending->count, count - i + stay);
    return stay < i;
}

static void pass(struct vic *card, struct pending *pending, size_t most)
{
    struct tally tally;
    tally.used = 0;
    if (atomic_load(pending->count) == 0) {
        return;
    }
    bool left = pending->shuffle ? pass_shuffled(card, pending, &tally) : pass_in_order(card, pending, most, &tally);
    tally_flush(card, &tally);
    pending->passes += left;
    if (left) {
        bell_ring(&card->me->arrival); /* a thread may wait for a transfer, or for room here */
    }
}

void pending_deliver(struct vic *card)
{
    struct pending *pending = pending_of(card);
    if (pthread_mutex_trylock(&pending->lock) == 0) { /* otherwise another thread delivers */
        pass(card, pending, FEW);
        pthread_mutex_unlock(&pending->lock);
    }
}

static void *deliver_always(void *what)
{
    struct vic *card = what;
    struct pending *pending = pending_of(card);
    pthread_mutex_lock(&pending->lock);
    while (!pending->stop) {
        if (atomic_load(pending->count) == 0) {
            pthread_cond_wait(&pending->some, &pending->lock);
            continue;
        }
        pass(card, pending, FEW);
        pthread_mutex_unlock(&pending->lock);
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        pthread_mutex_lock(&pending->lock);
    }
    pthread_mutex_unlock(&pending->lock);
    return NULL;
}

static bool is_few(const struct vic *card)
{
    return atomic_load(pending_of(card)->count) <= FEW;
}

/* A word for a full FIFO whose program has ended never leaves. */
static bool is_lost(const struct vic *card, uint64_t header)
{
    struct packet packet = packet_of(header);
    return packet.op == VIC_FIFO && card_is_left(&card->job->card[packet.dest]) && !fifo_has_space(card, packet.dest);
}

/* Drops what is pending if all of it is lost, so that other packets have room again. A transfer that had such words is
 * never done. */
static bool drop_lost(struct vic *card)
{
    struct pending *pending = pending_of(card);
    bool lost = true;
    pthread_mutex_lock(&pending->lock);
    for (size_t i = 0; i < atomic_load(pending->count) && lost; i++) {
        lost = is_lost(card, pending->packet[i].header);
    }
    if (lost) {
        atomic_store(pending->count, 0);
    }
    pthread_mutex_unlock(&pending->lock);
    return lost;
}

static bool has_room(void *what)
{
    struct vic *card = what;
    return is_few(card) || (atomic_load(&card->job->shared->ended) != 0 && !wait_is_alone(card) && drop_lost(card));
}

static int keep_chunk(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
                      struct transfer *dma)
{
    struct pending *pending = pending_of(card);
    int status = VIC_OK;
    pthread_mutex_lock(&pending->lock);
    for (size_t i = 0; i < n && status == VIC_OK; i++) {
        uint64_t header = read_once(&headers[i]), payload = read_once(&payloads[i]);
        status = pending->stop ? VIC_ECLOSED : packet_check(card, header, payload);
        if (status != VIC_OK) {
            status == VIC_ECLOSED ? fail_as(status) : fail_packet(card, status, i, header, payload);
            break;
        }
        if (!append(pending, header, payload, dma)) {
            status = fail_as(VIC_ESYS);
        } else if (dma != NULL) {
            atomic_fetch_add(&dma->left, 1);
        }
    }
    if (!pending->runs && !pending->stop) {
        pending->runs = thread_start(&pending->thread, deliver_always, card); /* without it calls still deliver */
    }
    pass(card, pending, FEW);
    pthread_cond_signal(&pending->some);
    pthread_mutex_unlock(&pending->lock);
    return status;
}

/* Waits until few are pending. VIC_EPEER: some of these packets are lost. */
static int wait_few(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, uint64_t timeout_ns)
{
    struct wait wait = {.bell = &card->me->arrival, .ready = has_room, .what = card, .progress = pending_progress,
                        .coming = pending_coming, .kind = WAIT_HELD};
    if (is_few(card)) {
        return VIC_OK;
    }
    int status = wait_for(card, &wait, timeout_ns);
    for (size_t i = 0; i < n && status == VIC_OK; i++) {
        uint64_t header = read_once(&headers[i]);
        if (packet_check(card, header, read_once(&payloads[i])) == VIC_OK && is_lost(card, header)) {
            status = fail(VIC_EPEER, "the program of card %" PRIu32 " has ended, and its FIFO is full",
                          packet_of(header).dest);
        }
    }
    return status;
}

int pending_add(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
              struct transfer *dma, bool wait)
{
    int status = VIC_OK;
    for (size_t i = 0, some; i < n && status == VIC_OK; i += some) {
        some = n - i < CHUNK ? n - i : CHUNK;
        status = keep_chunk(card, headers + i, payloads + i, some, dma);
        if (status == VIC_OK && wait) {
            status = wait_few(card, headers + i, payloads + i, some, VIC_FOREVER);
        }
    }
    return status;
}

int pending_try(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *kept)
{
    pending_progress(card);
    int status = wait_few(card, headers, payloads, n, 0);
    for (size_t i = 0, some; i < n && status == VIC_OK && is_few(card); i += some) {
        some = n - i < CHUNK ? n - i : CHUNK;
        status = keep_chunk(card, headers + i, payloads + i, some, NULL);
        *kept += status == VIC_OK ? some : 0;
    }
    return status == VIC_ETIMEDOUT || (status == VIC_OK && *kept < n) ? fail_as(VIC_EAGAIN) : status;
}

int pending_open(struct vic *card)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) {
        return VIC_ESYS;
    }
    pthread_mutex_init(&pending->lock, NULL);
    pthread_cond_init(&pending->some, NULL);
    pending->count = &functional_of(card)->pending_count;
    pending->shuffle = card->job->config.reorder != 0;
    pending->random = card->job->config.reorder_seed * MOST_CARDS + card->number;
    functional_of(card)->pending = pending;
    return VIC_OK;
}

/* A word for a full FIFO without a reader never arrives; all other packets do. */
static bool can_arrive(struct vic *card, uint64_t header)
{
    struct packet packet = packet_of(header);
    const struct card_shared *target = &card->job->card[packet.dest];
    bool gone = packet.dest == card->number
                    ? handle_closed(card)
                    : seat_owner(atomic_load(&target->seat)) == 0 || card_is_left(target) ||
                          atomic_load(&target->closing) != 0; /* or two cards that close would wait for each other */
    return packet.op != VIC_FIFO || !gone || fifo_has_space(card, packet.dest);
}

static bool any_hope(struct vic *card, const struct pending *pending)
{
    bool dead = atomic_load(&card->job->shared->poison) != 0, hope = false;
    for (size_t i = 0; i < atomic_load(pending->count) && !dead && !hope; i++) {
        hope = can_arrive(card, pending->packet[i].header);
    }
    return hope;
}

bool pending_coming(struct vic *card)
{
    struct pending *pending = pending_of(card);
    pthread_mutex_lock(&pending->lock); /* also if nothing is pending: whatever is delivered last is counted under the lock */
    bool hope = any_hope(card, pending);
    pthread_mutex_unlock(&pending->lock);
    return hope || (card->job->config.hosts > 1 && remote_coming(card)); /* where the last one may have gone just now */
}

/* Deliver as long as that gets anywhere: VIC_OK, VIC_ETIMEDOUT. Needs the lock. */
static int deliver_last(struct vic *card, struct pending *pending)
{
    uint64_t since_ns = job_clock_ns(), passes = pending->passes;
    long nap_ns = PERIOD_NS;
    for (;;) {
        pass(card, pending, SIZE_MAX);
        if (!any_hope(card, pending)) {
            return VIC_OK;
        }
        uint64_t now_ns = job_clock_ns();
        if (pending->passes != passes) {
            passes = pending->passes;
            since_ns = now_ns;
            nap_ns = PERIOD_NS;
        } else if (now_ns - since_ns >= CLOSE_TIMEOUT_NS) {
            return VIC_ETIMEDOUT;
        }
        pthread_mutex_unlock(&pending->lock);
        nanosleep(&(struct timespec){0, nap_ns}, NULL);
        nap_ns = 2 * nap_ns < PERIOD_MOST_NS ? 2 * nap_ns : PERIOD_MOST_NS;
        pthread_mutex_lock(&pending->lock);
    }
}

int pending_close(struct vic *card)
{
    struct pending *pending = pending_of(card);
    pthread_mutex_lock(&pending->lock);
    pending->shuffle = false;
    int status = deliver_last(card, pending);
    if (status != VIC_OK) {
        fprintf(stderr, "vic: card %" PRIu32 " was closed with %zu packets that are lost: the FIFO of card %" PRIu32
                " is full, and nobody took a word for %d s\n", card->number, atomic_load(pending->count),
                packet_of(pending->packet[0].header).dest, (int)(CLOSE_TIMEOUT_NS / 1000000000));
    }
    atomic_store(pending->count, 0);
    pending->stop = true;
    pthread_cond_signal(&pending->some);
    bool runs = pending->runs;
    pthread_mutex_unlock(&pending->lock);
    if (runs) {
        pthread_join(pending->thread, NULL);
    }
    return status;
}

void pending_dispose(struct vic *card)
{
    struct pending *pending = pending_of(card);
    pthread_mutex_destroy(&pending->lock);
    pthread_cond_destroy(&pending->some);
    free(pending->packet);
    free(pending);
}
