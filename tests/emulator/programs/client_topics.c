/* Does a message reach the cards that want it, once, and no other? Cards come and go between rounds, and bind
 * other patterns then. */
#include "client.h"

enum { ROUNDS = 3, MESSAGES = 40 };

struct seen {
    uint32_t *data; /* of each card, on the topic of all */
    uint32_t *mine; /* on that of this card */
    uint64_t left;  /* to come in all */
};

static _Thread_local const struct self *self;
static _Thread_local vic_client_t *client;
static _Thread_local unsigned done; /* counter: cards that have not finished the round */

/* What came for this round, in order for each card and topic. */
static bool take(struct seen *seen, uint32_t round, uint64_t timeout_ns)
{
    struct vic_delivery d;
    int status = vic_client_recv(client, &d, timeout_ns);
    if (status == VIC_ETIMEDOUT) {
        return false;
    }
    OK(status);
    CHECK(d.kind == VIC_TOPIC && d.flags == 0 && d.session != 0 && d.id != 0);
    CHECK((uintptr_t)d.body % 16 == 0 && d.key[d.key_bytes] == 0);
    uint32_t number[2];
    char mine[32];
    snprintf(mine, sizeof mine, "round%u.card%u.data", round, self->me);
    if (d.bytes == sizeof number) {
        memcpy(number, d.body, sizeof number);
        bool is_mine = strcmp(d.key, mine) == 0;
        uint32_t *next = is_mine ? seen->mine : seen->data;
        CHECK(number[0] == round && number[1] == next[d.src]++);
        CHECK(is_mine || strstr(d.key, ".all.data") != NULL);
        seen->left--;
    } else {
        CHECK(d.bytes == 0 && strstr(d.key, ".probe") != NULL);
    }
    OK(vic_client_ack(client, &d, 0));
    return true;
}

/* Until so many cards want it. */
static void wait_for(struct seen *seen, uint32_t round, const char *topic, uint32_t expected)
{
    for (uint32_t cards = self->cards + 1; cards != expected;) {
        OK(vic_client_topic(client, topic, NULL, 0, &cards, LONG));
        CHECK(cards <= self->cards);
        while (take(seen, round, 1000 * 1000)) {
        }
    }
}

/* Topics of the round; on odd cards by other patterns than on even ones. */
static void bind_all(uint32_t round, bool binds)
{
    char pattern[3][40];
    snprintf(pattern[0], sizeof *pattern, self->me % 2 == 0 ? "round%u.all.*" : "round%u.#.all.#", round);
    snprintf(pattern[1], sizeof *pattern, "round%u.card%u.*", round, self->me);
    snprintf(pattern[2], sizeof *pattern, self->me % 2 == 0 ? "round%u.*.even.probe" : "round%u.*", round);
    for (int i = 0; i < 3; i++) {
        OK(binds ? vic_client_bind(client, pattern[i]) : vic_client_unbind(client, pattern[i]));
        IS(binds ? vic_client_bind(client, pattern[i]) : vic_client_unbind(client, pattern[i]),
           binds ? VIC_OK : VIC_EINVAL);
    }
}

static void send_all(struct seen *seen, uint32_t round)
{
    char topic[40];
    uint32_t cards, number[2] = {round, 0};
    for (; number[1] < MESSAGES; number[1]++) {
        snprintf(topic, sizeof topic, "round%u.all.data", round);
        OK(vic_client_topic(client, topic, number, sizeof number, &cards, LONG));
        CHECK(cards == self->cards);
        for (uint32_t to = 0; to < self->cards; to++) {
            snprintf(topic, sizeof topic, "round%u.card%u.data", round, to);
            OK(vic_client_topic(client, topic, number, sizeof number, &cards, LONG));
            CHECK(cards == 1);
        }
        OK(vic_client_topic(client, "nobody.wants.this", number, sizeof number, &cards, LONG));
        CHECK(cards == 0);
    }
    while (seen->left > 0) {
        take(seen, round, SECOND / 100);
    }
}

/* Others still need what only our calls do. */
static void finish(struct seen *seen, uint32_t round)
{
    uint64_t header[64], one[64];
    for (uint32_t to = 0; to < self->cards; to++) {
        header[to] = vic_header(to, VIC_COUNTER_ADD, 0, done);
        one[to] = (uint64_t)-1;
    }
    OK(vic_send(self->card, header, one, self->cards));
    for (int64_t left = 1; left != 0; take(seen, round, 1000 * 1000)) {
        OK(vic_counter_get(self->card, done, &left));
    }
}

static void play(uint32_t round)
{
    uint32_t cards = self->cards;
    struct seen seen = {.left = 2u * MESSAGES * cards};
    seen.data = calloc(cards, sizeof *seen.data);
    seen.mine = calloc(cards, sizeof *seen.mine);
    char probe[3][40];
    CHECK(seen.data != NULL && seen.mine != NULL);
    snprintf(probe[0], sizeof *probe, "round%u.all.probe", round);
    snprintf(probe[1], sizeof *probe, "round%u.x.even.probe", round);
    snprintf(probe[2], sizeof *probe, "round%u.probe", round);
    bind_all(round, true);
    wait_for(&seen, round, probe[0], cards);
    wait_for(&seen, round, probe[1], (cards + 1) / 2);
    wait_for(&seen, round, probe[2], cards / 2);
    send_all(&seen, round);
    finish(&seen, round);
    OK(vic_barrier(self->card, LONG));
    OK(vic_counter_set(self->card, done, cards));
    OK(vic_barrier(self->card, LONG));
    bind_all(round, false);
    wait_for(&seen, round, probe[0], 0);
    finish(&seen, round);
    OK(vic_barrier(self->card, LONG));
    OK(vic_counter_set(self->card, done, cards));
    OK(vic_barrier(self->card, LONG));
    CHECK(counts_of(client).strange == 0);
    free(seen.data);
    free(seen.mine);
}

void run(const struct self *me)
{
    self = me;
    OK(vic_counter_alloc(self->card, &done));
    OK(vic_counter_set(self->card, done, self->cards));
    OK(vic_barrier(self->card, LONG));
    client = open_client(self, 0, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (round > 0 && self->me % ROUNDS == round) {
            IS(vic_client_close(client), VIC_OK);
            client = open_client(self, 0, 0);
        }
        play(round);
    }
    OK(vic_client_close(client));
    OK(vic_barrier(self->card, LONG));
}
