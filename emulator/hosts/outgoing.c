/* From the rings of the cards of this host into frames for other hosts. */
#include <string.h>

#include "agent.h"
#include "bell.h"
#include "functional/claims.h"

static uint64_t word_at(const struct ring *ring, uint64_t at)
{
    return *(const volatile uint64_t *)&ring->word[at % RING_WORDS];
}

static void copy_from(uint64_t *to, const struct ring *ring, uint64_t at, size_t n)
{
    size_t first = (size_t)(at % RING_WORDS), whole = RING_WORDS - first < n ? RING_WORDS - first : n;
    memcpy(to, ring->word + first, whole * sizeof *to);
    memcpy(to + whole, ring->word, (n - whole) * sizeof *to);
}

/* Appends a packet to the open frame: to its last record if the head of that is `record`, but for the count, else in a new
 * record. False: there is no room now. */
bool outgoing_packet(struct agent *agent, struct peer *peer, uint64_t record, uint64_t header, uint64_t payload)
{
    uint64_t *head = peer->packets;
    if (head == NULL || (*head ^ record) >> 32 != 0 || peer->open->used + 2 > peer->most) {
        head = stream_room(agent, peer, 3);
        if (head == NULL) {
            return false;
        }
        *head = record;
        peer->open->used -= 2;
        peer->packets = head;
    }
    uint64_t *at = peer->open->word + peer->open->used;
    at[0] = header;
    at[1] = payload;
    peer->open->used += 2;
    *head += 1;
    return true;
}

/* Tells all hosts how often the card was opened. False: one of them could not be told now. */
static bool tell_opens(struct agent *agent, uint32_t place)
{
    uint64_t opens = agent->sender[place].opens;
    bool all = true;
    for (struct peer *peer = NULL; (peer = next_living(agent, peer)) != NULL;) {
        if (peer->opens_told[place] == opens) {
            continue;
        }
        uint64_t *at = stream_room(agent, peer, 2);
        if (at == NULL) {
            all = false;
            continue;
        }
        at[0] = record_word(RECORD_OPENS, agent->job->first + place, 1);
        at[1] = peer->opens_told[place] = opens;
    }
    return all;
}

/* --trace: tells the host which call of the card sends what comes next. False: there is no room now. */
static bool tell_sent(struct agent *agent, struct sender *sender, struct peer *peer, uint32_t card)
{
    if (sender->call_told[peer->host] != sender->calls) {
        uint64_t *at = stream_room(agent, peer, 2);
        if (at == NULL) {
            return false;
        }
        at[0] = record_word(RECORD_SENT, card, sender->sent.thread);
        at[1] = sender->sent.at_ns;
        sender->call_told[peer->host] = sender->calls;
    }
    return true;
}

static void note_frame(struct sender *sender, const struct peer *peer)
{
    sender->frame[peer->host] = peer->sent + 1; /* the number that the open frame will have */
}

/* Moves one packet of the present record. False: there is no room now. */
static bool move_packet(struct agent *agent, struct sender *sender, const struct ring *ring, uint32_t card)
{
    uint64_t header = word_at(ring, sender->at), payload = word_at(ring, sender->at + 1);
    struct peer *peer = peer_of(agent, packet_of(header).dest);
    if (peer != NULL && !peer->hung_up) {
        if (!tell_sent(agent, sender, peer, card) ||
            !outgoing_packet(agent, peer, record_word(RECORD_PACKETS, card, 0), header, payload)) {
            return false;
        }
        note_frame(sender, peer);
    }
    sender->at += 2;
    sender->packets--;
    return true;
}

static bool move_put(struct agent *agent, struct sender *sender, const struct ring *ring, uint64_t head)
{
    size_t words = 1 + record_words(head);
    struct peer *peer = peer_of(agent, packet_of(word_at(ring, sender->at + 1)).dest);
    if (peer != NULL && !peer->hung_up) {
        uint64_t *at = tell_sent(agent, sender, peer, record_card(head)) ? stream_room(agent, peer, words) : NULL;
        if (at == NULL) {
            return false;
        }
        copy_from(at, ring, sender->at, words);
        at[0] = head;
        note_frame(sender, peer);
    }
    sender->at += words;
    return true;
}

/* Passes on that the card comes to the barrier or leaves it, to the first host, which counts. False: no room now. */
static bool move_visit(struct agent *agent, struct sender *sender, uint64_t head)
{
    struct peer *first = &agent->peer[0];
    if (agent->host == 0) {
        (record_kind(head) == RECORD_ARRIVE ? news_arrive : news_leave)(agent, record_card(head), (uint32_t)head);
    } else if (!first->hung_up) {
        uint64_t *at = stream_room(agent, first, 1);
        if (at == NULL) {
            return false;
        }
        *at = head;
    }
    sender->at++;
    return true;
}

/* Moves the next record, or of packets only its head. False: there is no room now. */
static bool move_record(struct agent *agent, struct sender *sender, const struct ring *ring, uint64_t tail, uint32_t card)
{
    uint64_t word = word_at(ring, sender->at);
    uint64_t head = record_word(record_kind(word), card, (uint32_t)word); /* whichever card it names */
    uint64_t left = tail - sender->at;
    bool good = 1 + record_words(head) <= left && (record_kind(head) != RECORD_PUT || (uint32_t)head <= RECORD_PUT_MOST);
    switch (good ? record_kind(head) : 0) {
    case RECORD_PACKETS:
        sender->packets = (uint32_t)head;
        sender->at++;
        return true;
    case RECORD_PUT: return move_put(agent, sender, ring, head);
    case RECORD_OPENS:
        sender->opens = word_at(ring, sender->at + 1);
        news_opens(agent, card);
        sender->at += 2;
        return true;
    case RECORD_SENT:
        sender->calls++;
        sender->sent = (struct trace_sent){word_at(ring, sender->at + 1), (uint32_t)head};
        sender->at += 2;
        return true;
    case RECORD_ARRIVE:
    case RECORD_LEAVE: return move_visit(agent, sender, head);
    default: /* written over by the program: this library writes no such record */
        sender->at = tail;
        return true;
    }
}

/* Tells the other hosts if the card was closed, after all that it had sent before is in frames. */
static void look_at_card(struct agent *agent, uint32_t place, uint64_t seat, bool closing)
{
    struct sender *sender = &agent->sender[place];
    uint64_t opens = 2 * (uint64_t)seat_opens(seat);
    bool closed = seat_opens(seat) % 2 == 0 && opens > sender->opens;
    if (closed || (closing && opens == sender->opens)) {
        sender->opens = opens + !closed;
        news_opens(agent, agent->job->first + place);
    }
    tell_opens(agent, place);
}

static bool read_ring(struct agent *agent, uint32_t place)
{
    uint32_t card = agent->job->first + place;
    struct card_shared *shared = &agent->job->card[card];
    struct sender *sender = &agent->sender[place];
    struct ring *ring = job_ring(agent->job, card);
    uint64_t seat = atomic_load(&shared->seat), before = sender->at;
    bool closing = atomic_load(&shared->closing) != 0, room = true;
    uint64_t tail = atomic_load(&ring->tail); /* read after `seat` and `closing`: so it includes what was sent before */
    if (tail - sender->at > RING_WORDS) {
        sender->at = tail;
        sender->packets = 0;
    }
    while (room && (sender->at != tail || sender->packets > 0)) {
        room = tell_opens(agent, place);
        if (room && sender->packets > 0) {
            if (tail - sender->at < 2) {
                sender->packets = 0;
                continue;
            }
            room = move_packet(agent, sender, ring, card);
        } else if (room) {
            room = move_record(agent, sender, ring, tail, card);
        }
    }
    if (sender->at == tail) {
        look_at_card(agent, place, seat, closing);
    }
    if (sender->at != before) {
        atomic_store(&ring->flying, 1);
        agent->answers = true; /* look again: perhaps nothing of what was read has left this host */
        atomic_store(&ring->head, sender->at);
        bell_ring(&ring->space);
    }
    return sender->at != before;
}

bool outgoing_pass(struct agent *agent)
{
    bool moved = false;
    for (uint32_t i = 0; i < agent->job->here; i++) {
        moved |= read_ring(agent, i);
    }
    return moved;
}

void outgoing_answered(struct agent *agent)
{
    if (!agent->answers) {
        return;
    }
    agent->answers = false;
    for (uint32_t i = 0; i < agent->job->here; i++) {
        uint32_t card = agent->job->first + i;
        struct ring *ring = job_ring(agent->job, card);
        bool flies = false;
        for (const struct peer *peer = NULL; (peer = next_living(agent, peer)) != NULL;) {
            flies |= agent->sender[i].frame[peer->host] > peer->answered;
        }
        if (!flies && atomic_load(&ring->flying) != 0) {
            atomic_store(&ring->flying, 0);
            bell_ring(&agent->job->card[card].arrival);
        }
    }
}
