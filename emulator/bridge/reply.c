/* Answers to publishers on other cards: kept until their ring has room. */
#include "publish.h"

#include <string.h>

#include "grow.h"

enum {
    MOST_WAITING = 1 << 21,
    MOST_IDS = 512,
    HOLD_NS = 500 * 1000 /* each envelope wakes its client, which then uses the core that the broker needs */
};

bool replies_open(struct replies *replies, struct bridge *bridge)
{
    replies->bridge = bridge;
    replies->waiting = 0;
    replies->to = calloc(bridge->cards, sizeof *replies->to);
    return replies->to != NULL;
}

static void forget(struct replies *replies, struct backlog *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(to->answer[to->first + i].reason);
    }
    to->first += count;
    to->count -= count;
    to->first = to->count > 0 ? to->first : 0;
    replies->waiting -= count;
}

static void give_up(struct replies *replies, struct backlog *to, size_t number)
{
    count(&replies->bridge->counters.unanswered, number);
    forget(replies, to, number);
}

void replies_add(struct replies *replies, uint32_t card, const struct answer *answer)
{
    struct backlog *to = &replies->to[card];
    if (to->count == MOST_WAITING) {
        give_up(replies, to, to->count / 2);
    }
    if (!grow_behind(&to->answer, &to->first, to->count, &to->capacity, sizeof *to->answer)) {
        /* its client would wait for ever; it publishes again to the next bridge */
        log_error("no memory for confirms");
        free(answer->reason);
        bridge_stop(replies->bridge, STOP_FAILED);
        return;
    }
    to->answer[to->first + to->count++] = *answer;
    if (replies->waiting++ == 0) {
        replies->since_ns = now_ns();
    }
}

static bool same_reason(const struct answer *a, const struct answer *b)
{
    return a->reason == b->reason || (a->reason != NULL && b->reason != NULL && strcmp(a->reason, b->reason) == 0);
}

/* One envelope with the first answers of the same kind; how many there were, 0: the client has no room. */
static size_t send_some(struct replies *replies, uint32_t card, const struct backlog *to, size_t at)
{
    unsigned char ids[8 * MOST_IDS], text[VIC_ENVELOPE_MOST + VIC_ENVELOPE_KEY_MOST + sizeof ids];
    const struct answer *first = &to->answer[to->first + at];
    size_t number = 1, bytes = 0;
    while (at + number < to->count && number <= MOST_IDS && first[number].session == first->session &&
           first[number].flags == first->flags && same_reason(&first[number], first)) {
        vic_envelope_put_word(ids + 8 * (number - 1), first[number].id);
        number++;
    }
    struct vic_envelope envelope = {.kind = VIC_CONFIRM,
                                    .flags = first->flags,
                                    .session = first->session,
                                    .id = first->id,
                                    .key = first->reason,
                                    .key_bytes = first->reason != NULL ? strlen(first->reason) : 0, /* link->said is no longer than a key */
                                    .body = ids,
                                    .bytes = 8 * (number - 1)};
    vic_envelope_pack(text, sizeof text, &envelope, &bytes);
    return vic_message_send(replies->bridge->messages, card, text, bytes, 0) == VIC_OK ? number : 0;
}

static void send_to(struct replies *replies, uint32_t card)
{
    struct backlog *to = &replies->to[card];
    size_t done = 0, number = 1;
    uint64_t opens = 1;
    while (done < to->count && number > 0) {
        number = send_some(replies, card, to, done);
        done += number;
    }
    vic_peer_opens(replies->bridge->card, card, &opens);
    if (opens % 2 == 0) {
        done = to->count; /* its program has left */
    }
    forget(replies, to, done);
}

void replies_send(struct replies *replies, bool more_come)
{
    uint64_t many = replies->bridge->options.window / 4;
    if (more_come && replies->waiting < many && now_ns() - replies->since_ns < HOLD_NS) {
        return;
    }
    for (uint32_t card = 0; card < replies->bridge->cards && replies->waiting > 0; card++) {
        if (replies->to[card].count > 0) {
            send_to(replies, card);
        }
    }
}

void replies_close(struct replies *replies)
{
    for (uint32_t card = 0; replies->to != NULL && card < replies->bridge->cards; card++) {
        forget(replies, &replies->to[card], replies->to[card].count);
        free(replies->to[card].answer);
    }
    free(replies->to);
    replies->to = NULL;
}
