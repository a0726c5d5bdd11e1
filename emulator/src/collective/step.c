/* The steps of a call. A call that times out between two of them is continued by the next one. */
#include "team.h"

/* A counter is preset so high that packets of other cards cannot bring it to 0. The card subtracts what it expects in a
 * step by a packet to itself, so packets that come before that are counted, too. */
static const int64_t never = INT64_C(1) << 62;

enum { LOOK_NS = 10 * 1000 * 1000 };

/* The time between two looks doubles until it is longer than this. In timed mode no look follows then: the wait has no end
 * of its own, so that a deadlock is recognised. */
#define LOOK_MOST_NS (UINT64_C(10) * 1000 * 1000 * 1000)
#define LOOK_MOST_TIMED_NS (UINT64_C(3600) * 1000 * 1000 * 1000)

static unsigned counter_of(const struct vic_team *team)
{
    return team->member[team->me].counter[team->step & 1];
}

static uint64_t expected(const struct vic_team *team, const struct step *step)
{
    uint64_t packets = 0;
    for (uint32_t from = 0; from < team->n; from++) {
        if (from != team->me) {
            size_t words = step_words(team, step, from, team->me);
            packets += words != 0 ? words : 1;
        }
    }
    return packets;
}

/* Send the packets without words, and to this card itself how many packets it expects. */
static int send_tokens(struct vic_team *team, const struct step *step)
{
    unsigned turn = team->step & 1;
    const struct member *me = &team->member[team->me];
    size_t count = 1;
    team->header[0] = vic_header(me->card, VIC_COUNTER_ADD, 0, me->counter[turn]);
    team->payload[0] = expected(team, step) - (uint64_t)never;
    for (uint32_t k = 1; k < team->n; k++) {
        uint32_t to = (team->me + k) % team->n;
        if (step_words(team, step, team->me, to) == 0) {
            const struct member *peer = &team->member[to];
            team->header[count] = vic_header(peer->card, VIC_COUNTER_ADD, 0, peer->counter[turn]);
            team->payload[count++] = UINT64_MAX; /* -1 */
        }
    }
    return vic_send(team->card, team->header, team->payload, count);
}

/* Beginning with the neighbour: not everybody at the first card at once. */
static int send_words(struct vic_team *team, const struct step *step)
{
    unsigned turn = team->step & 1;
    int status = VIC_OK;
    for (uint32_t k = 1; k < team->n && status == VIC_OK; k++) {
        uint32_t to = (team->me + k) % team->n;
        size_t words = step_words(team, step, team->me, to);
        if (words != 0) {
            const struct member *peer = &team->member[to];
            size_t place = turn * peer->words + step_offset(team, step, team->me, to);
            vic_addr_t addr = peer->base + (vic_addr_t)place;
            status = vic_put(team->card, peer->card, addr, step_source(team, step, to), words, peer->counter[turn]);
        }
    }
    return status;
}

/* VIC_OK: look again at the counter. */
static int look_if_due(struct vic_team *team, uint64_t now)
{
    if (now < team->look_ns) {
        return VIC_OK;
    }
    bool timed = team->directory->attr.mode == 1, last = timed && team->interval_ns >= LOOK_MOST_TIMED_NS;
    team->interval_ns = timed || team->interval_ns < LOOK_MOST_NS ? 2 * team->interval_ns : team->interval_ns;
    team->look_ns = last ? VIC_FOREVER : now + team->interval_ns;
    return team_look(team);
}

static int wait_for_all(struct vic_team *team, uint64_t deadline_ns)
{
    struct wait_whole whole = {.kind = WAIT_TEAM, .endless = deadline_ns == VIC_FOREVER};
    for (;;) {
        uint64_t now = vic_time_ns(team->card), until = deadline_ns < team->look_ns ? deadline_ns : team->look_ns;
        uint64_t left = until == VIC_FOREVER ? VIC_FOREVER : until > now ? until - now : 0;
        int outermost = wait_whole_begin(&whole, now);
        int status = vic_counter_wait(team->card, counter_of(team), left);
        wait_whole_end(outermost);
        if (!gate_is_open(&team->gate)) {
            return VIC_ECLOSED; /* vic_team_close has set the counter to 0 */
        }
        if (status != VIC_ETIMEDOUT) {
            return status;
        }
        now = vic_time_ns(team->card);
        int found = look_if_due(team, now);
        if (found != VIC_OK) { /* unless all packets have come meanwhile */
            int64_t value;
            bool complete = vic_counter_get(team->card, counter_of(team), &value) == VIC_OK && value == 0;
            return complete ? VIC_OK : found;
        }
        if (now >= deadline_ns) {
            return VIC_ETIMEDOUT;
        }
    }
}

static int begin_step(struct vic_team *team, const struct step *step)
{
    int status = send_tokens(team, step);
    if (status == VIC_OK) {
        status = send_words(team, step);
    }
    if (status == VIC_OK) {
        team->sent = true;
        team->interval_ns = LOOK_NS;
        team->doubts = 0;
        team->look_ns = vic_time_ns(team->card) + LOOK_NS;
        team_publish(team, team->step + 1, false);
    }
    return status;
}

static int one_step(struct vic_team *team, const struct step *step, uint64_t deadline_ns)
{
    if (team->n > 1) {
        int status = team->sent ? VIC_OK : begin_step(team, step);
        if (status == VIC_OK) {
            status = wait_for_all(team, deadline_ns);
        }
        if (status == VIC_OK) {
            status = vic_counter_set(team->card, counter_of(team), never);
        }
        if (status != VIC_OK) {
            return status;
        }
    }
    int status = step_receive(team, step);
    team->sent = false;
    team->step++;
    return status;
}

int team_run(struct vic_team *team, uint64_t deadline_ns)
{
    for (;;) {
        struct step step = step_of(team);
        int status = one_step(team, &step, deadline_ns);
        if (status != VIC_OK) {
            return status;
        }
        team->half = step.last_half ? 0 : 1;
        if (step.last_half) {
            team->at += step.words;
            if (team->at >= team->call.n) {
                return VIC_OK;
            }
        }
    }
}
