/* Words for FIFOs of this host. They wait here while a FIFO is full. When a program has read some, their sender gets back the
 * room that it had claimed. */
#include "agent.h"
#include "functional/claims.h"
#include "grow.h"

static bool owe(struct inbox *inbox, uint64_t position, uint32_t host)
{
    if (inbox->owed_count > 0) {
        struct owed *last = &inbox->owed[inbox->owed_first + inbox->owed_count - 1];
        if (last->host == host && last->position == position) {
            last->words++;
            return true;
        }
    }
    bool good = grow_behind(&inbox->owed, &inbox->owed_first, inbox->owed_count, &inbox->owed_room, sizeof *inbox->owed);
    if (good) {
        inbox->owed[inbox->owed_first + inbox->owed_count++] = (struct owed){position, host, 1};
    }
    return good;
}

/* Puts words that wait into the FIFO, until it is full. Returns whether there were any. */
static bool push_held(struct agent *agent, uint32_t card)
{
    struct inbox *inbox = &agent->inbox[card - agent->job->first];
    bool moved = false;
    struct tally tally;
    struct trace_sent sent = {UINT64_MAX, 0};
    tally.used = 0;
    while (inbox->count > 0) {
        const struct held *held = &inbox->held[inbox->first];
        if (agent->card.number != held->source) {
            tally_flush(&agent->card, &tally); /* in the name of the card that sent them */
        }
        agent->card.number = held->source;
        agent->card.sent = &held->sent;
        if (fifo_push(&agent->card, card, &held->word, 1) == 0) {
            if (!card_is_left(&agent->job->card[card])) {
                break;
            }
            inbox->count = 0; /* nobody reads them */
            continue;
        }
        tally_add(&agent->card, &tally, tally_key(card, held->counter), 1);
        sent = held->sent;
        agent->card.sent = &sent; /* held->sent may be overwritten next */
        if (held->host != NO_HOST) { /* if there is no memory for this, the room is lost */
            owe(inbox, atomic_load(&agent->job->card[card].fifo_tail) & POSITION, held->host);
        }
        inbox->count--;
        inbox->first = inbox->count > 0 ? inbox->first + 1 : 0;
        moved = true;
    }
    tally_flush(&agent->card, &tally);
    atomic_store(&job_ring(agent->job, card)->held, inbox->count > 0);
    return moved;
}

bool inbox_add(struct agent *agent, const struct held *held, uint32_t card)
{
    struct inbox *inbox = &agent->inbox[card - agent->job->first];
    bool good = grow_behind(&inbox->held, &inbox->first, inbox->count, &inbox->room, sizeof *inbox->held);
    if (good) {
        atomic_store(&job_ring(agent->job, card)->held, 1);
        inbox->held[inbox->first + inbox->count++] = *held;
    }
    return good;
}

/* Notes for each host how many of its words a program has read. */
static bool give_room(struct agent *agent, uint32_t place)
{
    struct inbox *inbox = &agent->inbox[place];
    bool moved = false;
    if (inbox->owed_count == 0) {
        return false;
    }
    uint64_t head = atomic_load(&agent->job->card[agent->job->first + place].fifo_head);
    while (inbox->owed_count > 0) {
        const struct owed *owed = &inbox->owed[inbox->owed_first];
        if (positions(owed->position, head) > POSITION / 2) {
            break;
        }
        agent->peer[owed->host].room[place] += owed->words;
        inbox->owed_count--;
        inbox->owed_first = inbox->owed_count > 0 ? inbox->owed_first + 1 : 0;
        moved = true;
    }
    return moved;
}

bool inbox_holds(const struct agent *agent, uint32_t source)
{
    for (uint32_t i = 0; i < agent->job->here; i++) {
        const struct inbox *inbox = &agent->inbox[i];
        for (size_t k = 0; k < inbox->count; k++) {
            if (inbox->held[inbox->first + k].source == source) {
                return true;
            }
        }
    }
    return false;
}

bool inbox_pass(struct agent *agent)
{
    bool moved = false;
    for (uint32_t i = 0; i < agent->job->here; i++) {
        if (agent->inbox[i].count > 0) {
            moved |= push_held(agent, agent->job->first + i);
        }
        moved |= give_room(agent, i);
    }
    return moved;
}
