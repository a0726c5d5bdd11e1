/* Who may have messages of which queue, how many, and who is told that it may not? */
#define _GNU_SOURCE
#include "bridge_consumer.h"

static void programs_are_told_apart(void)
{
    begin();
    card_opens = 2;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8); /* has left again */
    CHECK(!subscribers_any(&consumer) && card_envelopes == 0);
    card_opens = 1;
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 0);
    CHECK(!subscribers_any(&consumer) && strncmp(card_last.body, "a credit of 0", 13) == 0);
    static const char *const none[] = {"", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "q\xc3", "\xc3q", "\xff\xfe"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) { /* the broker hangs up on what is no UTF-8 */
        say(VIC_SUBSCRIBE, 1, 7, 1, none[i], 1);
        CHECK(!subscribers_any(&consumer) && strncmp(card_last.body, "this is no name of a queue", 26) == 0);
    }
    say(VIC_SUBSCRIBE, 1, 6, 1, "\xc3\xb6\xe2\x82\xac\xf0\x9f\x90\x87", 1);
    CHECK(subscribers_any(&consumer));
    subscribers_refuse(&consumer, consumer.channel[1], "the end");
    free(consumer.channel[--consumer.channels]);
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 8);
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 9); /* more credit, not a second one */
    CHECK(here.channel.subscribers->next == NULL && here.channel.subscribers->credit == 9);
    say(VIC_SUBSCRIBE, 1, 8, 1, "q", 8); /* another program of the card: the first is gone */
    CHECK(here.channel.subscribers->session == 8 && here.channel.subscribers->next == NULL);
    say(VIC_UNSUBSCRIBE, 1, 7, 1, "q", 0);
    say(VIC_UNSUBSCRIBE, 2, 8, 1, "q", 0);
    say(VIC_UNSUBSCRIBE, 1, 8, 2, "q", 0);
    CHECK(subscribers_any(&consumer));
    opens[1] = 3; /* seen by the main thread: the card was opened anew */
    subscribers_look(&consumer);
    CHECK(!subscribers_any(&consumer));
    say(VIC_SUBSCRIBE, 1, 9, 1, "q", 8);
    subscribers_look(&consumer); /* not so soon */
    CHECK(subscribers_any(&consumer));
    opens[1] = 0;
    bridge.options.consume[bridge.options.consumes++] = "other";
    say(VIC_SUBSCRIBE, 1, 9, 2, "q", 8);
    CHECK(strncmp(card_last.body, "this bridge does not serve it", 29) == 0);
    bridge.options.consume[bridge.options.consumes++] = "q";
    say(VIC_SUBSCRIBE, 2, 9, 2, "q", 8);
    CHECK(here.channel.subscribers->next != NULL);
    end();
}

static void no_more_than_64_queues_are_consumed(void)
{
    begin();
    char name[] = "queue 00";
    for (int i = 0; i < MOST_QUEUES; i++) {
        name[6] = (char)('0' + i / 10);
        name[7] = (char)('0' + i % 10);
        say(VIC_SUBSCRIBE, 1, 7, (uint64_t)i, name, 1);
    }
    CHECK(consumer.channels == MOST_QUEUES && strncmp(card_last.body, "64 queues are consumed already", 30) == 0);
    struct channel *last = consumer.channel[MOST_QUEUES - 1];
    say(VIC_UNSUBSCRIBE, 1, 7, MOST_QUEUES - 2, last->name, 0);
    last->lingers = true; /* what the broker sent before it knew of that may still be read */
    say(VIC_SUBSCRIBE, 1, 7, 100, "another", 1);
    CHECK(last->subscribers == NULL && consumer.channels == MOST_QUEUES);
    last->lingers = false;
    say(VIC_SUBSCRIBE, 1, 7, 101, "another", 1);
    CHECK(last->subscribers != NULL && strcmp(last->name, "another") == 0 && last->name_bytes == 7);
    for (size_t i = 1; i < consumer.channels; i++) {
        subscribers_refuse(&consumer, consumer.channel[i], "the end");
        free(consumer.channel[i]);
    }
    consumer.channels = 1;
    end();
}

static void what_programs_have_counts_though_the_connection_broke(void)
{
    begin();
    say(VIC_SUBSCRIBE, 1, 7, 1, "q", 2);
    for (char tag = 1; tag <= 3; tag++) {
        delivers(tag, "x", 1);
    }
    deliver_waiting(&consumer, &here.channel);
    deliver_forget(&consumer, &here.channel); /* the broker gives them anew: */
    delivers(1, "x", 1);
    deliver_waiting(&consumer, &here.channel);
    CHECK(bridge.counters.delivered == 2 && here.channel.first_waiting != NULL);
    acknowledge(1, 99, 1, 0); /* done: the broker is told nothing, another may come */
    acknowledge(1, 99, 1, 0);
    deliver_waiting(&consumer, &here.channel);
    CHECK(bridge.counters.delivered == 3 && bridge.counters.acked == 0 && here.channel.subscribers->out == 2);
    say(VIC_UNSUBSCRIBE, 1, 7, 1, "q", 0);
    CHECK(bridge.counters.requeued == 1 && here.channel.first == NULL); /* one of them is this connection's */
    card_status = VIC_ETIMEDOUT; /* who has no room is refused later, once, unless it has left */
    say(VIC_SUBSCRIBE, 1, 7, 2, "", 8);
    say(VIC_SUBSCRIBE, 1, 7, 3, "", 8);
    card_status = VIC_OK;
    card_envelopes = consumer.look_ns = 0;
    subscribers_look(&consumer);
    consumer.look_ns = 0;
    subscribers_look(&consumer);
    CHECK(card_envelopes == 2 && card_last.kind == VIC_REFUSAL && consumer.refusals == NULL);
    end();
}

enum { REFUSED = 1024 };

static size_t refusals_kept(uint32_t card)
{
    size_t kept = 0;
    for (const struct refusal *refusal = consumer.refusals; refusal != NULL; refusal = refusal->next) {
        kept += refusal->card == card;
    }
    return kept;
}

/* As many as a client may wait for, whatever other cards do; none that it does not wait for any more. */
static void every_program_without_room_is_refused_later(void)
{
    begin();
    card_status = VIC_ETIMEDOUT;
    for (uint64_t number = 1; number <= REFUSED + 1; number++) {
        say(VIC_SUBSCRIBE, 2, 6, number, "", 8);
    }
    for (uint64_t number = 1; number <= 3 * REFUSED; number++) { /* ended and begun anew, as its bridge reads it */
        say(VIC_SUBSCRIBE, 1, 7, number, "", 8);
        if (number <= 2 * REFUSED) {
            say(VIC_UNSUBSCRIBE, 1, 7, number, "", 0);
        }
    }
    CHECK(refusals_kept(2) == REFUSED && refusals_kept(1) == REFUSED && consumer.refusals->number == 3 * REFUSED);
    say(VIC_SUBSCRIBE, 2, 8, 1, "", 8); /* another client of that card */
    CHECK(refusals_kept(2) == 1 && refusals_kept(1) == REFUSED);
    card_status = VIC_OK;
    card_envelopes = consumer.look_ns = 0;
    subscribers_look(&consumer);
    CHECK(card_envelopes == REFUSED + 1 && consumer.refusals == NULL);
    end();
}

int main(void)
{
    programs_are_told_apart();
    no_more_than_64_queues_are_consumed();
    what_programs_have_counts_though_the_connection_broke();
    every_program_without_room_is_refused_later();
    puts("checks passed");
    return 0;
}
