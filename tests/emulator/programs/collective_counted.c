/* Card 1 is open, and that is all. Card 0 opens a team with it while a thread of its own writes over the counter under
 * which it waits for the answers of card 1: the call ends all the same, and says what is wrong. With LOST in the
 * environment the thread sets the counter to 0, and the host of card 1 is lost during the call. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "collective.h"

static vic_t *card;
static bool lost;
static _Atomic int done;

/* Of the first counter of a card that has allocated none. */
static void *write_over(void *what)
{
    uint64_t header = vic_header(0, VIC_COUNTER_SET, 0, 0), many = 1000;
    while (!done) {
        if (lost) {
            vic_counter_set(card, 0, 0);
        } else {
            OK(vic_send(card, &header, &many, 1));
        }
    }
    return what;
}

/* The launcher of this card's host goes, and with it the host. */
static void lose_host(void)
{
    pause_ns(100 * 1000 * 1000);
    kill(getppid(), SIGKILL);
    pause();
}

void run(const struct self *self)
{
    pthread_t thread;
    vic_team_t *team;
    card = self->card;
    lost = getenv("LOST") != NULL;
    OK(vic_barrier(card, LONG));
    if (lost && self->me == 1) {
        lose_host();
    }
    if (self->me == 0) {
        CHECK(pthread_create(&thread, NULL, write_over, NULL) == 0);
        int status = VIC_ETIMEDOUT;
        while (status == VIC_ETIMEDOUT) { /* once between two packets of the other thread the answers were counted */
            status = vic_team_open(card, NULL, 0, &team, lost ? LONG : 0);
        }
        IS(status, VIC_EPEER);
        done = 1;
        CHECK(pthread_join(thread, NULL) == 0);
    }
    if (lost) {
        puts("ended");
        exit(0);
    }
    if (self->me == 0) {
        CHECK(strcmp(vic_error_detail(), "answers of other cards are not counted: a program counts on counter 0, which a "
                                         "team uses") == 0);
    }
    OK(vic_barrier(card, LONG));
}
