/* Waits of vic_message, in slices, after each of which deadlines and deaths are noticed. */
#include "message.h"

enum {
    SPINS = 64,                    /* turns before a wait is one of the card, unless it is long */
    LONG_RING = 64 * 1024 / (8 * UNIT), /* units: to empty a part of such a ring takes longer than these turns */
    SLICE_NS = 100 * 1000,         /* the first of those */
    SLICE_MOST_NS = 1000 * 1000,   /* the longest if the wait is for credit, which rings no bell */
    LOOK_NS = 50, /* the first slice of a wait for messages in timed mode, where nothing is gained by turns */
    BELL_MOST_NS = 10 * 1000 * 1000, /* the longest if it is for messages, whose bell may overtake them */
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

/* Wait for a counter of the card. VIC_OK, unless the wait as a whole has to end. */
static int wait_counter(struct vic_message *m, struct backoff *backoff, unsigned counter, uint64_t ns)
{
    int status = vic_counter_wait(m->card, counter, ns);
    if (status == VIC_OK && m->timed) {
        backoff->slice_ns = 0; /* what rang may be a little later: short slices again */
    }
    if (status == VIC_OK && counter == m->activity[0]) {
        vic_counter_set(m->card, counter, never); /* a program has set it to 0, no card's message */
    }
    return status == VIC_ETIMEDOUT ? VIC_OK : status;
}

/* True if the wait sleeps at once, see wait_is_long. In timed mode the turns are part of the model. */
static bool is_long(const struct vic_message *m, const struct backoff *backoff)
{
    bool ring = backoff->whole.kind == WAIT_RING && m->layout.units >= LONG_RING;
    return !m->timed && (ring || wait_whole.kind == WAIT_PUBLISH);
}

static int wait_round(struct vic_message *m, struct backoff *backoff, unsigned counter, uint64_t first_ns,
                      uint64_t most_ns, uint64_t deadline_ns)
{
    if (!gate_is_open(&m->gate)) {
        return VIC_ECLOSED;
    }
    uint64_t now = vic_time_ns(m->card);
    if (now >= deadline_ns) {
        int status = wait_counter(m, backoff, m->activity[0], 0);
        return status != VIC_OK ? status : VIC_ETIMEDOUT;
    }
    if (backoff->rounds++ < SPINS && first_ns >= SLICE_NS && !is_long(m, backoff)) {
        vic_relax(m->card);
        return VIC_OK;
    }
    backoff->slice_ns = backoff->slice_ns == 0 ? first_ns : 2 * backoff->slice_ns;
    backoff->slice_ns = backoff->slice_ns < most_ns ? backoff->slice_ns : most_ns;
    uint64_t left = deadline_ns - now;
    int outermost = wait_whole_begin(&backoff->whole, now);
    int status = wait_counter(m, backoff, counter, left < backoff->slice_ns ? left : backoff->slice_ns);
    wait_whole_end(outermost);
    return status;
}

int backoff_wait(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns)
{
    return wait_round(m, backoff, m->activity[0], SLICE_NS, SLICE_MOST_NS, deadline_ns);
}

void backoff_arm(struct vic_message *m, const struct backoff *backoff)
{
    if (m->timed ? backoff->slice_ns == 0 : backoff->rounds >= SPINS || is_long(m, backoff)) {
        vic_counter_set(m->card, m->bell, 1);
    }
}

int backoff_bell(struct vic_message *m, struct backoff *backoff, uint64_t deadline_ns)
{
    return wait_round(m, backoff, m->bell, m->timed ? LOOK_NS : SLICE_NS, BELL_MOST_NS, deadline_ns);
}
