/* vicload publish. */
#include <stdio.h>
#include <stdlib.h>

#include "deadline.h"
#include "engine/random.h"
#include "load.h"

/* The stream of a message begins where that of its seed is after i draws of a word each. */
static void fill(unsigned char *body, size_t bytes, uint64_t seed, uint64_t i)
{
    uint64_t state = dvsim_draw(seed, i + 1), word = i;
    for (size_t at = 0; at < bytes; at += 8) {
        for (size_t k = at; k < bytes && k < at + 8; k++) {
            body[k] = (unsigned char)(word >> 8 * (k - at));
        }
        word = dvsim_next(&state);
    }
}

/* Messages are due at a rate, whatever the earlier ones needed. */
static int wait_for_turn(vic_t *card, vic_client_t *client, const struct load *load, uint64_t start_ns)
{
    uint64_t due = load->rate > 0 ? (uint64_t)((double)load->done / load->rate * 1e9) : 0;
    int status = VIC_OK;
    for (uint64_t past; status == VIC_OK && (past = vic_time_ns(card) - start_ns) < due;) {
        struct vic_delivery none;
        status = vic_client_recv(client, &none, due - past); /* makes progress meanwhile */
        if (status == VIC_OK) {
            vic_client_ack(client, &none, 1);
        } else if (status == VIC_ETIMEDOUT) {
            status = VIC_OK;
        }
    }
    return status;
}

static int publish_each(vic_t *card, vic_client_t *client, struct load *load, unsigned char *body)
{
    uint64_t start_ns = vic_time_ns(card);
    uint64_t deadline_ns = deadline_after(card, load->timeout_ns);
    size_t bytes = (size_t)load->bytes;
    int status = VIC_OK;
    while (load->done < load->messages && status == VIC_OK) {
        fill(body, bytes, load->seed, load->done);
        status = wait_for_turn(card, client, load, start_ns);
        if (status == VIC_OK) {
            uint64_t left = deadline_left(card, deadline_ns);
            status = vic_client_publish(client, load->bridge, load->key, body, bytes, left);
        }
        if (status == VIC_OK) {
            digest_add(&load->digest, body, bytes);
            load->done++;
            load->done_bytes += bytes;
        }
    }
    if (status == VIC_OK) {
        status = vic_client_flush(client, deadline_left(card, deadline_ns));
    }
    load->wall_ns = vic_time_ns(card) - start_ns;
    return status;
}

int publish_all(vic_t *card, struct load *load)
{
    struct vic_client_config config = {.window_messages = (size_t)load->window};
    config.flags |= load->at_most_once ? VIC_CLIENT_AT_MOST_ONCE : 0;
    config.flags |= load->persistent ? VIC_CLIENT_PERSISTENT : 0;
    vic_client_t *client;
    int status = vic_client_open(card, NULL, &config, &client);
    if (status != VIC_OK) {
        return load_failed("vic_client_open", status);
    }
    unsigned char *body = malloc(load->bytes > 0 ? (size_t)load->bytes : 1);
    status = body != NULL ? publish_each(card, client, load, body) : VIC_ESYS;
    free(body);
    vic_client_counts(client, &load->count);
    vic_client_close(client);
    if (status != VIC_OK) {
        fprintf(stderr, "vicload: %llu of %llu messages published, %llu not confirmed: %s\n",
                (unsigned long long)load->done, (unsigned long long)load->messages,
                (unsigned long long)load->count.unconfirmed, vic_strerror(status));
        return 1;
    }
    if (load->count.returned + load->count.refused > 0) {
        fprintf(stderr, "vicload: of %llu messages %llu returned, as no queue is bound to '%s', %llu refused\n",
                (unsigned long long)load->done, (unsigned long long)load->count.returned, load->key,
                (unsigned long long)load->count.refused);
        return 3;
    }
    return 0;
}
