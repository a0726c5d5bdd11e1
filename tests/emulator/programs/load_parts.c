/* Parts of vicload on a client of which only the answers matter. The functions of libvic that are here are taken before
 * those of the library; memory is that of launcher_parts.c. */
#define _GNU_SOURCE
#include "load.h"

#include <string.h>

#include "../../model/check.h"

extern int memory_left;

static int open_status, publish_status, flush_status, recv_status, subscribe_status;
static uint64_t now_ns, tick_ns, published, acks, rejected, released, closed, last_timeout_ns;
static struct vic_client_config opened;
static struct vic_client_count counts;
static struct vic_delivery *coming; /* ends with kind 0 */

int vic_client_open_sized(size_t messages_bytes, size_t config_bytes, vic_t *card,
                          const struct vic_message_config *messages, const struct vic_client_config *config,
                          vic_client_t **client)
{
    (void)messages_bytes, (void)config_bytes, (void)card, (void)messages;
    *client = NULL;
    opened = config != NULL ? *config : (struct vic_client_config){0};
    return open_status;
}

int vic_client_publish(vic_client_t *client, uint32_t bridge, const char *key, const void *body, size_t bytes,
                       uint64_t timeout_ns)
{
    (void)client, (void)bridge, (void)key, (void)body, (void)bytes;
    published += publish_status == VIC_OK;
    last_timeout_ns = timeout_ns;
    return publish_status;
}

int vic_client_flush(vic_client_t *client, uint64_t timeout_ns)
{
    (void)client;
    last_timeout_ns = timeout_ns;
    return flush_status;
}

int vic_client_subscribe(vic_client_t *client, uint32_t bridge, const char *queue, uint64_t credit, uint32_t *number)
{
    (void)client, (void)bridge, (void)queue, (void)credit, (void)number;
    return subscribe_status;
}

int vic_client_recv(vic_client_t *client, struct vic_delivery *delivery, uint64_t timeout_ns)
{
    (void)client;
    last_timeout_ns = timeout_ns;
    if (coming != NULL && coming->kind != 0) {
        *delivery = *coming++;
        return VIC_OK;
    }
    if (recv_status == VIC_ETIMEDOUT) {
        now_ns += timeout_ns;
    }
    return recv_status;
}

int vic_client_release(vic_client_t *client, struct vic_delivery *delivery)
{
    (void)client, (void)delivery;
    released++;
    return VIC_OK;
}

int vic_client_ack(vic_client_t *client, struct vic_delivery *delivery, int reject)
{
    (void)client, (void)delivery;
    acks++;
    rejected += reject != 0;
    return VIC_OK;
}

int vic_client_counts(vic_client_t *client, struct vic_client_count *all)
{
    (void)client;
    *all = counts;
    return VIC_OK;
}

int vic_client_close(vic_client_t *client)
{
    (void)client;
    closed++;
    return VIC_OK;
}

uint64_t vic_time_ns(const vic_t *card)
{
    (void)card;
    return now_ns += tick_ns;
}

int load_failed(const char *what, int status)
{
    (void)what;
    return status != VIC_OK;
}

static void anew(void)
{
    open_status = publish_status = flush_status = recv_status = subscribe_status = VIC_OK;
    now_ns = tick_ns = published = acks = rejected = released = closed = last_timeout_ns = 0;
    memset(&counts, 0, sizeof counts);
    coming = NULL;
}

static const struct load three = {.publishes = true, .key = "k", .messages = 3, .bytes = 5, .seed = 1,
                                  .timeout_ns = VIC_FOREVER, .credit = 1};

static void publishing(void)
{
    struct load load = three;
    anew();
    load.window = 7;
    CHECK(publish_all(NULL, &load) == 0 && published == 3 && load.done_bytes == 15 && closed == 1);
    CHECK(opened.flags == 0 && opened.window_messages == 7 && last_timeout_ns == VIC_FOREVER);
    load = three;
    load.bytes = 0;
    load.at_most_once = load.persistent = true;
    CHECK(publish_all(NULL, &load) == 0 && load.done == 3 && load.done_bytes == 0);
    CHECK(opened.flags == (VIC_CLIENT_AT_MOST_ONCE | VIC_CLIENT_PERSISTENT));
    load = three;
    publish_status = VIC_EPEER;
    CHECK(publish_all(NULL, &load) == 1 && load.done == 0);
    anew();
    open_status = VIC_ENOJOB;
    CHECK(publish_all(NULL, &load) == 1 && closed == 0);
    anew();
    memory_left = 0;
    CHECK(publish_all(NULL, &load) == 1 && closed == 1 && published == 0);
    memory_left = -1;
    anew();
    counts.refused = 1;
    CHECK(publish_all(NULL, &load) == 3);
}

static void time_to_publish(void)
{
    struct load load = three;
    anew();
    tick_ns = 10;
    load.timeout_ns = 25; /* it is over when the first is sent: from then on nothing may take time */
    CHECK(publish_all(NULL, &load) == 0 && last_timeout_ns == 0);
    load = three;
    load.rate = 1000;
    anew();
    recv_status = VIC_ETIMEDOUT;
    CHECK(publish_all(NULL, &load) == 0 && load.done == 3 && load.wall_ns == 2000000); /* the third is due then */
    /* something comes meanwhile that nobody has asked for: it goes back */
    struct vic_delivery strange[] = {{.kind = VIC_DELIVER}, {.kind = 0}};
    load = three;
    load.rate = 1000;
    anew();
    recv_status = VIC_ETIMEDOUT;
    coming = strange;
    CHECK(publish_all(NULL, &load) == 0 && acks == 1 && rejected == 1);
    load = three;
    load.rate = 1000;
    anew();
    recv_status = VIC_EPEER;
    CHECK(publish_all(NULL, &load) == 1 && load.done == 1);
}

static void consuming(void)
{
    struct vic_delivery some[] = {{.kind = VIC_DELIVER, .session = 1, .id = 5, .body = "a", .bytes = 1},
                                  {.kind = VIC_DELIVER, .session = 1, .id = 5, .body = "a", .bytes = 1},
                                  {.kind = VIC_DELIVER, .body = "bb", .bytes = 2}, /* of no client: it has no name */
                                  {.kind = VIC_DELIVER, .session = 2, .id = 5, .body = "ccc", .bytes = 3},
                                  {.kind = 0}};
    struct load load = three;
    anew();
    coming = some;
    CHECK(consume_all(NULL, &load) == 0);
    CHECK(load.done == 3 && load.done_bytes == 6 && load.duplicates == 1 && acks == 4 && closed == 1);
    struct vic_delivery no[] = {{.kind = VIC_REFUSAL, .body = "no", .bytes = 2}, {.kind = 0}};
    load = three;
    anew();
    coming = no;
    CHECK(consume_all(NULL, &load) == 1 && released == 1 && load.done == 0);
    load = three;
    anew();
    recv_status = VIC_ETIMEDOUT;
    load.timeout_ns = 50;
    CHECK(consume_all(NULL, &load) == 1 && last_timeout_ns == 50 && load.done == 0);
    anew();
    tick_ns = 60;
    recv_status = VIC_ETIMEDOUT;
    load.timeout_ns = 50;
    CHECK(consume_all(NULL, &load) == 1 && last_timeout_ns == 0); /* what is there is taken all the same */
    anew();
    subscribe_status = VIC_EPEER;
    CHECK(consume_all(NULL, &load) == 1 && closed == 1);
    anew();
    open_status = VIC_ENOJOB;
    CHECK(consume_all(NULL, &load) == 1 && closed == 0);
    static struct vic_delivery many[600];
    for (uint64_t i = 0; i < 599; i++) {
        many[i] = (struct vic_delivery){.kind = VIC_DELIVER, .session = 1, .id = i + 1};
    }
    load = three;
    load.messages = 599;
    anew();
    coming = many;
    memory_left = 2; /* for so many ids, and no more */
    CHECK(consume_all(NULL, &load) == 1 && load.done == 512 && acks == 512);
    memory_left = -1;
    load = three;
    for (int left = 0; left < 2; left++) {
        anew();
        coming = some;
        memory_left = left;
        CHECK(consume_all(NULL, &load) == 1 && acks == 0 && closed == 1);
        memory_left = -1;
    }
}

/* Ids are known again, however many there are; and not taken for known when memory ends. */
static void names(void)
{
    enum { MANY = 5000 };
    struct seen *seen = seen_new();
    bool again;
    CHECK(seen != NULL);
    for (uint64_t i = 1; i <= MANY; i++) {
        CHECK(seen_add(seen, 1 + i % 3, i, &again) && !again);
        CHECK(seen_add(seen, 9, i * UINT64_C(0x100000001), &again) && !again);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        CHECK(seen_add(seen, 1 + i % 3, i, &again) && again);
        CHECK(seen_add(seen, 8, i, &again) && !again);
    }
    seen_free(seen);
    seen = seen_new();
    memory_left = 0;
    for (uint64_t i = 1; i <= 512; i++) {
        CHECK(seen_add(seen, 1, i, &again) && !again);
    }
    CHECK(!seen_add(seen, 1, 513, &again));
    memory_left = -1;
    CHECK(seen_add(seen, 1, 513, &again) && !again);
    seen_free(seen);
}

static void reports(const char *path)
{
    struct load load = three;
    CHECK(report_write(&load)); /* none was asked for */
    load.report = path;
    CHECK(report_write(&load));
    load.report = "/dev/full";
    CHECK(!report_write(&load));
    load.report = "/no/such/folder";
    CHECK(!report_write(&load));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    publishing();
    time_to_publish();
    consuming();
    names();
    reports(argv[1]);
    puts("checks passed");
    return 0;
}
