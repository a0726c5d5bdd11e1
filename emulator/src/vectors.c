/* Vectors of packets whose headers follow from a few numbers: made block by block, and sent as vic_send would. */
#include "handle.h"
#include "packet.h"
#include "watch.h"

enum { BLOCK = 128 }; /* 2 KiB of the stack: a thread may have no more than PTHREAD_STACK_MIN */

struct vector {
    uint32_t dest;
    enum vic_op op;
    vic_addr_t addr;
    size_t stride;
    const vic_addr_t *addrs; /* instead of addr and stride, or NULL */
    unsigned counter;
    const uint64_t *words; /* NULL: headers of replies, from this one on: */
    uint64_t reply;
};

static uint64_t header_of(const struct vector *v, size_t i)
{
    vic_addr_t addr = v->addrs != NULL ? *(const volatile vic_addr_t *)&v->addrs[i]
                                       : v->addr + (vic_addr_t)(i * v->stride);
    return vic_header(v->dest, v->op, addr, v->counter);
}

static int send_vector(vic_t *card, const struct vector *v, size_t n)
{
    int status = VIC_OK;
    for (size_t i = 0, some; i < n && status == VIC_OK; i += some) {
        uint64_t headers[BLOCK], payloads[BLOCK];
        some = n - i < BLOCK ? n - i : BLOCK;
        for (size_t k = 0; k < some; k++) {
            headers[k] = header_of(v, i + k);
            payloads[k] = v->words != NULL ? read_once(&v->words[i + k]) : v->reply + i + k; /* the address is lowest */
        }
        status = handle_closed(card) ? fail_as(VIC_ECLOSED) : card->ops->send(card, headers, payloads, some);
    }
    return status;
}

int vic_get(vic_t *card, uint32_t dest, vic_addr_t addr, size_t n, vic_addr_t local, unsigned counter)
{
    NEED(card, 1);
    if (dest >= card->cards || !range_exists(card, addr, n) || !counter_exists(card, counter)) {
        return fail_range(card, dest, addr, n, counter);
    }
    if (!range_exists(card, local, n)) {
        return fail_words(card, "local", local, n);
    }
    struct vector v = {.dest = dest, .op = VIC_QUERY, .addr = addr, .stride = 1, .counter = VIC_NO_COUNTER,
                       .reply = vic_header(card->number, VIC_WRITE, local, counter)};
    WATCHED(card, CALL_GET, n, send_vector(card, &v, n),
            "dest addr n local counter", dest, addr, (int64_t)n, local, counter);
}

/* Are addr, addr + stride, ..., n of them, words of the SRAM? */
static bool strided_exists(const struct vic *card, vic_addr_t addr, size_t stride, size_t n)
{
    return n == 0 ? addr <= card->sram_words
                  : addr < card->sram_words &&
                        (stride == 0 || n - 1 <= (card->sram_words - 1 - addr) / stride);
}

int vic_put_strided(vic_t *card, uint32_t dest, vic_addr_t addr, size_t stride, const uint64_t *words, size_t n,
                    unsigned counter)
{
    NEED(card, words != NULL);
    if (dest >= card->cards || addr > card->sram_words || !counter_exists(card, counter)) {
        return fail_range(card, dest, addr, n > 0, counter);
    }
    if (!strided_exists(card, addr, stride, n)) {
        fail(VIC_ERANGE, "addr %u and %zu more words, %zu apart, are not in SRAM (%u words)", addr, n - 1, stride,
             card->sram_words);
        return watch_refused(card, VIC_ERANGE);
    }
    struct vector v = {.dest = dest, .op = VIC_WRITE, .addr = addr, .stride = stride, .counter = counter,
                       .words = words};
    WATCHED(card, CALL_PUT_STRIDED, n, send_vector(card, &v, n),
            "dest addr stride n counter", dest, addr, (int64_t)stride, (int64_t)n, counter);
}

int vic_put_indexed(vic_t *card, uint32_t dest, const vic_addr_t *addrs, const uint64_t *words, size_t n,
                    unsigned counter)
{
    NEED(card, addrs != NULL && words != NULL);
    vic_addr_t most = 0;
    for (size_t i = 0; i < n; i++) {
        most = addrs[i] > most ? addrs[i] : most;
    }
    if (dest >= card->cards || (n > 0 && most >= card->sram_words) || !counter_exists(card, counter)) {
        return fail_range(card, dest, most, n > 0, counter);
    }
    struct vector v = {.dest = dest, .op = VIC_WRITE, .addrs = addrs, .counter = counter, .words = words};
    WATCHED(card, CALL_PUT_INDEXED, n, send_vector(card, &v, n), "dest n counter", dest, (int64_t)n, counter);
}

int vic_try_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent)
{
    NEED(card, headers != NULL && payloads != NULL && sent != NULL);
    *sent = 0;
    WATCHED(card, CALL_TRY_SEND, *sent, card->ops->try_send(card, headers, payloads, n, sent),
            PACKETS, PACKETS_OF(headers, n));
}
