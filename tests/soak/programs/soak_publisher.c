/* Publishes batches through one bridge or another until it is asked to stop, and keeps a journal of what is confirmed:
 *
 *     soak_publisher NUMBER SEED JOURNAL BRIDGES RATE
 *
 *     B session first last bridge ns           numbers first .. last will be published
 *     R session number ns                      the broker had no queue for it, or refused it
 *     C session last ns repeated refusals      all up to last has been answered; so many were published again, or were
 *                                              returned or refused, since the session began
 *     E session ns                             left in order */
#include "soak.h"

enum { LARGEST_BATCH = 400 };

static size_t size_of(uint64_t *state)
{
    uint64_t kind = draw(state) % 100, most = kind < 70 ? 256 : kind < 98 ? 4096 : MOST_BYTES;
    return LEAST_BYTES + draw(state) % (most - LEAST_BYTES);
}

static void fill(unsigned char *body, struct head head)
{
    uint64_t state = head.session ^ head.number;
    memcpy(body, &head, sizeof head);
    for (size_t at = HEAD_BYTES; at < head.bytes; at += 8) {
        uint64_t word = draw(&state); /* the room is a multiple of 8 */
        memcpy(body + at, &word, 8);
    }
    uint32_t crc = crc32_of(body, head.bytes - 4);
    memcpy(body + head.bytes - 4, &crc, 4);
}

/* What came back; and a pause in which the client makes progress. */
static int receive(vic_client_t *client, struct journal *journal, uint64_t until_ns)
{
    struct vic_delivery d;
    int status;
    do {
        uint64_t now = now_ns(), left = until_ns > now ? until_ns - now : 0;
        status = vic_client_recv(client, &d, left < 100000000 ? left : 100000000);
        if (status == VIC_OK) {
            say(journal, "R %016llx %llu %llu .\n", (unsigned long long)d.session, (unsigned long long)d.id,
                (unsigned long long)now_ns());
            keep(journal);
            vic_client_release(client, &d);
        }
    } while (status == VIC_OK || (status == VIC_ETIMEDOUT && !stopped && now_ns() < until_ns));
    return status == VIC_ETIMEDOUT ? VIC_OK : status;
}

static int batch(vic_client_t *client, struct journal *journal, uint32_t bridge, uint64_t count, struct head *next,
                 uint64_t *state)
{
    static unsigned char body[MOST_BYTES + 8];
    char key[40];
    struct vic_client_count counts;
    uint64_t last = next->number + count - 1;
    snprintf(key, sizeof key, "soak%u.p%llu", bridge, (unsigned long long)next->publisher);
    say(journal, "B %016llx %llu %llu %u %llu .\n", (unsigned long long)next->session,
        (unsigned long long)next->number, (unsigned long long)last, bridge, (unsigned long long)now_ns());
    keep(journal);
    int status = VIC_OK;
    for (; next->number <= last && status == VIC_OK; next->number += status == VIC_OK) {
        next->bytes = size_of(state);
        fill(body, *next);
        status = vic_client_publish(client, bridge, key, body, next->bytes, VIC_FOREVER);
        if (status == VIC_ENOSPC) { /* returns fill the room */
            status = receive(client, journal, 0);
            next->number -= status == VIC_OK;
        }
    }
    status = status == VIC_OK ? vic_client_flush(client, VIC_FOREVER) : status;
    status = status == VIC_OK ? receive(client, journal, 0) : status;
    if (status == VIC_OK) {
        vic_client_counts(client, &counts);
        say(journal, "C %016llx %llu %llu %llu %llu .\n", (unsigned long long)next->session, (unsigned long long)last,
            (unsigned long long)now_ns(), (unsigned long long)counts.repeated,
            (unsigned long long)(counts.returned + counts.refused));
        keep(journal);
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct journal journal;
    vic_t *card;
    vic_client_t *client;
    struct vic_client_config config = {.flags = VIC_CLIENT_PERSISTENT | VIC_CLIENT_RETURNS};
    struct vic_client_count counts;
    if (argc != 6) {
        fputs("usage: soak_publisher NUMBER SEED JOURNAL BRIDGES RATE\n", stderr);
        return 2;
    }
    begin(&journal, argv[3]);
    uint64_t state = strtoull(argv[2], NULL, 10), bridges = strtoull(argv[4], NULL, 10);
    double ns_each = 1e9 / atof(argv[5]);
    config.window_messages = 16 + draw(&state) % 64; /* smaller than most batches, or larger */
    int status = vic_open(&card);
    status = status == VIC_OK ? vic_client_open(card, NULL, &config, &client) : status;
    if (status != VIC_OK) {
        return failed("cannot begin", status);
    }
    vic_client_counts(client, &counts);
    struct head next = {.publisher = strtoull(argv[1], NULL, 10), .session = counts.session, .number = 1};
    state ^= counts.session;
    while (status == VIC_OK && !stopped) {
        uint64_t count = 1 + draw(&state) % LARGEST_BATCH, start = now_ns();
        status = batch(client, &journal, (uint32_t)(draw(&state) % bridges), count, &next, &state);
        status = status == VIC_OK ? receive(client, &journal, start + (uint64_t)((double)count * ns_each)) : status;
    }
    if (status != VIC_OK) {
        return failed("publisher ended", status);
    }
    say(&journal, "E %016llx %llu .\n", (unsigned long long)next.session, (unsigned long long)now_ns());
    keep(&journal);
    vic_client_close(client);
    vic_close(card);
    return 0;
}
