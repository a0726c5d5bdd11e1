/* vicload consume. */
#include <stdio.h>

#include "deadline.h"
#include "load.h"

static int take(vic_client_t *client, struct load *load, struct seen *seen, struct vic_delivery *d)
{
    bool again = false;
    if (d->session != 0 && !seen_add(seen, d->session, d->id, &again)) {
        return VIC_ESYS;
    }
    if (again) {
        load->duplicates++;
    } else {
        digest_add(&load->digest, d->body, d->bytes);
        load->done++;
        load->done_bytes += d->bytes;
    }
    return vic_client_ack(client, d, 0);
}

static int consume_each(vic_t *card, vic_client_t *client, struct load *load, struct seen *seen)
{
    uint64_t first_ns = vic_time_ns(card), deadline_ns = deadline_after(card, load->timeout_ns);
    int status = vic_client_subscribe(client, load->bridge, load->key, load->credit, NULL);
    while (status == VIC_OK && load->done < load->messages) {
        struct vic_delivery d;
        status = vic_client_recv(client, &d, deadline_left(card, deadline_ns));
        if (status != VIC_OK) {
            break;
        }
        first_ns = load->done == 0 ? vic_time_ns(card) : first_ns;
        if (d.kind == VIC_REFUSAL) {
            fprintf(stderr, "vicload: queue '%s': %.*s\n", load->key, (int)d.bytes, (const char *)d.body);
            vic_client_release(client, &d);
            return VIC_ERANGE;
        }
        status = take(client, load, seen, &d);
    }
    load->wall_ns = vic_time_ns(card) - first_ns;
    return status;
}

int consume_all(vic_t *card, struct load *load)
{
    vic_client_t *client;
    int status = vic_client_open(card, NULL, NULL, &client);
    if (status != VIC_OK) {
        return load_failed("vic_client_open", status);
    }
    struct seen *seen = seen_new();
    status = seen != NULL ? consume_each(card, client, load, seen) : VIC_ESYS;
    seen_free(seen);
    vic_client_counts(client, &load->count);
    vic_client_close(client);
    if (status != VIC_OK) {
        fprintf(stderr, "vicload: %llu of %llu messages taken: %s\n", (unsigned long long)load->done,
                (unsigned long long)load->messages, vic_strerror(status));
        return 1;
    }
    return 0;
}
