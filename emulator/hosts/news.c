/* What hosts tell each other besides packets: which cards are in the barrier, whose programs have ended, who died. */
#include "agent.h"

#include "bell.h"
#include "functional/claims.h"

void news_crossed(struct agent *agent, uint32_t generation)
{
    agent->generation = generation % GENERATIONS;
    atomic_store(&agent->job->shared->barrier, (uint64_t)agent->generation << 17);
    bell_ring(&agent->job->shared->released);
}

/* Ignores a card that comes to an earlier generation: it did so for a program that was killed there. */
void news_arrive(struct agent *agent, uint32_t card, uint32_t generation)
{
    if (generation != agent->generation) {
        return;
    }
    agent->inside_count += !agent->inside[card];
    agent->inside[card] = true;
    if (agent->inside_count == agent->job->config.cards) {
        for (uint32_t i = 0; i < agent->job->config.cards; i++) {
            agent->inside[i] = false;
        }
        agent->inside_count = 0;
        news_crossed(agent, agent->generation + 1);
    }
}

static void go_out(struct agent *agent, uint32_t card)
{
    if (agent->host == 0 && agent->inside[card]) {
        agent->inside[card] = false;
        agent->inside_count--;
    }
}

void news_opens(struct agent *agent, uint32_t card)
{
    go_out(agent, card);
}

/* The answer is sent after RECORD_CROSSED if all have come, so the card knows that when the answer arrives. */
void news_leave(struct agent *agent, uint32_t card, uint32_t number)
{
    go_out(agent, card);
    if (job_is_here(agent->job, card)) {
        news_left(agent, card, number);
    } else {
        struct peer *peer = peer_of(agent, card);
        peer->left[card - peer->first] = number;
    }
}

void news_left(struct agent *agent, uint32_t card, uint32_t number)
{
    atomic_store(&job_ring(agent->job, card)->left, number);
    bell_ring(&agent->job->shared->released);
}

/* Returns true if the end of the program has to wait, as words that it sent still wait for room in a FIFO here. A program that
 * waits for these words so gets them before it learns of the end, as on one machine. */
static bool comes_later(struct agent *agent, uint32_t card, uint32_t end)
{
    struct peer *peer = peer_of(agent, card);
    bool later = end == CARD_ENDED && inbox_holds(agent, card);
    peer->ends += later;
    peer->ends -= peer->ended[card - peer->first];
    peer->ended[card - peer->first] = later;
    return later;
}

void news_end(struct agent *agent, uint32_t card, uint32_t end)
{
    struct card_shared *shared = &agent->job->card[card];
    uint32_t before = atomic_load(&shared->end);
    go_out(agent, card);
    if (comes_later(agent, card, end)) {
        return;
    }
    if (end == CARD_RUNS && before == CARD_ENDED) { /* a program has joined on this card */
        atomic_store(&shared->end, CARD_RUNS);
        atomic_fetch_sub(&agent->job->shared->ended, 1);
    } else if (before == CARD_RUNS && end != CARD_RUNS) {
        atomic_store(&shared->end, end == CARD_ENDED ? CARD_ENDED : CARD_DIED);
        atomic_fetch_add(&agent->job->shared->ended, end == CARD_ENDED);
        bell_wake_all(agent->job);
    }
}

static bool later_ends(struct agent *agent, struct peer *peer)
{
    bool moved = false;
    for (uint32_t i = 0; i < peer->here && peer->ends > 0; i++) {
        if (peer->ended[i] && !inbox_holds(agent, peer->first + i)) {
            news_end(agent, peer->first + i, CARD_ENDED);
            moved = true;
        }
    }
    return moved;
}

void news_poison(struct agent *agent, uint32_t card)
{
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong(&agent->job->shared->poison, &nobody, card + 1)) {
        bell_wake_all(agent->job);
    }
}

void news_over(struct job *job)
{
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong(&job->shared->poison, &nobody, JOB_OVER)) {
        bell_wake_all(job);
    }
}

/* Sends a record that is at most one word longer than its head. False: there is no room now. */
static bool tell(struct agent *agent, struct peer *peer, unsigned kind, uint32_t card, uint32_t n, uint64_t value)
{
    uint64_t head = record_word(kind, card, n);
    uint64_t *at = stream_room(agent, peer, 1 + record_words(head));
    if (at != NULL) {
        at[0] = head;
        if (record_words(head) > 0) {
            at[1] = value;
        }
    }
    return at != NULL;
}

/* Returns whether something that the card has sent to hosts other than the peer is not answered yet: a reply to it may be on
 * its way to the peer. */
static bool others_reply(const struct agent *agent, const struct sender *sender, const struct peer *peer)
{
    bool some = false;
    for (const struct peer *other = NULL; (other = next_living(agent, other)) != NULL;) {
        some |= other != peer && sender->frame[other->host] > other->answered;
    }
    return some;
}

/* Tells the peer which programs have ended, once all that they have sent is in frames and no reply to it is on its way there
 * from another host. */
static bool tell_ends(struct agent *agent, struct peer *peer)
{
    bool moved = false;
    for (uint32_t i = 0; i < agent->job->here; i++) {
        uint32_t card = agent->job->first + i, end = atomic_load(&agent->job->card[card].end);
        if (end == peer->end_told[i] || atomic_load(&job_ring(agent->job, card)->tail) != agent->sender[i].at ||
            (end == CARD_ENDED && others_reply(agent, &agent->sender[i], peer))) {
            continue;
        }
        go_out(agent, card);
        if (tell(agent, peer, RECORD_END, card, 1, end)) {
            peer->end_told[i] = end;
            moved = true;
        }
    }
    return moved;
}

static bool tell_rooms(struct agent *agent, struct peer *peer)
{
    bool moved = false;
    for (uint32_t i = 0; i < agent->job->here; i++) {
        if (peer->room[i] != 0 && tell(agent, peer, RECORD_ROOM, agent->job->first + i, peer->room[i], 0)) {
            peer->room[i] = 0;
            moved = true;
        }
    }
    return moved;
}

static bool tell_barrier(struct agent *agent, struct peer *peer)
{
    bool moved = false;
    if (peer->crossed_told != agent->generation && tell(agent, peer, RECORD_CROSSED, 0, 1, agent->generation)) {
        peer->crossed_told = agent->generation;
        moved = true;
    }
    for (uint32_t i = 0; i < peer->here && peer->crossed_told == agent->generation; i++) {
        if (peer->left[i] != 0 && tell(agent, peer, RECORD_LEFT, peer->first + i, peer->left[i], 0)) {
            peer->left[i] = 0;
            moved = true;
        }
    }
    return moved;
}

bool news_pass(struct agent *agent)
{
    uint32_t poison = atomic_load(&agent->job->shared->poison);
    bool moved = false;
    for (struct peer *peer = NULL; (peer = next_living(agent, peer)) != NULL;) {
        if (poison != 0 && poison != JOB_OVER && !peer->poison_told) {
            peer->poison_told = tell(agent, peer, RECORD_POISON, poison - 1, 0, 0);
            moved |= peer->poison_told;
        }
        moved |= tell_rooms(agent, peer);
        moved |= tell_ends(agent, peer);
        moved |= later_ends(agent, peer);
        moved |= agent->host == 0 && tell_barrier(agent, peer);
    }
    return moved;
}
