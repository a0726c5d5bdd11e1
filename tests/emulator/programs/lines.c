/* Which cache lines of the job's memory each call reads and writes, as one thread with two cards of a job sees it. The
 * library is compiled for the thread sanitizer, whose functions are these: they write addresses down. */
#define _GNU_SOURCE
#include "harness.h"

#include "handle.h"

enum { CACHE_LINE = 64, MOST = 256 };

static const struct job *job;
static struct touched {
    uintptr_t line;
    bool written;
} touched[MOST];
static size_t used;
static bool records;

static void touch(const volatile void *at, bool written)
{
    uintptr_t line = (uintptr_t)at / CACHE_LINE, from = records ? (uintptr_t)job->shared : UINTPTR_MAX;
    if ((uintptr_t)at < from || (uintptr_t)at >= from + job->bytes) {
        return;
    }
    size_t i = 0;
    while (i < used && touched[i].line != line) {
        i++;
    }
    CHECK(i < MOST);
    touched[i] = (struct touched){line, written || (i < used && touched[i].written)};
    used += i == used;
}

#define PLAIN(bytes)                                                                                                \
    void __tsan_read##bytes(void *at) { touch(at, false); }                                                         \
    void __tsan_write##bytes(void *at) { touch(at, true); }                                                         \
    void __tsan_unaligned_read##bytes(void *at) { touch(at, false); }                                               \
    void __tsan_unaligned_write##bytes(void *at) { touch(at, true); }
#define CHANGE(bits, name)                                                                                          \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int order)       \
    {                                                                                                               \
        (void)order;                                                                                                \
        touch(at, true);                                                                                            \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                                        \
    }
#define EXCHANGE(bits, kind)                                                                                        \
    int __tsan_atomic##bits##_compare_exchange_##kind(volatile uint##bits##_t *at, uint##bits##_t *old,             \
                                                      uint##bits##_t value, int good, int bad)                      \
    {                                                                                                               \
        (void)good;                                                                                                 \
        (void)bad;                                                                                                  \
        touch(at, true);                                                                                            \
        return __atomic_compare_exchange_n(at, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
    }
#define ATOMIC(bits)                                                                                                \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)                         \
    {                                                                                                               \
        (void)order;                                                                                                \
        touch(at, false);                                                                                           \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                               \
    }                                                                                                               \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order)                  \
    {                                                                                                               \
        (void)order;                                                                                                \
        touch(at, true);                                                                                            \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                              \
    }                                                                                                               \
    EXCHANGE(bits, strong)                                                                                          \
    EXCHANGE(bits, weak)                                                                                            \
    CHANGE(bits, fetch_add)                                                                                         \
    CHANGE(bits, fetch_sub)                                                                                         \
    CHANGE(bits, fetch_or)                                                                                          \
    CHANGE(bits, fetch_and)                                                                                         \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at, uint##bits##_t value, int order)     \
    {                                                                                                               \
        (void)order;                                                                                                \
        touch(at, true);                                                                                            \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                    \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
ATOMIC(8)
ATOMIC(32)
ATOMIC(64)
static void range(void *at, size_t bytes, bool written)
{
    for (size_t i = 0; i < bytes; i++) {
        touch((char *)at + i, written);
    }
}

void __tsan_read_range(void *at, size_t bytes) { range(at, bytes, false); }
void __tsan_write_range(void *at, size_t bytes) { range(at, bytes, true); }
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* What a line is; the shared memory of a job is head, cards, rings, SRAM. */
static const char *name_of(uintptr_t line)
{
    uintptr_t at = line * CACHE_LINE, cards = (uintptr_t)job->card, sram = (uintptr_t)job->sram;
    if (at >= sram) {
        return "SRAM";
    }
    if (at >= (uintptr_t)job->slots) {
        return "FIFO slots";
    }
    if (at < cards) {
        return "head of the job";
    }
    size_t in = (at - cards) % sizeof(struct card_shared);
    return in >= offsetof(struct card_shared, counter)     ? "counter"
           : in >= offsetof(struct card_shared, fifo_head) ? "FIFO head"
           : in >= offsetof(struct card_shared, fifo_tail) ? "FIFO tail"
           : in >= offsetof(struct card_shared, arrival)   ? "bell"
                                                           : "seat";
}

static void print(const char *what)
{
    size_t written = 0;
    for (size_t i = 0; i < used; i++) {
        written += touched[i].written;
    }
    printf("| %s | %zu | %zu |", what, used, written);
    for (size_t i = 0; i < used; i += 1) {
        const char *name = name_of(touched[i].line);
        size_t same = 1;
        while (i + 1 < used && strcmp(name_of(touched[i + 1].line), name) == 0) {
            i++;
            same++;
        }
        if (same > 1) {
            printf(" %zu x", same);
        }
        printf(" %s%s", name, i + 1 < used ? "," : "");
    }
    puts(" |");
}

#define COUNT(what, call)                                                                                           \
    do {                                                                                                            \
        used = 0;                                                                                                   \
        records = true;                                                                                             \
        OK(call);                                                                                                   \
        records = false;                                                                                            \
        print(what);                                                                                                \
    } while (0)

enum { SOME = 64 };

static void count_all(vic_t *card, vic_t *peer)
{
    uint64_t words[SOME] = {0}, headers[SOME], ready;
    size_t n;
    int64_t value;
    for (size_t i = 0; i < SOME; i++) {
        headers[i] = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    uint64_t counted = vic_header(1, VIC_FIFO, 0, 5);
    OK(vic_counter_set(peer, 5, 1000));
    OK(vic_counter_set(peer, 6, 1));
    COUNT("`vic_put`, one word", vic_put(card, 1, 0, words, 1, 5));
    COUNT("`vic_put`, 64 words", vic_put(card, 1, 0, words, SOME, 5));
    COUNT("`vic_put` that brings the counter to 0", vic_put(card, 1, 0, words, 1, 6));
    COUNT("`vic_counter_wait`, it is 0", vic_counter_wait(peer, 6, 0));
    COUNT("`vic_wait`, 8 counters", vic_wait(peer, 0xff, 0, &ready, 0));
    COUNT("`vic_counter_get`", vic_counter_get(peer, 6, &value));
    COUNT("`vic_counter_set`", vic_counter_set(peer, 6, 1));
    OK(vic_send(card, headers, words, 1));
    COUNT("surprise packet, `VIC_NO_COUNTER`", vic_send(card, headers, words, 1));
    COUNT("surprise packet, counted", vic_send(card, &counted, words, 1));
    COUNT("64 surprise packets in one call", vic_send(card, headers, words, SOME));
    COUNT("`vic_fifo_poll`, one word", vic_fifo_poll(peer, words, 1, &n));
    COUNT("`vic_fifo_wait`, one word is there", vic_fifo_wait(peer, words, 1, 1, &n, 0));
    COUNT("`vic_fifo_poll`, 64 words", vic_fifo_poll(peer, words, SOME, &n));
    OK(vic_fifo_poll(peer, words, SOME, &n));
    COUNT("`vic_fifo_poll`, nothing is there", vic_fifo_poll(peer, words, 1, &n));
}

int main(void)
{
    struct job_config config = job_usual;
    char name[32];
    const char *why;
    vic_t *card, *peer;
    config.cards = 2;
    int memory = job_create(&config, 42);
    CHECK(memory >= 0);
    job = job_attach(memory, 42, &why);
    CHECK(job != NULL);
    snprintf(name, sizeof name, "%d:2a", memory);
    OK(open_named(name, "0", NULL, &card));
    OK(open_named(name, "1", NULL, &peer));
    count_all(card, peer);
    OK(vic_close(peer));
    OK(vic_close(card));
    return 0;
}
