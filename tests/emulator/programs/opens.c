/* Opens its card, says what came of it, and does what the argument asks: for tests of what surrounds a job. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static vic_t *open_or_end(void)
{
    vic_t *card;
    int status = vic_open(&card);
    printf("%d %s\n", status, vic_open_reason());
    fflush(stdout);
    if (status != VIC_OK) {
        exit(0);
    }
    return card;
}

/* The same card again: here, and in another process of the job. */
static void twice(char **argv)
{
    vic_t *again;
    IS(vic_open(&again), VIC_EBUSY);
    CHECK(again == NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl(argv[0], argv[0], "no", (char *)NULL);
        _exit(9);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
}

static void many(vic_t *card)
{
    for (int i = 0; i < 300; i++) {
        IS(vic_counter_set(card, 3, i), VIC_OK);
        OK(vic_close(card));
        IS(vic_counter_set(card, 3, i), VIC_ECLOSED);
        OK(vic_open(&card));
        int64_t value;
        OK(vic_counter_get(card, 3, &value));
        CHECK(value == i); /* the card is as it was left */
    }
    OK(vic_close(card));
}

/* Card 1 goes in one way or another while the others wait; all of them have left the barrier when it does. */
static void leave(vic_t *card, const char *how)
{
    struct self self = self_of(card);
    OK(vic_counter_set(card, 0, 1));
    OK(vic_counter_set(card, 1, self.cards - 1));
    OK(vic_barrier(card, LONG));
    if (self.me == 1) {
        OK(vic_counter_wait(card, 1, LONG));
        if (strcmp(how, "die") == 0) {
            raise(SIGKILL);
        }
        exit(strcmp(how, "fail") == 0 ? 4 : 0);
    }
    uint64_t word = 0;
    OK(vic_put(card, 1, 0, &word, 1, 1));
    int status = self.me == 0 ? vic_counter_wait(card, 0, VIC_FOREVER) : vic_barrier(card, VIC_FOREVER);
    printf("%s\n", vic_strerror(status));
}

/* Blocked by a FIFO that nobody reads. */
static void block(vic_t *card)
{
    struct self self = self_of(card);
    OK(vic_barrier(card, LONG));
    if (self.me == 0) {
        uint64_t header = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER), word = 0;
        int status = VIC_OK;
        while (status == VIC_OK) {
            status = vic_send(card, &header, &word, 1);
        }
        printf("%s\n", vic_strerror(status));
        return;
    }
    usleep(20000);
    raise(SIGKILL);
}

/* One packet that a counter does not expect, and a second: reported once. */
static void unexpected(vic_t *card)
{
    struct self self = self_of(card);
    uint64_t word = 1;
    if (self.me == 0) {
        OK(vic_put(card, 1, 0, &word, 1, 7));
        OK(vic_put(card, 1, 0, &word, 1, 7));
        OK(vic_put(card, 1, 0, &word, 1, VIC_NO_COUNTER));
    }
    OK(vic_barrier(card, LONG));
}

/* FIFO words to card 1, which says how many came. */
static void count(vic_t *card)
{
    struct self self = self_of(card);
    enum { ALL = 1000 };
    uint64_t word = 5, header = vic_header(1, VIC_FIFO, 0, 0);
    OK(vic_counter_set(card, 0, ALL));
    OK(vic_barrier(card, LONG));
    for (int i = 0; i < ALL && self.me == 0; i++) {
        OK(vic_send(card, &header, &word, 1));
    }
    size_t got = 0, n;
    uint64_t words[64];
    int64_t left = 0;
    for (int status = VIC_OK; self.me == 1 && (status == VIC_OK || (status == VIC_ETIMEDOUT && left > 0));) {
        OK(vic_counter_get(card, 0, &left));
        status = vic_fifo_wait(card, words, 1, 64, &n, 20 * 1000 * 1000);
        got += status == VIC_OK ? n : 0;
    }
    if (self.me == 1) {
        OK(vic_counter_wait(card, 0, LONG)); /* what is lost was counted */
        printf("got %zu\n", got);
    }
    OK(vic_barrier(card, LONG));
}

/* FIFO words in a row: do they come in a row? */
static void order(vic_t *card)
{
    struct self self = self_of(card);
    enum { ALL = 60 };
    uint64_t headers[ALL], words[ALL];
    for (uint64_t i = 0; i < ALL; i++) {
        headers[i] = vic_header(self.me, VIC_FIFO, 0, 0);
        words[i] = i;
    }
    OK(vic_send(card, headers, words, ALL));
    bool sorted = true;
    for (size_t got = 0, n; got < ALL; got += n) {
        OK(vic_fifo_wait(card, words, 1, ALL, &n, LONG));
        for (size_t i = 0; i < n; i++) {
            sorted = sorted && words[i] == got + i;
        }
    }
    printf("%s\n", sorted ? "in order" : "in another order");
}

/* A transfer that the full FIFO of a program that ends has stopped. */
static void stuck(vic_t *card)
{
    struct self self = self_of(card);
    enum { ALL = 200 };
    uint64_t headers[ALL], words[ALL] = {0};
    vic_dma_t *dma;
    OK(vic_barrier(card, LONG));
    if (self.me == 0) {
        for (size_t i = 0; i < ALL; i++) {
            headers[i] = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
        }
        OK(vic_write(card, 0, headers, ALL));
        OK(vic_dma_send(card, 0, words, ALL, &dma));
        printf("%s\n", vic_strerror(vic_dma_wait(card, &dma, VIC_FOREVER)));
    }
}

/* How long a call of this card takes, and a transfer. */
static void clock_calls(vic_t *card)
{
    struct self self = self_of(card);
    uint64_t word, longest = 0, start = vic_time_ns(card);
    const uint64_t window = 60 * 1000 * 1000, most = 2 * (uint64_t)SECOND, stall = window / 3;
    while (vic_time_ns(card) - start < (self.me == 1 && longest < stall ? most : window)) { /* it may begin late */
        uint64_t before = vic_time_ns(card);
        OK(vic_read(card, 0, &word, 1));
        uint64_t took = vic_time_ns(card) - before;
        longest = took > longest ? took : longest;
    }
    vic_dma_t *dma;
    start = vic_time_ns(card);
    OK(vic_dma_read(card, &word, 0, 1, &dma));
    OK(vic_dma_wait(card, &dma, LONG));
    printf("card %u longest %llu dma %llu\n", self.me, (unsigned long long)longest,
           (unsigned long long)(vic_time_ns(card) - start));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    vic_t *card = open_or_end();
    if (strcmp(what, "twice") == 0) {
        twice(argv);
    } else if (strcmp(what, "many") == 0) {
        many(card);
        return 0;
    } else if (strcmp(what, "die") == 0 || strcmp(what, "fail") == 0 || strcmp(what, "end") == 0) {
        leave(card, what);
    } else if (strcmp(what, "killed") == 0) {
        raise(SIGKILL);
    } else if (strcmp(what, "block") == 0) {
        block(card);
    } else if (strcmp(what, "unexpected") == 0) {
        unexpected(card);
    } else if (strcmp(what, "count") == 0) {
        count(card);
    } else if (strcmp(what, "order") == 0) {
        order(card);
    } else if (strcmp(what, "stuck") == 0) {
        stuck(card);
    } else if (strcmp(what, "clock") == 0) {
        clock_calls(card);
    } else if (strcmp(what, "barrier") == 0) {
        int status = VIC_OK;
        for (long i = argc > 2 ? atol(argv[2]) : 1; i > 0 && status == VIC_OK; i--) {
            status = vic_barrier(card, VIC_FOREVER);
        }
        printf("%s\n", vic_strerror(status));
    } else if (strcmp(what, "wait") == 0) {
        OK(vic_counter_set(card, 0, 1));
        printf("%s\n", vic_strerror(vic_counter_wait(card, 0, VIC_FOREVER)));
    }
    OK(vic_close(card));
    return 0;
}
