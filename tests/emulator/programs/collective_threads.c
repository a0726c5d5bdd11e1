/* Threads of a card at work with teams of their own, in one at the same time, and when another one closes it. */
#include <pthread.h>

#include "collective.h"

enum { TEAMS = 3, ROUNDS = 40 };

struct worker {
    const struct self *self;
    struct list list;
    vic_team_t *team;
};

static void *work(void *what)
{
    struct worker *worker = what;
    uint32_t n = worker->list.n, me = index_of(&worker->list, worker->self->me);
    uint64_t word[CARDS_MOST], sum;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t mine = word_of(round, me, n), all = 0;
        OK(vic_allreduce(worker->team, VIC_SUM, &mine, &sum, 1, VIC_FOREVER));
        OK(vic_gather(worker->team, (uint32_t)(round % n), &mine, 1, word, VIC_FOREVER));
        for (uint32_t i = 0; i < n; i++) {
            all += word_of(round, i, n);
            CHECK(me != round % n || word[i] == word_of(round, i, n));
        }
        CHECK(sum == all);
    }
    return NULL;
}

static void many_teams(const struct self *self)
{
    struct worker worker[TEAMS];
    pthread_t thread[TEAMS];
    for (uint32_t k = 0; k < TEAMS; k++) { /* all; all the other way round; all but card 0 */
        worker[k] = (struct worker){.self = self};
        for (uint32_t i = k == 2; i < self->cards; i++) {
            worker[k].list.card[worker[k].list.n++] = k == 1 ? self->cards - 1 - i : i;
        }
        if (in_list(&worker[k].list, self->me)) {
            worker[k].team = open_team(self, &worker[k].list);
        }
    }
    for (uint32_t k = 0; k < TEAMS; k++) {
        CHECK(worker[k].team == NULL || pthread_create(&thread[k], NULL, work, &worker[k]) == 0);
    }
    for (uint32_t k = 0; k < TEAMS; k++) {
        if (worker[k].team != NULL) {
            CHECK(pthread_join(thread[k], NULL) == 0);
            OK(vic_team_close(worker[k].team));
        }
    }
}

static void *wait_in_barrier(void *what)
{
    struct worker *worker = what;
    int status;
    do { /* the other one may be in it just now */
        vic_relax(worker->self->card);
        status = vic_team_barrier(worker->team, VIC_FOREVER);
    } while (status == VIC_EBUSY);
    IS(status, VIC_ECLOSED);
    return NULL;
}

/* Card 0 waits for the others, who do not come. */
static void closed_meanwhile(const struct self *self)
{
    struct worker worker = {.self = self};
    pthread_t thread;
    int status;
    OK(vic_team_open(self->card, NULL, 0, &worker.team, VIC_FOREVER));
    if (self->me == 0) {
        CHECK(pthread_create(&thread, NULL, wait_in_barrier, &worker) == 0);
        do { /* until it is in the barrier: if this thread came first it only looks */
            vic_relax(self->card);
            status = vic_team_barrier(worker.team, 0);
        } while (status == VIC_ETIMEDOUT);
        IS(status, VIC_EBUSY);
        OK(vic_team_close(worker.team));
        IS(vic_team_close(worker.team), VIC_ECLOSED);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    if (self->me != 0) {
        OK(vic_team_close(worker.team));
    }
}

void run(const struct self *self)
{
    if (self->cards > 1) {
        many_teams(self);
        closed_meanwhile(self);
    }
}
