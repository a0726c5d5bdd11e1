/* Card 0 waits in a barrier of a team for many hours, as its clock has it, which a thread sets forward; then card 1 closes
 * the team: card 0 still notices. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collective.h"

enum { GO = 40, TIMES = 100 };

static vic_t *card;
static _Atomic int64_t hours;
static _Atomic int done;

/* libvic finds this one before that of libc. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += 3600 * atomic_load(&hours);
    return status;
}

static void *lets_time_pass(void *what)
{
    uint64_t one = 1;
    for (int i = 0; !atomic_load(&done); i++) {
        atomic_fetch_add(&hours, 2);
        usleep(10 * 1000);
        if (i == TIMES) {
            OK(vic_put(card, 1, 0, &one, 1, GO));
        }
    }
    return what;
}

void run(const struct self *self)
{
    pthread_t thread;
    vic_team_t *team;
    card = self->card;
    OK(vic_counter_set(card, GO, 1));
    OK(vic_team_open(card, NULL, 0, &team, LONG));
    if (self->me == 1) {
        OK(vic_counter_wait(card, GO, LONG));
    } else {
        CHECK(pthread_create(&thread, NULL, lets_time_pass, NULL) == 0);
        IS(vic_team_barrier(team, VIC_FOREVER), VIC_EPEER);
        CHECK(strcmp(vic_error_detail(), "card 1 has closed the team, or its card, and not made this call") == 0);
        atomic_store(&done, 1);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    OK(vic_team_close(team));
    OK(vic_barrier(card, VIC_FOREVER));
}
