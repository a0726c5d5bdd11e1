/* Waits of vic_message, in slices that see a deadline and a peer's death. */
#include "message.h"

enum {
    QUICK = 64,                    /* turns before a wait is one of the card */
    SLICE_NS = 100 * 1000,         /* the first of those */
    SLICE_MOST_NS = 1000 * 1000,   /* of who waits for credit, which rings no bell */
    BELL_MOST_NS = 10 * 1000 * 1000, /* of who waits for messages: their bell may overtake them */
};

static const int64_t never = INT64_C(1) << 62;

int lock_take_until(struct vic_message *m, lock_t *lock, uint64_t deadline_ns)
{
    while (!lock_try(lock)) {
        vic_relax(m->card);
        if (!gate_is_open(&m->gate)) {
            return VIC_ECLOSED;
        }
        if (deadline_left(m->card, deadline_ns) == 0) {
            return VIC_ETIMEDOUT;
        }
    }
    return VIC_OK;
}

/* Wait under a counter of the card; VIC_OK unless there is no reason to go on. */
static int under(struct vic_message *m, unsigned counter, uint64_t ns)
{
    int status = vic_counter_wait(m->card, counter, ns);
    if (status == VIC_OK && counter == m->activity[0]) {
        vic_counter_set(m->card, counter, never); /* nobody of us made it 0 */
    }
    return status == VIC_ETIMEDOUT ? VIC_OK : status;
}

static int wait_turn(struct vic_message *m, struct backoff *backoff, unsigned counter, uint64_t most_ns,
                     uint64_t deadline_ns)
{
    if (!gate_is_open(&m->gate)) {
        return VIC_ECLOSED;
    }
    uint64_t now = vic_time_ns(m->card);
    if (now >= deadline_ns) {
        int status = under(m, m->activity[0], 0);
        return status != VIC_OK ? status : VIC_ETIMEDOUT;
    }
    if (backoff->turns++ < QUICK) {
        vic_relax(m->card);
        return VIC_OK;
    }
    backoff->slice_ns = backoff->slice_ns == 0 ? SLICE_NS : 2 * backoff->slice_ns;
    backoff->slice_ns = backoff->slice_ns < most_ns ? backoff->slice_ns : most_ns;
    uint64_t left = deadline_ns - now;
    int outermost = wait_whole_begin(&backoff->whole, now);
    int status = under(m, counter, left < backoff->slice_ns ? left : backoff->slice_ns);
    wait_whole_end(outermost);
    return status;
}

int backoff_wait(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns)
{
    return wait_turn(m, backoff, m->activity[0], SLICE_MOST_NS, deadline_ns);
}

void backoff_arm(struct vic_message *m, const struct backoff *backoff)
{
    if (backoff->turns >= QUICK) {
        vic_counter_set(m->card, m->bell, 1);
    }
}

int backoff_bell(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns)
{
    return wait_turn(m, backoff, m->bell, BELL_MOST_NS, deadline_ns);
}
