/* Delivers what comes from other hosts, as a program of this host would. */
#include <string.h>

#include "agent.h"
#include "bell.h"
#include "functional/claims.h"
#include "grow.h"

/* ---- words for FIFOs of this host: they wait here while a FIFO is full. When a program has read some, their sender gets
 * back the room that it had claimed */

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

/* False: no memory. */
static bool inbox_add(struct agent *agent, const struct held *held, uint32_t card)
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

/* Keeps a reply for a card of another host until there is room in a frame. False: no memory. */
static bool answer_later(struct peer *peer, uint64_t header, uint64_t payload)
{
    if (!grow(&peer->answer, &peer->answer_room, peer->answers + 2, sizeof *peer->answer)) {
        return false;
    }
    peer->answer[peer->answers] = header;
    peer->answer[peer->answers + 1] = payload;
    peer->answers += 2;
    peer->replies++;
    return true;
}

/* Returns whether all replies that were due when the marks were set have been sent, and have come to all hosts but the peer. */
static bool mark_is_reached(struct agent *agent, struct peer *peer)
{
    bool all = true;
    for (struct peer *to = NULL; (to = next_living(agent, to)) != NULL;) {
        struct reply_mark *mark = &peer->mark[to->host];
        if (mark->frame == UINT64_MAX && to->replies_sent >= mark->replies) {
            mark->frame = to->replies_frame;
        }
        all = all && mark->frame != UINT64_MAX && (to == peer || to->confirmed >= mark->frame);
    }
    return all;
}

uint64_t incoming_replied(struct agent *agent, struct peer *peer)
{
    if (mark_is_reached(agent, peer)) {
        peer->replied = peer->replied_next;
    }
    if (peer->replied == peer->replied_next && peer->came != peer->replied_next) {
        peer->replied_next = peer->came;
        for (uint32_t i = 0; i < agent->hosts->count; i++) {
            peer->mark[i] = (struct reply_mark){agent->peer[i].replies, UINT64_MAX};
        }
        peer->replied = mark_is_reached(agent, peer) ? peer->replied_next : peer->replied;
    }
    return peer->replied;
}

bool incoming_answers(struct agent *agent)
{
    bool moved = false;
    const uint64_t record = record_word(RECORD_REPLIES, agent->job->first, 0);
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        size_t at = 0;
        while (at < peer->answers && !peer->hung_up &&
               outgoing_packet(agent, peer, record, peer->answer[at], peer->answer[at + 1])) {
            at += 2;
            peer->replies_sent++;
            peer->replies_frame = peer->sent + 1; /* the number that the open frame will have */
        }
        if (at > 0) {
            peer->answers -= at;
            memmove(peer->answer, peer->answer + at, peer->answers * sizeof *peer->answer);
            moved = true;
        }
    }
    return moved;
}

/* Delivers a packet for a card of this host. If it is for the FIFO, host `from` has claimed room for it. */
static bool packet_here(struct agent *agent, uint64_t header, uint64_t payload, uint32_t from, struct tally *tally)
{
    struct packet packet = packet_of(header);
    if (packet.op != VIC_FIFO) {
        return deliver(&agent->card, header, payload, tally);
    }
    struct held held = {payload, agent->card.number, from, packet.counter, *agent->card.sent};
    return inbox_add(agent, &held, packet.dest);
}

static bool query_here(struct agent *agent, struct packet query, uint64_t reply, struct tally *tally)
{
    uint64_t word = word_load(&job_sram(agent->job, query.dest)[query.addr]);
    uint32_t dest = packet_of(reply).dest;
    tally_add(&agent->card, tally, tally_key(query.dest, query.counter), 1);
    if (job_is_here(agent->job, dest)) {
        return packet_here(agent, reply, word, NO_HOST, tally);
    }
    return answer_later(peer_of(agent, dest), reply, word);
}

static bool take_packets(struct agent *agent, uint32_t from, const uint64_t *word, uint32_t n)
{
    struct tally tally;
    tally.used = 0;
    bool good = true;
    job_begin(agent->job);
    for (uint32_t i = 0; i < n && good; i++) {
        uint64_t header = word[2 * i], payload = word[2 * i + 1];
        struct packet packet = packet_of(header);
        good = packet_check(&agent->card, header, payload) == VIC_OK && job_is_here(agent->job, packet.dest) &&
               (packet.op == VIC_QUERY ? query_here(agent, packet, payload, &tally)
                                       : packet_here(agent, header, payload, from, &tally));
    }
    tally_flush(&agent->card, &tally);
    return good;
}

static bool take_put(struct agent *agent, const uint64_t *word, uint32_t n)
{
    struct packet first = packet_of(word[0]);
    if (header_check(&agent->card, word[0]) != VIC_OK || !job_is_here(agent->job, first.dest) || n == 0 ||
        n > agent->job->config.sram_words - first.addr) {
        return false;
    }
    job_begin(agent->job);
    words_store(&job_sram(agent->job, first.dest)[first.addr], word + 1, n);
    tally_count(&agent->card, tally_key(first.dest, first.counter), n);
    return true;
}

/* Notes how often a card of another host was opened. Its seat belongs to process 1 while it is open there, and to process 0
 * while it is closed: no program of this host has either number. */
static void take_opens(struct agent *agent, uint32_t card, uint64_t opens)
{
    uint32_t is_open = opens / 2 % 2 != 0;
    atomic_store(&agent->job->card[card].closing, (uint32_t)(opens & 1));
    atomic_store(&agent->job->card[card].seat, opens >> 1 << 32 | is_open);
}

static bool take_room(struct agent *agent, uint32_t card, uint32_t words)
{
    struct card_shared *shared = &agent->job->card[card];
    uint64_t head = atomic_load(&shared->fifo_head);
    do { /* the launcher may change it meanwhile: it gives back what dead programs had claimed */
        if (words > positions(head, atomic_load(&shared->fifo_tail))) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&shared->fifo_head, &head, (head + words) & POSITION));
    bell_ring(&shared->space);
    return true;
}

static const struct trace_sent by_nobody = {UINT64_MAX, 0};

static bool take_record(struct agent *agent, struct peer *peer, const uint64_t *word)
{
    uint32_t n = (uint32_t)word[0], card = record_card(word[0]);
    bool theirs = card - peer->first < peer->here;
    agent->card.number = card;
    agent->card.sent = theirs && record_kind(word[0]) != RECORD_REPLIES ? &agent->sent[card] : &by_nobody;
    switch (record_kind(word[0])) {
    case RECORD_PACKETS: return theirs && take_packets(agent, peer->host, word + 1, n);
    case RECORD_REPLIES: return theirs && take_packets(agent, NO_HOST, word + 1, n);
    case RECORD_PUT: return theirs && take_put(agent, word + 1, n);
    case RECORD_SENT:
        if (theirs) {
            agent->sent[card] = (struct trace_sent){word[1], n};
        }
        return theirs;
    case RECORD_OPENS:
        if (theirs) {
            take_opens(agent, card, word[1]);
            news_opens(agent, card);
        }
        return theirs;
    case RECORD_ARRIVE:
    case RECORD_LEAVE:
        if (theirs && agent->host == 0) {
            (record_kind(word[0]) == RECORD_ARRIVE ? news_arrive : news_leave)(agent, card, n);
        }
        return theirs && agent->host == 0;
    case RECORD_LEFT:
        if (job_is_here(agent->job, card)) {
            news_left(agent, card, n);
        }
        return job_is_here(agent->job, card);
    case RECORD_CROSSED: news_crossed(agent, (uint32_t)word[1]); return peer->host == 0;
    case RECORD_END:
        if (theirs) {
            news_end(agent, card, (uint32_t)word[1]);
        }
        return theirs;
    case RECORD_POISON: news_poison(agent, card); return card < agent->job->config.cards;
    case RECORD_ROOM: return theirs && take_room(agent, card, n);
    case RECORD_BYE: peer->bye = true; news_over(agent->job); return true; /* all programs have ended, or vicrun is gone */
    case RECORD_ASK_TIME: clocks_asked(peer, word[1]); return agent->host == 0;
    case RECORD_TIME: return peer->host == 0 && clocks_told(agent, word[1], word[2], word[3]);
    default: return false;
    }
}

bool incoming_frame(struct agent *agent, struct peer *peer, const struct frame *frame)
{
    size_t at = FRAME_HEAD;
    while (at < frame->used) {
        size_t words = 1 + record_words(frame->word[at]);
        if (words > frame->used - at || !take_record(agent, peer, frame->word + at)) {
            return false;
        }
        at += words;
    }
    return true;
}
