/* What calls do when there is no memory: a status, and the card works on as if they had not been made. Here
 * memory ends after a number of pieces.
 *
 *     short_memory calls | reordered | threads | first */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "harness.h"

enum { ENDLESS = -1, MOST = 24, MANY = 1500 };

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static int pieces = ENDLESS;
static vic_t *card;
static sem_t go, end;

static bool is_out(void)
{
    int left = __atomic_load_n(&pieces, __ATOMIC_RELAXED);
    if (left > 0) {
        __atomic_store_n(&pieces, left - 1, __ATOMIC_RELAXED);
    }
    errno = left == 0 ? ENOMEM : errno;
    return left == 0;
}

/* Those of libvic and libvic-threads.so are these. */
void *malloc(size_t bytes)
{
    return is_out() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return is_out() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return is_out() ? NULL : __libc_realloc(memory, bytes);
}

/* A call with ever more memory until it is good, each time twice: what failed leaves nothing behind. */
#define UNTIL_GOOD(failure, call, undo)                                                                     \
    do {                                                                                                    \
        int failed_ = 0;                                                                                    \
        for (int i_ = 0; i_ < MOST; i_++) {                                                                 \
            pieces = i_ / 2;                                                                                \
            int status_ = (call);                                                                           \
            pieces = ENDLESS;                                                                               \
            CHECK(status_ == 0 || status_ == (failure));                                                    \
            failed_ += status_ != 0;                                                                        \
            if (status_ == 0) {                                                                             \
                undo;                                                                                       \
            }                                                                                               \
        }                                                                                                   \
        CHECK(failed_ > 0 && failed_ < MOST);                                                               \
    } while (0)

static int open_card(void)
{
    int status = vic_open(&card);
    CHECK((status == VIC_OK) == (card != NULL));
    CHECK(status == VIC_OK || strncmp(vic_open_reason(), "no memory", 9) == 0);
    return status;
}

static void calls(void)
{
    vic_addr_t addr;
    vic_dma_t *dma;
    uint64_t word = 7, read;
    size_t n;
    UNTIL_GOOD(VIC_ESYS, vic_alloc(card, 8, &addr), OK(vic_free(card, addr)));
    CHECK(addr == 0);
    OK(vic_write(card, 3, &word, 1));
    UNTIL_GOOD(VIC_ESYS, vic_dma_read(card, &read, 3, 1, &dma), OK(vic_dma_wait(card, &dma, LONG)));
    CHECK(read == 7);
    struct self self = self_of(card);
    uint64_t headers[MANY], words[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        headers[i] = vic_header(self.me, VIC_FIFO, 0, VIC_NO_COUNTER);
        words[i] = i;
    }
    OK(vic_write(card, 8, headers, MANY));
    if (self.attr.mode == 0) { /* the rest of a transfer is kept for later, as far as there is memory */
        pieces = 0;
        IS(vic_dma_send(card, 8, words, MANY, &dma), VIC_ESYS);
        pieces = 1;
        IS(vic_dma_send(card, 8, words, MANY, &dma), VIC_ESYS);
        pieces = ENDLESS;
        OK(vic_fifo_wait(card, words, self.attr.fifo_words, MANY, &n, LONG));
        CHECK(n >= self.attr.fifo_words && words[0] == 0 && words[1] == 1);
    }
}

/* With --reorder all packets are kept for a while; replies to queries, too. */
static void reordered(void)
{
    enum { ALL = 1024 }; /* so many have room at first */
    uint64_t header[ALL], word[ALL], found = 0, five = 5;
    int64_t left;
    for (uint32_t i = 0; i < ALL; i++) {
        header[i] = vic_header(0, VIC_QUERY, 5, VIC_NO_COUNTER);
        word[i] = vic_header(0, VIC_WRITE, 6, 1);
    }
    OK(vic_write(card, 5, &five, 1));
    OK(vic_counter_set(card, 1, 4 * ALL));
    pieces = 0;
    IS(vic_send(card, header, word, 1), VIC_ESYS);
    pieces = 1;
    OK(vic_send(card, header, word, ALL));
    for (int i = 0; i < 100; i++) {
        vic_relax(card); /* there is no room for replies */
    }
    OK(vic_counter_get(card, 1, &left));
    CHECK(left == 4 * ALL);
    pieces = ENDLESS;
    for (int i = 0; i < 3; i++) {
        OK(vic_send(card, header, word, ALL));
    }
    OK(vic_counter_wait(card, 1, LONG));
    OK(vic_read(card, 6, &found, 1));
    CHECK(found == 5);
}

static void *count(void *what)
{
    ++*(int *)what;
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    int made = 0;
    UNTIL_GOOD(EAGAIN, pthread_create(&thread, NULL, count, &made), CHECK(pthread_join(thread, NULL) == 0));
    CHECK(made > 0);
}

static void *first_call(void *what)
{
    CHECK(sem_wait(&go) == 0);
    int64_t value;
    uint64_t word = 1, opens = 0, ready, header = vic_header(0, VIC_WRITE, 0, VIC_NO_COUNTER);
    vic_dma_t *dma;
    size_t n;
    pieces = 0;
    IS(vic_counter_set(card, 1, 5), VIC_ESYS);
    IS(vic_counter_get(card, 1, &value), VIC_ESYS);
    IS(vic_counter_wait(card, 1, VIC_FOREVER), VIC_ESYS);
    IS(vic_put(card, 0, 0, &word, 1, 1), VIC_ESYS);
    IS(vic_write(card, 0, &word, 1), VIC_ESYS);
    IS(vic_barrier(card, VIC_FOREVER), VIC_ESYS);
    IS(vic_send(card, &header, &word, 1), VIC_ESYS);
    IS(vic_try_send(card, &header, &word, 1, &n), VIC_ESYS);
    IS(vic_send_cached(card, 0, &word, 1), VIC_ESYS);
    IS(vic_read(card, 0, &word, 1), VIC_ESYS);
    IS(vic_dma_read(card, &word, 0, 1, &dma), VIC_ESYS);
    IS(vic_dma_send(card, 0, &word, 1, &dma), VIC_ESYS);
    IS(vic_fifo_poll(card, &word, 1, &n), VIC_ESYS);
    IS(vic_fifo_wait(card, &word, 1, 1, &n, VIC_FOREVER), VIC_ESYS);
    IS(vic_wait(card, 1, 0, &ready, VIC_FOREVER), VIC_ESYS);
    IS(vic_compute_ns(card, 1), VIC_ESYS);
    OK(vic_peer_opens(card, 0, &opens)); /* there is no memory needed for that, */
    vic_relax(card);                     /* and no status for this */
    CHECK(opens % 2 == 1);
    pieces = ENDLESS;
    OK(vic_counter_set(card, 1, 5));
    OK(vic_counter_get(card, 1, &value));
    CHECK(value == 5);
    return what;
}

static void *close_without(void *what)
{
    CHECK(sem_wait(&end) == 0);
    pieces = 0;
    OK(vic_close(card));
    pieces = ENDLESS;
    return what;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread, closer;
    bool first = strcmp(what, "first") == 0;
    CHECK(!first || pthread_create(&thread, NULL, first_call, NULL) == 0);
    CHECK(!first || pthread_create(&closer, NULL, close_without, NULL) == 0);
    UNTIL_GOOD(VIC_ESYS, open_card(), OK(vic_close(card)));
    OK(vic_open(&card));
    if (first) {
        CHECK(sem_post(&go) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(sem_post(&end) == 0 && pthread_join(closer, NULL) == 0);
        return 0;
    } else if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "reordered") == 0) {
        reordered();
    } else {
        calls();
    }
    OK(vic_close(card));
    uint64_t word = 0;
    vic_addr_t addr = 0;
    size_t sent;
    IS(vic_get(card, 0, 0, 1, 0, 0), VIC_ECLOSED); /* no memory is touched that was the card's */
    IS(vic_put_strided(card, 0, 0, 1, &word, 1, 0), VIC_ECLOSED);
    IS(vic_put_indexed(card, 0, &addr, &word, 1, 0), VIC_ECLOSED);
    IS(vic_try_send(card, &word, &word, 1, &sent), VIC_ECLOSED);
    return 0;
}
