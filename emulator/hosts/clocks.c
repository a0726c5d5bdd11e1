/* Measures how far the clock of this host is from that of the first: asks it what time it is, TIMES times or for SERIES_NS, at
 * least once, and uses the answer that took the least time. */
#include <time.h>

#include "agent.h"
#include "bell.h"

enum { TIMES = 64, SERIES_NS = 1000 * 1000 * 1000 };
static const uint64_t PATIENCE_NS = 5 * (uint64_t)SERIES_NS;

void clocks_measure(struct agent *agent)
{
    if (atomic_load(&agent->questions) > 0) {
        return; /* they go on, and their answers are this measurement */
    }
    agent->best = (struct clock_sample){.error_ns = UINT64_MAX};
    agent->asks_until_ns = job_clock_ns() + SERIES_NS;
    atomic_store(&agent->questions, agent->host != 0 ? TIMES : 0);
    bell_wake(&agent->job->shared->agent);
}

bool clocks_measured(const struct agent *agent, struct clock_sample *sample)
{
    bool done = atomic_load(&agent->questions) == 0;
    if (done) {
        *sample = agent->best;
    }
    return done;
}

void clocks_wait(const struct agent *agent, struct clock_sample *sample)
{
    uint64_t end_ns = job_clock_ns() + PATIENCE_NS;
    *sample = (struct clock_sample){.error_ns = UINT64_MAX};
    while (!clocks_measured(agent, sample) && job_clock_ns() < end_ns) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

/* Sends the next question if the last one has been answered, and answers those of other hosts. */
bool clocks_pass(struct agent *agent)
{
    bool moved = false;
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        bool asks = peer->host == 0 && !agent->asked && atomic_load(&agent->questions) > 0;
        if (!asks && !peer->asks) {
            continue;
        }
        if (peer->hung_up) {
            atomic_store(&agent->questions, 0);
            continue;
        }
        uint64_t head = record_word(asks ? RECORD_ASK_TIME : RECORD_TIME, agent->job->first, 0);
        uint64_t *at = stream_room(agent, peer, 1 + record_words(head));
        if (at == NULL) {
            continue;
        }
        at[0] = head;
        at[1] = asks ? job_clock_ns() : peer->asked_ns;
        if (asks) {
            agent->asked = true;
        } else {
            at[2] = peer->came_ns;
            at[3] = job_clock_ns();
            peer->asks = false;
        }
        moved = true;
    }
    return moved;
}

void clocks_asked(struct peer *peer, uint64_t asked_ns)
{
    peer->asks = true;
    peer->asked_ns = asked_ns;
    peer->came_ns = job_clock_ns();
}

/* The other clock read `came_ns` and `went_ns` between these two readings of ours. */
bool clocks_told(struct agent *agent, uint64_t asked_ns, uint64_t came_ns, uint64_t went_ns)
{
    uint64_t now_ns = job_clock_ns(), away_ns = now_ns - asked_ns, there_ns = went_ns - came_ns;
    if (!agent->asked || asked_ns > now_ns || there_ns > away_ns) {
        return false;
    }
    struct clock_sample sample = {.at_ns = asked_ns + away_ns / 2, .error_ns = (away_ns - there_ns) / 2 + 1};
    sample.offset_ns = (int64_t)(came_ns + there_ns / 2 - sample.at_ns);
    if (sample.error_ns < agent->best.error_ns) {
        agent->best = sample;
    }
    agent->asked = false;
    uint32_t questions = atomic_load(&agent->questions);
    atomic_store(&agent->questions, questions > 0 && now_ns < agent->asks_until_ns ? questions - 1 : 0);
    return true;
}
