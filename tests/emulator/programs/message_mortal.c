/* Messages between programs that are killed at any moment and started again. Card 0 receives, the others send
 * and flush; what came and what a flush has reported is written down, by card, for the test to compare.
 *
 *     message_mortal senders | receiver | all SEED LIVES FOLDER */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

enum {
    MOST = 3000,
    WINDOW = 4096,
    LIFE = 1 << 20,     /* numbers of one life, */
    LAST = LIFE - 1000, /* the last ones of which say that it is the end */
    EVERY = 8,          /* messages between flushes, in one life; in the next ... */
    SELDOM = 500,
    AT_THE_END = 40,
    MOST_NS = 6 * 1000 * 1000,
    SLEEP_NS = 20 * 1000 * 1000
};
enum { CAME, FLUSHED };

struct note {
    uint32_t what, src, first, last;
};

static uint64_t seed, lives, life;
static int notes;

static void *killer(void *what)
{
    const struct self *self = what;
    uint64_t random = seed * 1000003 + self->me * 1009 + life;
    nanosleep(&(struct timespec){0, (long)(draw(&random) % MOST_NS)}, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* One write: it is there, or it is not. */
static void note(uint32_t what, uint32_t src, uint32_t first, uint32_t last)
{
    struct note line = {what, src, first, last};
    CHECK(write(notes, &line, sizeof line) == (ssize_t)sizeof line);
}

static size_t size_of(uint64_t name)
{
    return name % 4 == 0 ? 4 + name / 4 % (MOST - 4) : 4 + name % 60;
}

static uint32_t put_together(unsigned char *data, uint32_t src, uint32_t number)
{
    uint64_t name = name_of(src, 0, number);
    fill(data, size_of(name), name);
    memcpy(data, &number, 4);
    return (uint32_t)size_of(name);
}

static void receive(const struct self *self, vic_message_t *messages)
{
    unsigned char data[MOST], same[MOST];
    uint64_t random = seed;
    for (uint32_t ended = 1; ended != (1u << self->cards) - 1;) {
        uint32_t src, number;
        size_t bytes;
        int status = vic_message_recv(messages, &src, data, MOST, &bytes, LONG);
        if (status == VIC_ECLOSED) {
            return; /* a sender that was told of its last message by a life before */
        }
        OK(status);
        CHECK(bytes >= 4 && src > 0 && src < self->cards);
        memcpy(&number, data, 4);
        CHECK(bytes == put_together(same, src, number) && memcmp(data, same, bytes) == 0);
        note(CAME, src, number, number);
        if (draw(&random) % 256 == 0) { /* a sender comes back while its ring is full */
            nanosleep(&(struct timespec){0, (long)(draw(&random) % SLEEP_NS)}, NULL);
        }
        ended |= (uint32_t)(number % LIFE >= LAST) << src;
    }
}

/* All lives of the receiver that end have ended. */
static bool stays(const struct self *self, uint64_t receivers)
{
    uint64_t opens;
    OK(vic_peer_opens(self->card, 0, &opens));
    return opens == 2 * receivers + 1;
}

static void send_all(const struct self *self, vic_message_t *messages, bool dies, uint64_t receivers)
{
    unsigned char data[MOST];
    uint32_t first = (uint32_t)life * LIFE, next = first, left = AT_THE_END;
    while (dies || left > 0) {
        left -= stays(self, receivers) && left > 0;
        size_t bytes = put_together(data, self->me, next++);
        OK(vic_message_send(messages, 0, data, bytes, LONG));
        if (next % (life % 2 == 0 ? EVERY : SELDOM) == 0) {
            int status = vic_message_flush(messages, LONG);
            CHECK(status == VIC_OK || status == VIC_EPEER);
            if (status == VIC_OK) {
                note(FLUSHED, self->me, first, next - 1);
            }
            first = next;
        }
    }
    int status;
    next = (uint32_t)life * LIFE + LAST;
    do {
        size_t bytes = put_together(data, self->me, next++);
        status = vic_message_send(messages, 0, data, bytes, LONG);
        status = status == VIC_OK ? vic_message_flush(messages, LONG) : status;
    } while (status == VIC_EPEER);
    CHECK(status == VIC_OK || status == VIC_ECLOSED); /* it has ended meanwhile */
}

int main(int argc, char **argv)
{
    vic_t *card;
    char path[300];
    CHECK(argc == 5 && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    seed = strtoull(argv[2], NULL, 10);
    lives = strtoull(argv[3], NULL, 10);
    snprintf(path, sizeof path, "%s/%u", argv[4], self.me);
    notes = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    CHECK(notes >= 0);
    OK(vic_peer_opens(card, self.me, &life));
    life /= 2;
    bool mortal = strcmp(argv[1], self.me == 0 ? "senders" : "receiver") != 0, dies = mortal && life < lives;
    pthread_t thread;
    if (dies) {
        CHECK(pthread_create(&thread, NULL, killer, &self) == 0);
    }
    vic_message_t *messages = open_messages(&self, WINDOW, MOST);
    if (self.me == 0) {
        receive(&self, messages);
    } else {
        send_all(&self, messages, dies, strcmp(argv[1], "senders") != 0 ? lives : 0);
    }
    int status = vic_message_close(messages);
    CHECK(status == VIC_OK || status == VIC_EPEER);
    OK(vic_close(card));
    return 0;
}
