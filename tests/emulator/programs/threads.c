/* May threads of a process use a card at the same time? One sends while one waits; both cross barriers,
 * allocate and free; a wait ends when another thread closes the card. */
#include <pthread.h>

#include "harness.h"

enum { ROUNDS = 40, TURNS = 60 };

struct seat {
    const struct self *self;
    unsigned number;
};

/* A ring of tokens for each seat, each on a counter of its own. */
static void *pass_tokens(void *what)
{
    const struct seat *seat = what;
    vic_t *card = seat->self->card;
    uint32_t right = (seat->self->me + 1) % seat->self->cards;
    vic_addr_t addr = 64 + seat->number;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t word = round;
        if (seat->self->me != 0) {
            OK(vic_counter_wait(card, seat->number, LONG));
            OK(vic_read(card, addr, &word, 1));
            OK(vic_counter_set(card, seat->number, 1));
        }
        CHECK(word == round);
        OK(vic_put(card, right, addr, &word, 1, seat->number));
        if (seat->self->me == 0) {
            OK(vic_counter_wait(card, seat->number, LONG));
            OK(vic_counter_set(card, seat->number, 1));
        }
    }
    return NULL;
}

static void *allocate(void *what)
{
    const struct seat *seat = what;
    vic_t *card = seat->self->card;
    for (int i = 0; i < TURNS; i++) {
        vic_addr_t addr[4];
        unsigned counter;
        vic_dma_t *dma;
        uint64_t word;
        for (int k = 0; k < 4; k++) {
            OK(vic_alloc(card, 16, &addr[k]));
        }
        OK(vic_counter_alloc(card, &counter));
        OK(vic_dma_read(card, &word, addr[0], 1, &dma));
        OK(vic_dma_wait(card, &dma, LONG));
        OK(vic_counter_free(card, counter));
        for (int k = 0; k < 4; k++) {
            OK(vic_free(card, addr[k]));
        }
    }
    return NULL;
}

static void *cross(void *what)
{
    const struct seat *seat = what;
    for (int i = 0; i < ROUNDS; i++) {
        OK(vic_barrier(seat->self->card, LONG));
    }
    return NULL;
}

static void *visit(void *what)
{
    const struct seat *seat = what;
    uint64_t word;
    OK(vic_read(seat->self->card, 64, &word, 1));
    return NULL;
}

/* One thread reads while others come for one call each. */
static void *visits(void *what)
{
    const struct seat *seat = what;
    for (int i = 0; i < TURNS; i++) {
        pthread_t other;
        if (seat->number == 0) {
            visit(what);
        } else {
            CHECK(pthread_create(&other, NULL, visit, what) == 0);
            pthread_join(other, NULL);
        }
    }
    return NULL;
}

static void both(const struct self *self, void *(*what)(void *))
{
    struct seat seat[2] = {{self, 0}, {self, 1}};
    pthread_t other;
    CHECK(pthread_create(&other, NULL, what, &seat[1]) == 0);
    what(&seat[0]);
    pthread_join(other, NULL);
    OK(vic_barrier(self->card, LONG));
}

static void *wait_for_ever(void *what)
{
    const struct seat *seat = what;
    uint64_t word;
    size_t n;
    switch (seat->number) {
    case 0: IS(vic_counter_wait(seat->self->card, 9, VIC_FOREVER), VIC_ECLOSED); break;
    case 1: IS(vic_fifo_wait(seat->self->card, &word, 1, 1, &n, VIC_FOREVER), VIC_ECLOSED); break;
    default: {
        int status = vic_barrier(seat->self->card, VIC_FOREVER);
        CHECK(status == VIC_ECLOSED || status == VIC_EPEER); /* the others have ended: nobody will come */
    }
    }
    return NULL;
}

/* Card 0 closes while its threads wait; nobody else is in the barrier then. */
static void close_under(const struct self *self)
{
    struct seat seat[3] = {{self, 0}, {self, 1}, {self, 2}};
    pthread_t thread[3];
    unsigned waits = self->cards > 1 ? 3 : 2; /* a barrier of one is crossed at once */
    OK(vic_counter_set(self->card, 9, 1));
    for (unsigned i = 0; i < waits; i++) {
        CHECK(pthread_create(&thread[i], NULL, wait_for_ever, &seat[i]) == 0);
    }
    uint64_t start = vic_time_ns(self->card);
    while (vic_time_ns(self->card) - start < 5 * 1000 * 1000) {
        vic_relax(self->card);
    }
    OK(vic_close(self->card));
    for (unsigned i = 0; i < waits; i++) {
        pthread_join(thread[i], NULL);
    }
}

void run(const struct self *self)
{
    OK(vic_counter_set(self->card, 0, 1));
    OK(vic_counter_set(self->card, 1, 1));
    OK(vic_barrier(self->card, LONG));
    both(self, pass_tokens);
    both(self, allocate);
    both(self, cross);
    both(self, visits);
    if (self->me == 0) {
        close_under(self);
#ifdef IN_PROCESS
        pthread_exit(NULL);
#else
        exit(0);
#endif
    }
}
