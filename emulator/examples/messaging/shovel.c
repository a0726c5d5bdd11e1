/* From a queue of one broker to the exchange of another, over cards: a bridge on either side, this between.
 *
 *     shovel FROM QUEUE TO [MESSAGES]
 *
 * takes from QUEUE through the bridge on card FROM, publishes with the same key through the bridge on card TO,
 * and acknowledges a message when the second broker has confirmed it. Ends after so many messages [never].
 *
 * At least once. Either bridge may be killed: the second one gets again what was not confirmed, with the same
 * message id, so that consumers drop it; what the first one delivers again is known here by its id, and goes on
 * once. Behind the shovel messages have ids of the shovel: if that is killed, its last batch may be there
 * twice, with two ids. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <vic_client.h>

enum { BATCH = 128, KNOWN = 4096 /* more than the bridge's --prefetch: so many may be delivered again */ };
enum { SAID = 1 }; /* a status beside those of vic.h: it failed, and was said why */

static struct {
    uint64_t session, id;
} known[KNOWN]; /* what was published last */
static uint64_t published;
static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = number;
}

static int failed(const char *what, const char *why)
{
    fprintf(stderr, "shovel: %s: %s\n", what, why);
    return 1;
}

static bool is_known(const struct vic_delivery *d)
{
    for (unsigned i = 0; i < KNOWN && d->session != 0; i++) {
        if (known[i].session == d->session && known[i].id == d->id) {
            return true;
        }
    }
    return false;
}

static int publish(vic_client_t *client, uint32_t bridge, const struct vic_delivery *d)
{
    known[published % KNOWN].session = d->session;
    known[published % KNOWN].id = d->id;
    published++;
    return vic_client_publish(client, bridge, d->key, d->body, d->bytes, VIC_FOREVER);
}

/* What is there, up to a batch; waits a little for the first. */
static int take(vic_client_t *client, struct vic_delivery *batch, unsigned *count)
{
    int status = VIC_OK;
    for (*count = 0; *count < BATCH && status == VIC_OK; *count += status == VIC_OK) {
        status = vic_client_recv(client, &batch[*count], *count == 0 ? 100000000 : 0);
        if (status == VIC_OK && batch[*count].kind == VIC_REFUSAL) {
            fprintf(stderr, "shovel: %.*s\n", (int)batch[*count].bytes, (const char *)batch[*count].body);
            vic_client_release(client, &batch[*count]);
            return SAID;
        }
    }
    return status == VIC_ETIMEDOUT || (status != SAID && *count != 0) ? VIC_OK : status;
}

/* Over there, then forgotten here. */
static int hand_over(vic_client_t *client, uint32_t to, struct vic_delivery *batch, unsigned count)
{
    struct vic_client_count counts;
    int status = VIC_OK;
    for (unsigned i = 0; i < count && status == VIC_OK; i++) {
        status = is_known(&batch[i]) ? VIC_OK : publish(client, to, &batch[i]);
    }
    status = status == VIC_OK ? vic_client_flush(client, VIC_FOREVER) : status;
    status = status == VIC_OK ? vic_client_counts(client, &counts) : status;
    if (status == VIC_OK && counts.returned + counts.refused != 0) {
        failed("the second broker", "no queue for a message, or refused; its batch stays with the first");
        status = SAID;
    }
    int reject = status != VIC_OK;
    for (unsigned i = 0; i < count; i++) {
        int acked = vic_client_ack(client, &batch[i], reject);
        status = status == VIC_OK ? acked : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_delivery batch[BATCH];
    struct vic_client_config config = {.flags = VIC_CLIENT_PERSISTENT};
    if (argc < 4 || argc > 5) {
        return failed("usage", "shovel FROM QUEUE TO [MESSAGES]") + 1;
    }
    uint32_t from = (uint32_t)atoi(argv[1]), to = (uint32_t)atoi(argv[3]);
    uint64_t most = argc == 5 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
    signal(SIGTERM, stop);
    int status = vic_open(&card);
    status = status == VIC_OK ? vic_client_open(card, NULL, &config, &client) : status;
    if (status != VIC_OK) {
        return failed("cannot begin", vic_strerror(status));
    }
    status = vic_client_subscribe(client, from, argv[2], 2 * BATCH, NULL);
    while (status == VIC_OK && published < most && !stopped) {
        unsigned count;
        status = take(client, batch, &count);
        status = status == VIC_OK ? hand_over(client, to, batch, count) : status;
    }
    if (status != VIC_OK && status != SAID) {
        failed("ended", vic_strerror(status));
    }
    printf("shovel: %llu messages\n", (unsigned long long)published);
    vic_client_close(client);
    vic_close(card);
    return status != VIC_OK;
}
