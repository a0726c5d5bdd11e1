/* Threads call while another one closes their card, and opens the next: each call ends with VIC_OK or VIC_ECLOSED.
 *
 *     close_in_call TIMES */
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>

#include "harness.h"

enum { CALLERS = 4, WORDS = 3000 };
static vic_t *_Atomic shared;
static _Atomic int over;

static void is_one_of(int status, int other)
{
    CHECK(status == VIC_OK || status == VIC_ECLOSED || status == other);
}

static void *call(void *number)
{
    static const uint64_t words[WORDS];
    uint64_t ready, word[8], opens;
    size_t n;
    for (unsigned i = (unsigned)(size_t)number; !atomic_load(&over); i++) {
        vic_t *card = atomic_load(&shared);
        switch (i % 8) {
        case 0: is_one_of(vic_put_strided(card, 0, 0, 0, words, WORDS, VIC_NO_COUNTER), VIC_OK); break;
        case 1: is_one_of(vic_put(card, 0, 0, words, 8, VIC_NO_COUNTER), VIC_OK); break;
        case 2: is_one_of(vic_counter_wait(card, 1, 300000), VIC_ETIMEDOUT); break;
        case 3: is_one_of(vic_wait(card, 2, 0, &ready, 0), VIC_ETIMEDOUT); break;
        case 4: is_one_of(vic_fifo_poll(card, word, 8, &n), VIC_OK); break;
        case 5: is_one_of(vic_barrier(card, 0), VIC_ETIMEDOUT); break;
        case 6: is_one_of(vic_peer_opens(card, 0, &opens), VIC_OK); break;
        default: vic_relax(card); vic_time_ns(card);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t caller[CALLERS];
    vic_t *card;
    OK(vic_open(&card));
    OK(vic_counter_set(card, 1, 1));
    atomic_store(&shared, card);
    for (size_t i = 0; i < CALLERS; i++) {
        CHECK(pthread_create(&caller[i], NULL, call, (void *)i) == 0);
    }
    for (int i = 0; argc == 2 && i < atoi(argv[1]); i++) {
        sched_yield();
        OK(vic_close(card));
        OK(vic_open(&card));
        OK(vic_counter_set(card, 1, 1));
        atomic_store(&shared, card);
    }
    atomic_store(&over, 1);
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(caller[i], NULL);
    }
    OK(vic_close(card));
    return 0;
}
