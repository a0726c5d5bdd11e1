/* Vectors of packets, puts and transfers. */
#include "claims.h"
#include "functional.h"
#include "remote.h"

enum {
    BLOCK = 128,       /* headers fetched from SRAM at a time */
    RUN_MOST = 1 << 30 /* words of a run: a tally counts 32 bits */
};

/* Pushes the words of packets for one FIFO and counter, as many as the FIFO takes, and counts them. Returns how many. `first`
 * is the header of the first one, which has been checked. */
static size_t push_run(struct vic *card, uint64_t first, const uint64_t *headers, const uint64_t *payloads, size_t n,
                       struct tally *tally)
{
    const struct packet packet = packet_of(first);
    const size_t most = n < CLAIM_MOST ? n : CLAIM_MOST;
    size_t run = 1;
    while (run < most && header_continues(first, read_once(&headers[run]), HEADER_ADDR + 1)) {
        run++;
    }
    size_t pushed = fifo_push(card, packet.dest, payloads, run);
    if (pushed > 0) {
        fifo_count(card, packet.dest, packet.counter, (uint32_t)pushed, tally);
    }
    return pushed;
}

/* The card whose full FIFO stopped a packet: its own, or that of a query's reply. */
static uint32_t stopped_by(uint64_t header, uint64_t payload)
{
    struct packet packet = packet_of(header);
    return packet.op == VIC_QUERY ? packet_of(payload).dest : packet.dest;
}

/* Stores the words of writes to one card and counter, and counts them. Returns how many. `first` is the header of the first
 * one, which has been checked. */
static inline size_t write_run(struct vic *card, uint64_t first, const uint64_t *headers, const uint64_t *payloads, size_t n,
                               struct tally *tally)
{
    const struct packet packet = packet_of(first);
    const uint32_t words = card->sram_words;
    _Atomic uint64_t *const sram = job_sram(card->job, packet.dest);
    uint64_t header = first;
    size_t run = 0;
    do {
        word_store(&sram[header & HEADER_ADDR], read_once(&payloads[run]));
        run++;
    } while (run < n && header_continues(first, header = read_once(&headers[run]), words));
    tally_add(card, tally, tally_key(packet.dest, packet.counter), (uint32_t)run);
    return run;
}

/* Delivers packets until one is for a card of another host. */
static inline size_t deliver_run(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, int *status,
                                 uint32_t *full)
{
    struct tally tally;
    tally.used = 0;
    const uint64_t counters = card->counters;
    const struct job *job = card->job;
    const uint32_t first = job->first, here = job->here, words = card->sram_words;
    size_t i = 0;
    *status = VIC_OK;
    while (i < n) {
        uint64_t header = read_once(&headers[i]);
        struct packet packet = packet_of(header);
        if (__builtin_expect(header >> VIC_HEADER_END_AT == 0 && packet.op == VIC_WRITE && packet.dest - first < here &&
                             packet.addr < words && (counters >> packet.counter & 1), 1)) {
            size_t most = n - i < RUN_MOST ? n - i : RUN_MOST;
            i += write_run(card, header, headers + i, payloads + i, most, &tally);
            continue;
        }
        uint64_t payload = read_once(&payloads[i]);
        *status = packet_check(card, header, payload);
        if (*status != VIC_OK) {
            fail_packet(card, *status, i, header, payload);
            break;
        }
        if (!job_is_here(job, packet.dest)) {
            break;
        }
        size_t done = packet.op == VIC_FIFO ? push_run(card, header, headers + i, payloads + i, n - i, &tally)
                                            : deliver_here(card, header, payload, &tally);
        if (done == 0) {
            *full = stopped_by(header, payload);
            break;
        }
        i += done;
    }
    tally_flush(card, &tally);
    return i;
}

/* Runs of packets for cards of this host, and of others. */
FAIL_COLD static size_t deliver_over_hosts(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n,
                                           int *status, uint32_t *full)
{
    size_t i = deliver_run(card, headers, payloads, n, status, full);
    while (i < n && *status == VIC_OK) {
        size_t far = remote_send(card, headers + i, payloads + i, n - i);
        size_t local = deliver_run(card, headers + i + far, payloads + i + far, n - i - far, status, full);
        i += far + local;
        if (far + local == 0 && *status == VIC_OK) {
            uint64_t header = read_once(&headers[i]), payload = read_once(&payloads[i]);
            if (packet_check(card, header, payload) == VIC_OK) { /* if not, the next round finds the fault */
                *full = stopped_by(header, payload);
                break;
            }
        }
    }
    return i;
}

size_t deliver_some(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, int *status,
                    uint32_t *full)
{
    return __builtin_expect(card->job->config.hosts > 1, 0) ? deliver_over_hosts(card, headers, payloads, n, status, full)
                                                            : deliver_run(card, headers, payloads, n, status, full);
}

static int send_checked(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    if (__builtin_expect(card->job->config.reorder != 0, 0)) {
        return pending_add(card, headers, payloads, n, NULL, true);
    }
    pending_progress(card);
    for (size_t sent = 0;;) {
        int status;
        uint32_t full;
        sent += deliver_some(card, headers + sent, payloads + sent, n - sent, &status, &full);
        if (sent == n || status != VIC_OK) {
            return status;
        }
        status = fifo_wait_space(card, full, VIC_FOREVER);
        if (status != VIC_OK) {
            return status;
        }
    }
}

/* A word for a FIFO of this host that has room for it, in a call of its own. False: nothing was done. */
static inline bool send_surprise(struct vic *card, uint64_t header, uint64_t payload)
{
    const struct packet packet = packet_of(header);
    const struct job *job = card->job;
    if (header >> VIC_HEADER_END_AT != 0 || packet.op != VIC_FIFO || packet.dest - job->first >= job->straight ||
        !counter_exists(card, packet.counter)) {
        return false;
    }
    pending_progress(card);
    if (fifo_push(card, packet.dest, &payload, 1) == 0) {
        return false;
    }
    if (packet.counter != SCRATCH || card->watch != 0) {
        tally_count(card, tally_key(packet.dest, packet.counter), 1);
    }
    return true;
}

int functional_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n)
{
    if (n == 1 && send_surprise(card, read_once(headers), read_once(payloads))) {
        return VIC_OK;
    }
    int status = packets_check(card, headers, payloads, n, 0);
    return status == VIC_OK ? send_checked(card, headers, payloads, n) : status;
}

int each_block(struct vic *card, vic_addr_t at, const uint64_t *payloads, size_t n, block_function *what,
               void *more)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i += BLOCK) {
        uint64_t headers[BLOCK];
        size_t count = n - i < BLOCK ? n - i : BLOCK;
        words_load(headers, &card->sram[at + i], count);
        status = what(card, headers, payloads + i, count, more);
    }
    return status;
}

int check_block(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, void *more)
{
    return packets_check(card, headers, payloads, n, more != NULL ? (size_t)(payloads - (const uint64_t *)more) : 0);
}

/* Headers in SRAM can be changed by any card at any time, so each block is looked at again. */
static int send_block(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, void *more)
{
    (void)more;
    return functional_send(card, headers, payloads, n);
}

int functional_send_cached(struct vic *card, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    int status = n > BLOCK ? each_block(card, headers, payloads, n, check_block, (void *)(uintptr_t)payloads) : VIC_OK;
    return status == VIC_OK ? each_block(card, headers, payloads, n, send_block, NULL) : status;
}

/* The same words as packets. */
static int put_packets(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n,
                       unsigned counter)
{
    int status = VIC_OK;
    for (size_t i = 0; i < n && status == VIC_OK; i += BLOCK) {
        uint64_t headers[BLOCK];
        size_t count = n - i < BLOCK ? n - i : BLOCK;
        for (size_t j = 0; j < count; j++) {
            headers[j] = vic_header(dest, VIC_WRITE, addr + (vic_addr_t)(i + j), counter);
        }
        status = pending_add(card, headers, words + i, count, NULL, true);
    }
    return status;
}

static inline int put_straight(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n,
                        unsigned counter)
{
    pending_progress(card);
    words_store(&job_sram(card->job, dest)[addr], words, n);
    if (n > 0) {
        tally_count(card, tally_key(dest, counter), (uint32_t)n); /* n <= 2^22 */
    }
    return VIC_OK;
}

FAIL_COLD static int put_otherwise(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n,
                                   unsigned counter)
{
    if (card->job->config.reorder != 0) {
        return put_packets(card, dest, addr, words, n, counter);
    }
    pending_progress(card);
    remote_put(card, dest, addr, words, n, counter);
    return VIC_OK;
}

int functional_put(struct vic *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n,
                   unsigned counter)
{
    const struct job *job = card->job;
    return __builtin_expect(dest - job->first < job->straight, 1) ? put_straight(card, dest, addr, words, n, counter)
                                                                  : put_otherwise(card, dest, addr, words, n, counter);
}
