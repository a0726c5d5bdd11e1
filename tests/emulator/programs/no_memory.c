/* What if there is no memory, at each place where some is asked for? Calls say VIC_ESYS, and work when there is
 * memory again: nothing that was received is lost. One card. */
#include <errno.h>
#include <sys/resource.h>

#include "client.h"
#include "vic_collective.h"

/* The library's calls come here; `fails_in`: the so-manieth from now on has none. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

static _Atomic int fails_in;

static bool fails(void)
{
    bool none = fails_in > 0 && --fails_in == 0;
    errno = none ? ENOMEM : errno;
    return none;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return fails() ? NULL : __libc_memalign(align, bytes);
}

static const struct vic_message_config ring = {1 << 20, 1024, 0};
static const struct vic_client_config config = {0, 0, VIC_CLIENT_BRIDGE | VIC_CLIENT_RETURNS};
static vic_t *card;
static vic_client_t *client;
static vic_message_t *messages;
static char body[100000];
static struct vic_delivery d;

static int open_messages_there(void)
{
    return vic_message_open(card, &ring, &messages);
}

static int send_to_itself(void)
{
    return vic_message_send(messages, 0, body, 3000, 20 * 1000 * 1000);
}

static int receive_it(void)
{
    size_t bytes;
    return vic_message_recv(messages, NULL, body, sizeof body, &bytes, 20 * 1000 * 1000);
}

static int open_client_there(void)
{
    return vic_client_open(card, &ring, &config, &client);
}

static int publish(void)
{
    return vic_client_publish(client, 0, "k", body, sizeof body / 2, VIC_FOREVER);
}

static int subscribe(void)
{
    return vic_client_subscribe(client, 0, "q", 1, NULL);
}

static int bind_there(void)
{
    return vic_client_bind(client, "a.#");
}

static int topic(void)
{
    return vic_client_topic(client, "b", body, 10, NULL, 0);
}

static int receive(void)
{
    return vic_client_recv(client, &d, VIC_FOREVER);
}

static vic_team_t *team;

static int open_team_there(void)
{
    return vic_team_open(card, NULL, 0, &team, VIC_FOREVER);
}

static int fd;

static int event_fd(void)
{
    return vic_event_fd(card, 1, 0, &fd);
}

/* The descriptors of this process are used up: said, and that is all. */
static void no_descriptor(void)
{
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){0, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    IS(event_fd(), VIC_ESYS);
    CHECK(strncmp(vic_error_detail(), "no descriptor: ", 15) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    OK(event_fd());
}

/* How often it failed for want of memory before it did not. */
static int until_it_works(int (*call)(void))
{
    for (int n = 1;; n++) {
        fails_in = n;
        int status = call();
        bool failed = fails_in == 0;
        fails_in = 0;
        if (status == VIC_OK) { /* the last may have been one that it can do without */
            return n - 1;
        }
        CHECK(failed && (status == VIC_ESYS || status == VIC_ETIMEDOUT));
    }
}

void run(const struct self *self)
{
    card = self->card;
    CHECK(until_it_works(open_messages_there) >= 3);
    until_it_works(send_to_itself); /* it asks again */
    for (fails_in = 1; receive_it() != VIC_OK; fails_in = 1) { /* into the buffer that is there, or with memory */
        fails_in = 0;
    }
    fails_in = 0;
    vic_message_close(messages);
    CHECK(until_it_works(open_client_there) >= 4);
    CHECK(until_it_works(bind_there) >= 1);
    CHECK(until_it_works(subscribe) >= 1);
    CHECK(until_it_works(publish) >= 1);
    CHECK(until_it_works(topic) >= 1);
    uint64_t published = 0;
    while (published == 0) {
        int failures = until_it_works(receive);
        CHECK(failures >= 0);
        published += d.kind == VIC_PUBLISH;
        CHECK(d.kind != VIC_PUBLISH || d.bytes == sizeof body / 2);
        OK(vic_client_ack(client, &d, 1));
    }
    vic_client_close(client);
    for (int times = 0; times < 2; times++) { /* for the second nothing is new on this card */
        uint64_t sum = 5;
        CHECK(until_it_works(open_team_there) >= 5);
        OK(vic_allreduce(team, VIC_SUM, &sum, &sum, 1, VIC_FOREVER));
        CHECK(sum == 5);
        OK(vic_team_close(team));
    }
    CHECK(until_it_works(event_fd) >= 1);
    no_descriptor();
}
