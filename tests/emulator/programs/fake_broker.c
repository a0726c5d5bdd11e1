/* A bridge and its broker in one: for programs that talk to a bridge, where there is no broker. The queue of a
 * message has the name of its key. Ends when all other cards have been there and have left.
 *
 *     fake_broker JOURNAL [SEED LIVES]
 *
 * JOURNAL gets a line for each message that was taken: session and id. With a SEED confirms come late and in
 * any order; with LIVES it kills itself at random until it was started so many times.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "client.h"

enum { SUBSCRIPTIONS = 64, HELD = 200, ROOM = 2 << 20 };

struct message {
    struct message *next;
    uint64_t session, id, delivery; /* delivery: 0: waits in the queue */
    uint32_t to;
    unsigned flags;
    char key[VIC_KEY_MOST + 1];
    size_t bytes;
    unsigned char body[];
};

struct subscription {
    uint32_t card;
    uint64_t session, number, credit, out, opens;
    char queue[VIC_KEY_MOST + 1];
};

static struct self self;
static vic_message_t *messages;
static struct message *all;
static struct message **end = &all;
static struct subscription subscriptions[SUBSCRIPTIONS];
static unsigned many, turn;
static uint64_t mine, deliveries, chance, held[HELD][3];
static unsigned holds;
static int journal;
static bool mortal, late;
static unsigned char room[ROOM];

static bool say(uint32_t to, const struct vic_envelope *e)
{
    size_t bytes;
    OK(vic_envelope_pack(room, sizeof room, e, &bytes));
    int status = vic_message_send(messages, to, room, bytes, SECOND);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_ECLOSED); /* it may have left */
    return status == VIC_OK;
}

/* Confirm some: one envelope for all that are of the same card and session. */
static void confirm(unsigned keep)
{
    while (holds > keep) {
        uint64_t first[3], more[HELD];
        unsigned count = 0, k = (unsigned)(draw(&chance) % holds);
        memcpy(first, held[k], sizeof first);
        memcpy(held[k], held[--holds], sizeof held[k]);
        for (k = 0; k < holds;) {
            if (held[k][0] == first[0] && held[k][1] == first[1] && draw(&chance) % 2 == 0) {
                vic_envelope_put_word(&more[count++], held[k][2]);
                memcpy(held[k], held[--holds], sizeof held[k]);
            } else {
                k++;
            }
        }
        struct vic_envelope e = {.kind = VIC_CONFIRM, .session = first[1], .id = first[2]};
        e.body = more;
        e.bytes = 8 * count;
        say((uint32_t)first[0], &e);
    }
}

static void publish(uint32_t from, const struct vic_envelope *e)
{
    char line[64];
    int length = snprintf(line, sizeof line, VIC_MESSAGE_ID "\n", (unsigned long long)e->session,
                          (unsigned long long)e->id);
    CHECK(write(journal, line, (size_t)length) == length);
    struct message *m = malloc(sizeof *m + e->bytes);
    CHECK(m != NULL);
    *m = (struct message){.session = e->session, .id = e->id, .bytes = e->bytes};
    memcpy(m->key, e->key, e->key_bytes);
    memcpy(m->body, e->body, e->bytes);
    *end = m;
    end = &m->next;
    if ((e->flags & VIC_CONFIRM_WANTED) != 0) {
        held[holds][0] = from;
        held[holds][1] = e->session;
        held[holds++][2] = e->id;
        confirm(!late ? 0 : holds == HELD ? HELD / 2 : holds);
    }
}

/* What was out goes back: all of a subscription, or of a card. */
static void give_back(const struct subscription *s)
{
    for (struct message *m = all; m != NULL; m = m->next) {
        if (m->delivery != 0 && m->to == (uint32_t)(s - subscriptions)) {
            m->delivery = 0;
            m->flags = VIC_REDELIVERED;
        }
    }
}

static struct subscription *find(uint32_t card, uint64_t session, uint64_t number)
{
    for (unsigned i = 0; i < many; i++) {
        struct subscription *s = &subscriptions[i];
        if (s->card == card && s->session == session && s->number == number) {
            return s;
        }
    }
    return NULL;
}

static void subscribe(uint32_t from, const struct vic_envelope *e)
{
    struct subscription *s = find(from, e->session, e->id);
    if (s == NULL) {
        CHECK(many < SUBSCRIPTIONS);
        s = &subscriptions[many++];
    }
    *s = (struct subscription){from, e->session, e->id, vic_envelope_word(e->body), s->out, 0, ""};
    memcpy(s->queue, e->key, e->key_bytes);
    OK(vic_peer_opens(self.card, from, &s->opens));
    if (strcmp(s->queue, "missing") == 0) {
        struct vic_envelope no = {.kind = VIC_REFUSAL, .session = e->session, .id = e->id, .key = e->key};
        no.key_bytes = e->key_bytes;
        no.body = "no such queue";
        no.bytes = 13;
        s->credit = 0;
        say(from, &no);
    }
}

static void acknowledge(uint32_t from, uint64_t delivery, bool reject)
{
    for (struct message **at = &all; *at != NULL; at = &(*at)->next) {
        struct message *m = *at;
        if (m->delivery == delivery && delivery != 0 && subscriptions[m->to].card == from) {
            subscriptions[m->to].out--;
            m->delivery = 0;
            m->flags = VIC_REDELIVERED;
            if (!reject) {
                *at = m->next;
                end = *at == NULL ? at : end;
                free(m);
            }
            return;
        }
    }
}

static bool deliver_one(void)
{
    for (struct message *m = many > 0 ? all : NULL; m != NULL; m = m->next) {
        for (unsigned i = 0; i < many && m->delivery == 0; i++) {
            struct subscription *s = &subscriptions[(turn + i) % many];
            if (s->out < s->credit && strcmp(s->queue, m->key) == 0) {
                struct vic_envelope e = {VIC_DELIVER, m->flags, mine, ++deliveries, s->session, s->number,
                                         m->session, m->id, m->key, strlen(m->key), m->body, m->bytes};
                m->delivery = deliveries;
                m->to = (uint32_t)(s - subscriptions);
                s->out++;
                turn = (m->to + 1) % many;
                if (!say(s->card, &e)) {
                    s->credit = 0; /* it has left; what it acknowledged before may still be to come */
                }
                return true;
            }
        }
    }
    return false;
}

static void take(uint32_t from, const void *data, size_t bytes)
{
    struct vic_envelope e;
    OK(vic_envelope_unpack(data, bytes, &e));
    struct subscription *s = find(from, e.session, e.id);
    switch (e.kind) {
    case VIC_PUBLISH: publish(from, &e); break;
    case VIC_SUBSCRIBE: subscribe(from, &e); break;
    case VIC_UNSUBSCRIBE:
        if (s != NULL) {
            give_back(s);
            s->credit = s->out = 0;
        }
        break;
    case VIC_ACK:
        for (size_t i = 0; i < vic_envelope_ids(&e) && e.session == mine; i++) {
            acknowledge(from, vic_envelope_id(&e, i), e.flags != 0);
        }
        break;
    default: break;
    }
}

/* Those that left: their messages go back. True: all have been there and have left. */
static bool look_around(void)
{
    bool over = self.cards > 1;
    for (uint32_t card = 0; card < self.cards; card++) {
        uint64_t opens;
        OK(vic_peer_opens(self.card, card, &opens));
        over = over && (card == self.me || (opens > 0 && opens % 2 == 0));
        for (unsigned i = 0; i < many; i++) {
            struct subscription *s = &subscriptions[i];
            if (s->card == card && s->opens != opens) {
                give_back(s);
                s->credit = s->out = 0;
            }
        }
    }
    return over;
}

int main(int argc, char **argv)
{
    static unsigned char data[ROOM];
    vic_t *card;
    CHECK(argc > 1 && vic_open(&card) == VIC_OK);
    self = self_of(card);
    late = argc > 2;
    journal = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(journal >= 0);
    uint64_t opens;
    OK(vic_peer_opens(card, self.me, &opens));
    mortal = argc > 3 && (opens + 1) / 2 < strtoull(argv[3], NULL, 10);
    chance = (late ? strtoull(argv[2], NULL, 10) : 0) + opens;
    mine = draw(&chance);
    OK(vic_message_open(card, NULL, &messages));
    for (;;) {
        uint32_t from;
        size_t bytes;
        bool busy = deliver_one();
        int status = vic_message_recv(messages, &from, data, sizeof data, &bytes, busy ? 0 : SECOND / 200);
        if (status == VIC_OK) {
            take(from, data, bytes);
        } else if (!busy) {
            CHECK(status == VIC_ETIMEDOUT || status == VIC_ECLOSED); /* the others have ended */
            if (status == VIC_ECLOSED || look_around()) {
                break;
            }
            confirm(0);
        }
        if (mortal && draw(&chance) % 300 == 0) {
            raise(SIGKILL);
        }
    }
    vic_message_close(messages); /* VIC_EPEER: somebody left before it had taken all */
    OK(vic_close(card));
    return 0;
}
