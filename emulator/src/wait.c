/* Waits of any provider: poll, then sleep, until done, too late, closed or a peer is dead. */
#define _GNU_SOURCE
#include "wait.h"

#include <sched.h>
#ifdef VIC_STEPS
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#endif

#include "cancel.h"
#include "vic.h"
#include "race.h"

#ifdef VIC_STEPS
void step_taken(void)
{
    static _Atomic long steps;
    const char *last = getenv("VIC_STEP");
    if (last != NULL && atomic_fetch_add(&steps, 1) + 1 == atol(last)) {
        kill(getpid(), SIGKILL);
    }
}
#endif

_Thread_local uint32_t cancel_layers;
_Thread_local struct wait_whole wait_whole;
_Thread_local uint64_t wait_slices_ns;

/* What the last slice of this thread waited for, which the next one goes on with: it stays written down in between. */
static _Thread_local struct card_wait *kept;

static void free_note(struct card_wait *mine)
{
    atomic_store(&mine->since_ns, UINT64_MAX); /* as long as the next one is not complete */
    atomic_store(&mine->kind, WAIT_NOTHING);
}

static void free_kept(void)
{
    if (kept != NULL) {
        free_note(kept);
        kept = NULL;
    }
}

void wait_forked(void)
{
    kept = NULL; /* it is the parent's */
}

void vic_wait_slices(uint64_t since_ns)
{
    free_kept();
    wait_slices_ns = since_ns;
}

enum {
    LOOK = 8,                     /* turns of a wait that spins, in one of which it looks whether it has to end */
    YIELD_NS = 60 * 1000,         /* then sleep */
    IDLE = 8,                     /* waits that nothing came in, after which the next one sleeps at once */
    BETWEEN_NS = 20 * 1000 * 1000, /* two slices of one wait, at most */
    SLICE_NS = 20 * 1000 * 1000,  /* then look around: a wake-up may be missed on weakly ordered machines */
};

bool wait_is_alone(const struct vic *card)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < card->cards; i++) {
        left += i != card->number && card_is_left(&card->job->card[i]);
    }
    return card->cards > 1 && left + 1 == card->cards;
}

/* VIC_OK while there is a reason to wait. */
static int reason_to_stop(struct vic *card, const struct wait *wait)
{
    const struct job_shared *shared = card->job->shared;
    uint32_t poison = atomic_load(&shared->poison);
    if (poison != 0) {
        return poison == JOB_OVER ? VIC_ECLOSED : VIC_EPEER;
    }
    if (handle_closed(card)) {
        return VIC_ECLOSED;
    }
    if (atomic_load(&shared->ended) != 0) {
        if (wait->hopeless != NULL && wait->hopeless(wait->what)) {
            return VIC_EPEER;
        }
        if (atomic_load(&shared->ended) + 1 >= card->cards && wait_is_alone(card) && !wait->coming(card)) {
            return VIC_ECLOSED;
        }
    }
    return VIC_OK;
}

int wait_ends(struct vic *card, const struct wait *wait)
{
    int status = reason_to_stop(card, wait);
    return status == VIC_OK && job_orphaned(card->job) ? VIC_ECLOSED : status;
}

static int look(struct vic *card, const struct wait *wait)
{
    wait->progress(card);
    if (wait->ready(wait->what)) {
        return 1;
    }
    race_point(32, 3000000);
    int stop = reason_to_stop(card, wait);
    /* what came between the look and the end counts */
    return stop != VIC_OK && wait->ready(wait->what) ? 1 : stop;
}

/* The timeout has passed, which may be 0. A program that only polls has to learn, too, that the launcher is gone. What
 * has come before that counts. */
static int too_late(struct vic *card, const struct wait *wait)
{
    if (!job_orphaned(card->job)) {
        return VIC_ETIMEDOUT;
    }
    return wait->ready(wait->what) ? 1 : VIC_ECLOSED;
}

/* *rung: the bell was rung meanwhile. */
static int sleep_once(struct vic *card, const struct wait *wait, uint64_t ns, bool *rung)
{
    uint32_t seen = bell_enter(wait->bell);
    bell_await(card->me, wait->counters, wait->words != 0);
    bool filling = wait->filling != NULL && wait->filling(card); /* before the look */
    int status = look(card, wait);
    if (status == 0) {
        uint64_t slice = filling ? FILLING_NS : wait->slice_ns != 0 ? wait->slice_ns : SLICE_NS;
        STEP();
        bell_sleep(wait->bell, seen, ns < slice ? ns : slice);
        *rung = atomic_load(&wait->bell->rung) != seen;
        status = look(card, wait);
    }
    return status == 0 && job_orphaned(card->job) ? VIC_ECLOSED : status;
}

static void count(struct vic *card, enum card_stat stat, uint64_t n)
{
    if (card->watch & WATCH_STATS) {
        atomic_fetch_add_explicit(&card->me->stat[stat], n, memory_order_relaxed);
    }
}

/* The last wait of this thread, which timed out. */
static _Thread_local struct {
    const struct vic *card;
    uint32_t kind, dest;
    uint64_t counters, words, since_ns, ended_ns; /* the time of the job */
} last;

/* The begin of this wait; that of the one before, if this one is the next slice of that. */
static uint64_t since(const struct vic *card, const struct card_wait *mine, uint64_t start_ns)
{
    if (wait_slices_ns != 0 && card->job->config.mode == 0) {
        return wait_slices_ns - card->job->start_ns;
    }
    bool same = last.card == card && last.kind == atomic_load(&mine->kind) && last.dest == atomic_load(&mine->dest) &&
                last.counters == atomic_load(&mine->counters) && last.words == atomic_load(&mine->words) &&
                !wait_receives(last.kind, last.counters);
    return same && last.since_ns < start_ns && start_ns < last.ended_ns + BETWEEN_NS ? last.since_ns : start_ns;
}

/* A server that polls whether there is something to receive does not hide that the others stand still. */
static void note_sleep(struct vic *card, uint32_t kind, uint64_t counters)
{
    if (!wait_receives(kind, counters)) {
        atomic_store(&card->me->slept_ns, job_time_ns(card->job));
    }
}

struct card_wait *wait_note(struct vic *card, const struct wait *wait, uint64_t start_ns)
{
    bool whole = wait_whole.kind != WAIT_NOTHING;
    uint32_t kind = whole ? wait_whole.kind : wait->kind, dest = whole ? wait_whole.dest : wait->dest;
    uint64_t counters = whole ? 0 : wait->counters, words = whole ? 0 : wait->words;
    bool same = kept != NULL && kept >= card->me->wait && kept < card->me->wait + WAITS && atomic_load(&kept->kind) == kind &&
                atomic_load(&kept->dest) == dest && atomic_load(&kept->counters) == counters && atomic_load(&kept->words) == words;
    if (same) {
        return kept;
    }
    free_kept();
    note_sleep(card, kind, wait->counters);
    for (int i = 0; i < WAITS; i++) {
        struct card_wait *mine = &card->me->wait[i];
        uint32_t free = WAIT_NOTHING;
        if (atomic_load(&mine->kind) == free &&
            atomic_compare_exchange_strong(&mine->kind, &free, kind)) {
            STEP();
            atomic_store(&mine->dest, dest);
            atomic_store(&mine->counters, counters);
            atomic_store(&mine->words, words);
            atomic_store(&mine->since_ns, since(card, mine, whole ? wait_whole.since_ns : start_ns));
            return mine;
        }
    }
    return NULL;
}

void wait_forget(struct vic *card, struct card_wait *mine, int status)
{
    bool goes_on = mine != NULL && status == VIC_ETIMEDOUT && wait_slices_ns != 0;
    kept = goes_on ? mine : kept == mine ? NULL : kept;
    if (mine != NULL && !goes_on) {
        note_sleep(card, atomic_load(&mine->kind), atomic_load(&mine->counters));
        last.card = status == VIC_ETIMEDOUT ? card : NULL;
        last.kind = atomic_load(&mine->kind);
        last.dest = atomic_load(&mine->dest);
        last.counters = atomic_load(&mine->counters);
        last.words = atomic_load(&mine->words);
        last.since_ns = atomic_load(&mine->since_ns);
        last.ended_ns = job_time_ns(card->job);
        free_note(mine);
    }
}

struct sleeper {
    struct vic *card;
    const struct wait *wait;
    struct card_wait *noted;
};

static void ends_here(void *what)
{
    const struct sleeper *me = what;
    wait_forget(me->card, me->noted, VIC_OK);
    if (me->wait->undo != NULL) {
        me->wait->undo(me->wait->what);
    }
}

/* If the thread was cancelled it ends here, unless cancelling was off `before` the wait or a caller holds locks. */
static void act_if_cancelled(struct vic *card, const struct wait *wait, struct card_wait *noted, int before)
{
    struct sleeper me = {card, wait, noted};
    if (before != PTHREAD_CANCEL_ENABLE || cancel_layers != 0) {
        return;
    }
    pthread_cleanup_push(ends_here, &me);
    cancel_back(before);
    pthread_testcancel();
    cancel_off();
    pthread_cleanup_pop(0);
}

/* VIC_EPEER: find whether a card died, and which. VIC_ECLOSED: which end it is. */
static int fail_wait(const struct vic *card, const struct wait *wait, int status)
{
    if (status == VIC_ECLOSED) {
        bool own = cancel_layers == 0 && wait->counters != 0; /* those of a layer are none of the program's */
        int counter = own ? __builtin_ctzll(wait->counters) : -1;
        return fail_ended(card, counter, own ? atomic_load(&card->me->counter[counter].value) : 0);
    }
    uint32_t dead = status == VIC_EPEER ? atomic_load(&card->job->shared->poison) : 0;
    return status != VIC_EPEER ? fail_as(status)
           : dead - 1 < card->cards ? fail_dead(dead - 1)
                               : fail(status, "the program of a card that this waits for has ended");
}

/* Waits in a row in which nothing came: after several, a program that waits in slices sleeps at once. */
static void note_idle(struct vic *card, bool idle)
{
    uint32_t before = atomic_load_explicit(&card->idle, memory_order_relaxed);
    if (idle ? before < IDLE : before != 0) {
        atomic_store_explicit(&card->idle, idle ? before + 1 : 0, memory_order_relaxed);
    }
}

/* The part of a wait behind the spinning; not in line, so that a wait which ends at once saves few registers. */
__attribute__((noinline)) static int look_again(struct vic *card, const struct wait *wait, uint64_t timeout_ns, int before)
{
    uint64_t start = job_clock_ns(), waited = 0, woke = 0;
    bool idle = atomic_load_explicit(&card->idle, memory_order_relaxed) >= IDLE;
    uint64_t yields_ns = idle || wait_is_long(wait_whole.kind) ? 0 : YIELD_NS;
    struct card_wait *noted = NULL;
    for (;;) {
        int status;
        bool sleeps = waited - woke >= yields_ns, rung = false;
        if (!sleeps) {
            sched_yield();
            status = look(card, wait);
        } else {
            count(card, STAT_SLEEPS, 1);
            noted = noted == NULL ? wait_note(card, wait, start - card->job->start_ns) : noted;
            status = sleep_once(card, wait, timeout_ns - waited, &rung);
        }
        waited = job_clock_ns() - start;
        if (rung) {
            woke = waited; /* what rang may be the first of many: the next ones shall find nobody asleep */
            yields_ns = YIELD_NS;
        }
        if (sleeps && status == 0) {
            act_if_cancelled(card, wait, noted, before);
        }
        if (status == 0 && waited >= timeout_ns) {
            status = too_late(card, wait);
        }
        if (status != 0) {
            note_idle(card, status == VIC_ETIMEDOUT && !rung);
            count(card, STAT_WAIT_NS, waited);
            wait_forget(card, noted, status);
            return status == 1 ? VIC_OK : fail_wait(card, wait, status);
        }
    }
}

int wait_for(struct vic *card, const struct wait *wait, uint64_t timeout_ns)
{
    int status = look(card, wait);
    if (status == 0 && timeout_ns == 0) {
        status = too_late(card, wait);
    }
    if (status == 0) {
        count(card, STAT_WAITS, 1);
    }
    for (uint32_t i = 0; status == 0 && i < card->spins; i++) {
        spin_pause();
        status = wait->ready(wait->what) ? 1 : i % LOOK == LOOK - 1 ? look(card, wait) : 0;
    }
    if (status != 0) {
        return status == 1 ? VIC_OK : fail_wait(card, wait, status);
    }
    int before = cancel_off();
    status = look_again(card, wait, timeout_ns, before);
    cancel_back(before);
    return status;
}
