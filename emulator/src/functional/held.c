/* Words that --reorder holds back, and lets go in another order. */
#define _GNU_SOURCE
#include "held.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/random.h"

enum { FEW = 4096, CHUNK = 1024, PERIOD_NS = 100 * 1000, PERIOD_MOST_NS = 5 * 1000 * 1000 };

struct held_packet {
    uint64_t header, payload;
    struct transfer *dma;
};

struct held {
    _Atomic size_t *count; /* functional.held_count */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t some;
    struct held_packet *packet;
    size_t room;
    uint64_t random, passes; /* passes: in which some packets left */
    bool shuffle, runs, stop;
    pthread_t thread;
};

static struct held *held_of(const struct vic *card)
{
    return functional_of(card)->held;
}

static bool append(struct held *held, uint64_t header, uint64_t payload, struct transfer *dma)
{
    size_t count = atomic_load(held->count);
    if (count == held->room) {
        size_t room = held->room ? held->room * 2 : CHUNK;
        struct held_packet *packet = realloc(held->packet, room * sizeof *packet);
        if (packet == NULL) {
            return false;
        }
        held->packet = packet;
        held->room = room;
    }
    held->packet[count] = (struct held_packet){header, payload, dma};
    atomic_store(held->count, count + 1);
    return true;
}

/* The reply of a query is a packet of its own, and may be as late as any. */
static bool reply_later(struct vic *card, struct held *held, const struct held_packet *query,
                        struct tally *tally)
{
    struct packet packet = packet_of(query->header);
    _Atomic uint64_t *word = &job_sram(card->job, packet.dest)[packet.addr];
    if (!append(held, query->payload, word_load(word), NULL)) {
        return false;
    }
    tally_add(card, tally, tally_key(packet.dest, packet.counter), 1);
    return true;
}

static bool leave(struct vic *card, struct held *held, const struct held_packet *packet, struct tally *tally)
{
    bool query = packet_of(packet->header).op == VIC_QUERY;
    if (query ? !reply_later(card, held, packet, tally)
              : !deliver(card, packet->header, packet->payload, tally)) {
        return false;
    }
    if (packet->dma != NULL) {
        atomic_fetch_sub(&packet->dma->left, 1);
    }
    return true;
}

/* About half of what is held leaves, in any order. */
static bool pass_shuffled(struct vic *card, struct held *held, struct tally *tally)
{
    bool left = false;
    for (size_t tries = (atomic_load(held->count) + 1) / 2; tries > 0; tries--) {
        size_t at = dvsim_next(&held->random) % atomic_load(held->count); /* none leaves twice, so there are some */
        struct held_packet packet = held->packet[at]; /* a copy: the array may move */
        if (leave(card, held, &packet, tally)) {
            size_t last = atomic_load(held->count) - 1;
            held->packet[at] = held->packet[last];
            atomic_store(held->count, last);
            left = true;
        }
    }
    return left;
}

/* All that can leave does, in order; of very many packets only the first are looked at. */
static bool pass_in_order(struct vic *card, struct held *held, size_t most, struct tally *tally)
{
    size_t i = 0, stay = 0;
    for (; i < atomic_load(held->count) && i < most; i++) {
        struct held_packet packet = held->packet[i];
        if (!leave(card, held, &packet, tally)) {
            held->packet[stay++] = packet;
        }
    }
    size_t count = atomic_load(held->count);
    memmove(held->packet + stay, held->packet + i, (count - i) * sizeof *held->packet);
    atomic_store(held->count, count - i + stay);
    return stay < i;
}

static void pass(struct vic *card, struct held *held, size_t most)
{
    struct tally tally;
    tally.used = 0;
    if (atomic_load(held->count) == 0) {
        return;
    }
    bool left = held->shuffle ? pass_shuffled(card, held, &tally) : pass_in_order(card, held, most, &tally);
    tally_flush(card, &tally);
    held->passes += left;
    if (left) {
        bell_ring(&card->me->arrival); /* somebody may wait for a transfer, or for room here */
    }
}

void held_deliver(struct vic *card)
{
    struct held *held = held_of(card);
    if (pthread_mutex_trylock(&held->lock) == 0) { /* else somebody is at it */
        pass(card, held, FEW);
        pthread_mutex_unlock(&held->lock);
    }
}

static void *deliver_always(void *what)
{
    struct vic *card = what;
    struct held *held = held_of(card);
    pthread_mutex_lock(&held->lock);
    while (!held->stop) {
        if (atomic_load(held->count) == 0) {
            pthread_cond_wait(&held->some, &held->lock);
            continue;
        }
        pass(card, held, FEW);
        pthread_mutex_unlock(&held->lock);
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        pthread_mutex_lock(&held->lock);
    }
    pthread_mutex_unlock(&held->lock);
    return NULL;
}

/* Without the thread (no memory) calls still deliver. The program's signals are not for it. */
static void start_thread(struct vic *card, struct held *held)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    held->runs = pthread_create(&held->thread, NULL, deliver_always, card) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_few(void *what)
{
    return atomic_load(held_of(what)->count) <= FEW;
}

static int keep_chunk(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
                      struct transfer *dma)
{
    struct held *held = held_of(card);
    int status = VIC_OK;
    pthread_mutex_lock(&held->lock);
    for (size_t i = 0; i < n && status == VIC_OK; i++) {
        uint64_t header = read_once(&headers[i]), payload = read_once(&payloads[i]);
        status = held->stop ? VIC_ECLOSED : packet_check(card, header, payload);
        if (status != VIC_OK) {
            status == VIC_ECLOSED ? fail_as(status) : fail_packet(card, status, i, header, payload);
            break;
        }
        if (!append(held, header, payload, dma)) {
            status = fail_as(VIC_ESYS);
        } else if (dma != NULL) {
            atomic_fetch_add(&dma->left, 1);
        }
    }
    if (!held->runs && !held->stop) {
        start_thread(card, held);
    }
    pass(card, held, FEW);
    pthread_cond_signal(&held->some);
    pthread_mutex_unlock(&held->lock);
    return status;
}

static struct wait room_in(struct vic *card)
{
    return (struct wait){.bell = &card->me->arrival, .ready = is_few, .what = card, .progress = held_progress,
                         .coming = held_coming, .kind = WAIT_HELD};
}

int held_keep(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
              struct transfer *dma, bool wait)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i += CHUNK) {
        status = keep_chunk(card, headers + i, payloads + i, n - i < CHUNK ? n - i : CHUNK, dma);
        if (status == VIC_OK && wait && !is_few(card)) {
            struct wait room = room_in(card);
            status = wait_for(card, &room, VIC_FOREVER);
        }
    }
    return status;
}

int held_try(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *kept)
{
    held_progress(card);
    struct wait room = room_in(card);
    int status = wait_for(card, &room, 0);
    for (size_t i = 0, some; i < n && status == VIC_OK && is_few(card); i += some) {
        some = n - i < CHUNK ? n - i : CHUNK;
        status = keep_chunk(card, headers + i, payloads + i, some, NULL);
        *kept += status == VIC_OK ? some : 0;
    }
    return status == VIC_ETIMEDOUT || (status == VIC_OK && *kept < n) ? fail_as(VIC_EAGAIN) : status;
}

int held_open(struct vic *card)
{
    struct held *held = calloc(1, sizeof *held);
    if (held == NULL) {
        return VIC_ESYS;
    }
    pthread_mutex_init(&held->lock, NULL);
    pthread_cond_init(&held->some, NULL);
    held->count = &functional_of(card)->held_count;
    held->shuffle = card->job->config.reorder != 0;
    held->random = card->job->config.reorder_seed * MOST_CARDS + card->number;
    functional_of(card)->held = held;
    return VIC_OK;
}

/* A packet for a full FIFO that nobody will read never arrives. */
static bool any_hope(struct vic *card, const struct held *held)
{
    bool dead = atomic_load(&card->job->shared->poison) != 0;
    for (size_t i = 0; i < atomic_load(held->count) && !dead; i++) {
        uint32_t dest = packet_of(held->packet[i].header).dest;
        const struct card_shared *target = &card->job->card[dest];
        bool gone = seat_owner(atomic_load(&target->seat)) == 0 || atomic_load(&target->end) != CARD_RUNS ||
                    atomic_load(&target->closing) != 0; /* else two that close would wait for each other */
        if (dest == card->number ? !handle_closed(card) : !gone) {
            return true;
        }
    }
    return false;
}

bool held_coming(struct vic *card)
{
    struct held *held = held_of(card);
    if (atomic_load(held->count) == 0) {
        return false;
    }
    pthread_mutex_lock(&held->lock);
    bool hope = any_hope(card, held);
    pthread_mutex_unlock(&held->lock);
    return hope;
}

/* Deliver as long as that gets anywhere: VIC_OK, VIC_ETIMEDOUT. Needs the lock. */
static int deliver_last(struct vic *card, struct held *held)
{
    uint64_t since_ns = job_clock_ns(), passes = held->passes;
    long nap_ns = PERIOD_NS;
    for (;;) {
        pass(card, held, SIZE_MAX);
        if (!any_hope(card, held)) {
            return VIC_OK;
        }
        uint64_t now_ns = job_clock_ns();
        if (held->passes != passes) {
            passes = held->passes;
            since_ns = now_ns;
            nap_ns = PERIOD_NS;
        } else if (now_ns - since_ns >= CLOSE_PATIENCE_NS) {
            return VIC_ETIMEDOUT;
        }
        pthread_mutex_unlock(&held->lock);
        nanosleep(&(struct timespec){0, nap_ns}, NULL);
        nap_ns = 2 * nap_ns < PERIOD_MOST_NS ? 2 * nap_ns : PERIOD_MOST_NS;
        pthread_mutex_lock(&held->lock);
    }
}

int held_close(struct vic *card)
{
    struct held *held = held_of(card);
    pthread_mutex_lock(&held->lock);
    held->shuffle = false;
    int status = deliver_last(card, held);
    if (status != VIC_OK) {
        fprintf(stderr, "vic: card %" PRIu32 " was closed with %zu packets that are lost: the FIFO of card %" PRIu32
                " is full, and nobody took a word for %d s\n", card->number, atomic_load(held->count),
                packet_of(held->packet[0].header).dest, (int)(CLOSE_PATIENCE_NS / 1000000000));
    }
    atomic_store(held->count, 0);
    held->stop = true;
    pthread_cond_signal(&held->some);
    bool runs = held->runs;
    pthread_mutex_unlock(&held->lock);
    if (runs) {
        pthread_join(held->thread, NULL);
    }
    return status;
}

void held_dispose(struct vic *card)
{
    struct held *held = held_of(card);
    pthread_mutex_destroy(&held->lock);
    pthread_cond_destroy(&held->some);
    free(held->packet);
    free(held);
}
