/* A program that uses most of what libvic takes from the system, and says of each call that fails which it was
 * and why. What it prints follows from the number of cards alone.
 *
 *     talk cards      SRAM, counters, DMA, packets that are held back, barrier
 *     talk messages   each card sends to all by a thread of its own and receives
 *     talk client     card 0 is a bridge; the others publish to it, and to each other by topic
 *     talk bridge     card 0 publishes to a bridge on card 1, and takes two messages of a queue
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vic_client.h"

enum { WORDS = 48, EACH = 3, BYTES = 900, WINDOW = 512 };

#define MUST(call)                                                                                                \
    do {                                                                                                          \
        int status_ = (call);                                                                                     \
        if (status_ != VIC_OK) {                                                                                  \
            fprintf(stderr, "talk: %s: %s\n", #call, vic_strerror(status_));                                      \
            exit(1);                                                                                              \
        }                                                                                                         \
    } while (0)

static vic_t *card;
static struct vic_attr attr;
static vic_message_t *messages;

static void *memory(size_t bytes)
{
    void *got = malloc(bytes);
    if (got == NULL) {
        fputs("talk: no memory\n", stderr);
        exit(1);
    }
    return got;
}

static void talk_of_cards(void)
{
    vic_addr_t addr, headers;
    unsigned counter, to = (attr.card + 1) % attr.cards;
    uint64_t *words = memory(WORDS * sizeof *words), header[WORDS], sum = 0;
    MUST(vic_alloc(card, WORDS, &addr));
    MUST(vic_alloc(card, WORDS, &headers));
    MUST(vic_counter_alloc(card, &counter));
    MUST(vic_counter_set(card, counter, 2 * WORDS));
    MUST(vic_barrier(card, VIC_FOREVER));
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = 1000 * attr.card + i;
        header[i] = vic_header(to, VIC_WRITE, addr + i, counter);
    }
    vic_dma_t *dma;
    MUST(vic_put(card, to, addr, words, WORDS, counter));
    MUST(vic_write(card, headers, header, WORDS));
    MUST(vic_dma_send(card, headers, words, WORDS, &dma));
    MUST(vic_dma_wait(card, &dma, VIC_FOREVER));
    MUST(vic_counter_wait(card, counter, VIC_FOREVER));
    MUST(vic_dma_read(card, words, addr, WORDS, &dma));
    MUST(vic_dma_wait(card, &dma, VIC_FOREVER));
    for (uint32_t i = 0; i < WORDS; i++) {
        sum += words[i];
    }
    free(words);
    MUST(vic_free(card, addr));
    MUST(vic_counter_free(card, counter));
    printf("card %u: sum %lu\n", attr.card, (unsigned long)sum);
}

static void *send_all(void *nothing)
{
    unsigned char *data = memory(BYTES);
    memset(data, (int)attr.card, BYTES);
    for (uint32_t i = 0; i < EACH * attr.cards; i++) {
        MUST(vic_message_send(messages, i % attr.cards, data, BYTES >> i % 4, VIC_FOREVER));
    }
    MUST(vic_message_flush(messages, VIC_FOREVER));
    free(data);
    return nothing;
}

static void talk_by_messages(void)
{
    const struct vic_message_config small = {BYTES, WINDOW, 0};
    unsigned char *data = memory(BYTES);
    pthread_t sender;
    size_t bytes, all = 0;
    MUST(vic_message_open(card, &small, &messages));
    if (pthread_create(&sender, NULL, send_all, NULL) != 0) {
        fputs("talk: no thread\n", stderr);
        exit(1);
    }
    for (uint32_t i = 0; i < EACH * attr.cards; i++) {
        uint32_t src;
        MUST(vic_message_recv(messages, &src, data, BYTES, &bytes, VIC_FOREVER));
        all += bytes + data[bytes - 1];
    }
    pthread_join(sender, NULL);
    free(data);
    MUST(vic_barrier(card, VIC_FOREVER));
    MUST(vic_message_close(messages));
    printf("card %u: received %zu\n", attr.card, all);
}

/* What card 0 gets: everything that was published; the others their topics. */
static void take(vic_client_t *client, uint32_t left)
{
    struct vic_delivery d;
    uint64_t sum = 0;
    for (; left > 0; left--) {
        MUST(vic_client_recv(client, &d, VIC_FOREVER));
        sum += d.bytes + d.key_bytes + d.src;
        MUST(vic_client_ack(client, &d, 0));
    }
    printf("card %u: sum %lu\n", attr.card, (unsigned long)sum);
}

static void talk_as_client(void)
{
    const struct vic_message_config small = {4 * BYTES, 2 * WINDOW, 0};
    const struct vic_client_config config = {4, 4 * BYTES, attr.card == 0 ? VIC_CLIENT_BRIDGE : 0};
    unsigned char *data = memory(BYTES);
    vic_client_t *client;
    MUST(vic_client_open(card, &small, &config, &client));
    memset(data, 1, BYTES);
    if (attr.card == 0) {
        take(client, EACH * (attr.cards - 1));
    } else {
        MUST(vic_client_bind(client, "news.#"));
        for (uint32_t i = 0; i < EACH; i++) {
            MUST(vic_client_publish(client, 0, "some.key", data, BYTES >> i, VIC_FOREVER));
        }
        MUST(vic_client_flush(client, VIC_FOREVER));
        for (uint32_t cards = 0; cards < attr.cards - 1;) { /* until all are known to be there */
            struct vic_delivery d;
            MUST(vic_client_topic(client, "news.hello", NULL, 0, &cards, VIC_FOREVER));
            int status;
            while ((status = vic_client_recv(client, &d, 100 * 1000)) == VIC_OK) {
                MUST(vic_client_release(client, &d));
            }
            MUST(status == VIC_ETIMEDOUT ? VIC_OK : status);
        }
    }
    free(data);
    MUST(vic_barrier(card, VIC_FOREVER));
    MUST(vic_client_close(client));
}

static void send_envelope(const struct vic_envelope *e)
{
    unsigned char *room = memory(e->bytes + VIC_ENVELOPE_MOST + VIC_KEY_MOST);
    size_t bytes;
    MUST(vic_envelope_pack(room, e->bytes + VIC_ENVELOPE_MOST + VIC_KEY_MOST, e, &bytes));
    MUST(vic_message_send(messages, 1, room, bytes, VIC_FOREVER));
    free(room);
}

/* Prints an id, and notes it in a set of small ones. */
static void say(const char *what, uint64_t session, uint64_t id, unsigned *set)
{
    unsigned bit = 1u << id % 32;
    if ((*set & bit) == 0) { /* the broker gives again what was not acknowledged when a connection broke */
        printf("%s " VIC_MESSAGE_ID "\n", what, (unsigned long long)session, (unsigned long long)id);
    }
    *set |= bit;
}

/* Every id that is confirmed is printed, so that it can be held against what the broker has received. */
static void talk_to_a_bridge(void)
{
    enum { MOST = 40000, RING = 4096, ALL_CONFIRMED = 2 | 4 | 8, ALL_DELIVERED = 2 | 4 };
    const struct vic_message_config config = {MOST, RING, 0};
    static const size_t size[EACH] = {0, 300, MOST / 2};
    unsigned char *data = memory(MOST), credit[8];
    unsigned answered = 0, delivered = 0;
    MUST(vic_message_open(card, &config, &messages));
    memset(data, 'x', MOST);
    vic_envelope_put_word(credit, 2);
    send_envelope(&(struct vic_envelope){
        .kind = VIC_SUBSCRIBE, .session = 1, .id = 1, .key = "q", .key_bytes = 1, .body = credit, .bytes = 8});
    for (uint64_t i = 0; i < EACH; i++) {
        send_envelope(&(struct vic_envelope){.kind = VIC_PUBLISH, .flags = VIC_CONFIRM_WANTED, .session = 1,
                                             .id = i + 1, .key = "k", .key_bytes = 1, .body = data,
                                             .bytes = size[i]});
    }
    while (answered != ALL_CONFIRMED || delivered != ALL_DELIVERED) {
        struct vic_envelope e;
        size_t bytes;
        MUST(vic_message_recv(messages, NULL, data, MOST, &bytes, VIC_FOREVER));
        MUST(vic_envelope_unpack(data, bytes, &e));
        for (size_t i = 0; e.kind == VIC_CONFIRM && i < vic_envelope_ids(&e); i++) {
            say(e.flags == 0 ? "confirmed" : "refused", e.session, vic_envelope_id(&e, i), &answered);
        }
        if (e.kind == VIC_DELIVER) {
            say("delivered", e.origin_session, e.origin_id, &delivered);
            send_envelope(&(struct vic_envelope){.kind = VIC_ACK, .session = e.session, .id = e.id});
        } else if (e.kind == VIC_REFUSAL) {
            fprintf(stderr, "talk: no queue: %.*s\n", (int)e.bytes, (const char *)e.body);
            exit(1);
        }
    }
    free(data);
    MUST(vic_message_close(messages));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (vic_open(&card) != VIC_OK) {
        fprintf(stderr, "talk: vic_open: %s\n", vic_open_reason());
        return 1;
    }
    MUST(vic_query_attr(card, &attr));
    if (strcmp(what, "messages") == 0) {
        talk_by_messages();
    } else if (strcmp(what, "client") == 0) {
        talk_as_client();
    } else if (strcmp(what, "bridge") == 0) {
        talk_to_a_bridge();
    } else {
        talk_of_cards();
    }
    MUST(vic_close(card));
    return 0;
}
