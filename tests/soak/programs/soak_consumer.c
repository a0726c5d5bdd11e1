/* Takes messages from a queue until it is asked to stop; writes each into a journal, then acknowledges it:
 *
 *     soak_consumer NUMBER JOURNAL BRIDGE QUEUE CREDIT
 *
 *     O life consumer bridge ns                opened; life is its session
 *     D life session number redelivered good publisher ns
 *                                              session and number as the AMQP message id has them; good: the body says
 *                                              the same, and its checksum is right
 *     X life ns                                refused; it subscribes again
 *     E life ns                                left in order */
#include "soak.h"

enum { BATCH = 64 };

static bool is_good(const struct vic_delivery *d, struct head *head)
{
    uint32_t crc;
    if (d->bytes < LEAST_BYTES) {
        return false;
    }
    memcpy(head, d->body, sizeof *head);
    memcpy(&crc, (const char *)d->body + d->bytes - 4, 4);
    return head->session == d->session && head->number == d->id && head->bytes == d->bytes &&
           crc == crc32_of(d->body, d->bytes - 4);
}

static void note(struct journal *journal, uint64_t life, const struct vic_delivery *d)
{
    struct head head = {0};
    bool good = is_good(d, &head);
    say(journal, "D %016llx %016llx %llu %d %d %llu %llu .\n", (unsigned long long)life, (unsigned long long)d->session,
        (unsigned long long)d->id, (d->flags & VIC_REDELIVERED) != 0, good, (unsigned long long)head.publisher,
        (unsigned long long)now_ns());
}

/* What is there, up to a batch. */
static int take(vic_client_t *client, struct journal *journal, uint64_t life, bool *refused)
{
    struct vic_delivery batch[BATCH];
    unsigned count = 0;
    int status = VIC_OK;
    while (count < BATCH && status == VIC_OK && !*refused) {
        status = vic_client_recv(client, &batch[count], count == 0 ? 100000000 : 0);
        if (status == VIC_OK && batch[count].kind == VIC_REFUSAL) {
            say(journal, "X %016llx %llu .\n", (unsigned long long)life, (unsigned long long)now_ns());
            fprintf(stderr, "soak: refused: %.*s\n", (int)batch[count].bytes, (const char *)batch[count].body);
            *refused = true;
            vic_client_release(client, &batch[count]);
        } else if (status == VIC_OK) {
            note(journal, life, &batch[count++]);
        }
    }
    keep(journal);
    status = status == VIC_ETIMEDOUT ? VIC_OK : status;
    for (unsigned i = 0; i < count; i++) {
        int acked = vic_client_ack(client, &batch[i], 0);
        status = status == VIC_OK ? acked : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct journal journal;
    vic_t *card;
    vic_client_t *client;
    struct vic_client_count counts;
    if (argc != 6) {
        fputs("usage: soak_consumer NUMBER JOURNAL BRIDGE QUEUE CREDIT\n", stderr);
        return 2;
    }
    begin(&journal, argv[2]);
    uint32_t bridge = (uint32_t)atoi(argv[3]);
    uint64_t credit = strtoull(argv[5], NULL, 10);
    int status = vic_open(&card);
    status = status == VIC_OK ? vic_client_open(card, NULL, NULL, &client) : status;
    if (status != VIC_OK) {
        return failed("cannot begin", status);
    }
    vic_client_counts(client, &counts);
    uint64_t life = counts.session;
    say(&journal, "O %016llx %s %u %llu .\n", (unsigned long long)life, argv[1], bridge, (unsigned long long)now_ns());
    keep(&journal);
    while (status == VIC_OK && !stopped) {
        bool refused = false;
        status = vic_client_subscribe(client, bridge, argv[4], credit, NULL);
        while (status == VIC_OK && !stopped && !refused) {
            status = take(client, &journal, life, &refused);
        }
        if (refused) {
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        }
    }
    if (status != VIC_OK) {
        return failed("consumer ended", status);
    }
    say(&journal, "E %016llx %llu .\n", (unsigned long long)life, (unsigned long long)now_ns());
    keep(&journal);
    vic_client_close(client);
    vic_close(card);
    return 0;
}
