/* Card 0 opens a team with card 1 of another host while a thread of its own sets the counter to 0 under which it waits for
 * the answers of card 1, and that host goes: the call ends. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "collective.h"

static vic_t *card;
static _Atomic int done;

/* The first counter of a card that has allocated none. */
static void *zero(void *what)
{
    while (!atomic_load(&done)) {
        vic_counter_set(card, 0, 0);
    }
    return what;
}

void run(const struct self *self)
{
    pthread_t thread;
    vic_team_t *team;
    card = self->card;
    OK(vic_barrier(card, LONG));
    if (self->me == 1) {
        pause_ns(100 * 1000 * 1000);
        kill(getppid(), SIGKILL); /* the launcher of this host */
        pause();
    }
    CHECK(pthread_create(&thread, NULL, zero, NULL) == 0);
    int status = vic_team_open(card, NULL, 0, &team, LONG);
    CHECK(status != VIC_OK && status != VIC_ETIMEDOUT);
    atomic_store(&done, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ended");
    fflush(stdout);
}
