/* Card 1 is open, and that is all. Card 0 opens a team with it while a thread of its own writes over the counter under
 * which it waits for the answers of card 1: the call ends all the same, and says what is wrong. */
#include <pthread.h>
#include <stdatomic.h>

#include "collective.h"

static vic_t *card;
static _Atomic int done;

/* The first counter of a card that has allocated none. */
static void *count(void *what)
{
    uint64_t header = vic_header(0, VIC_COUNTER_SET, 0, 0), many = 1000;
    while (!done) {
        OK(vic_send(card, &header, &many, 1));
    }
    return what;
}

void run(const struct self *self)
{
    pthread_t thread;
    vic_team_t *team;
    card = self->card;
    OK(vic_barrier(card, LONG));
    if (self->me == 0) {
        CHECK(pthread_create(&thread, NULL, count, NULL) == 0);
        int status = VIC_ETIMEDOUT;
        while (status == VIC_ETIMEDOUT) { /* once between two packets of the other thread the answers were counted */
            status = vic_team_open(card, NULL, 0, &team, 0);
        }
        IS(status, VIC_EPEER);
        CHECK(strcmp(vic_error_detail(), "answers of other cards are not counted: a program counts on counter 0, which a "
                                         "team uses") == 0);
        done = 1;
        CHECK(pthread_join(thread, NULL) == 0);
    }
    OK(vic_barrier(card, LONG));
}
