/* Publishes the same memory again and again through the bridge on card 1, as bridge_bare.c does without one.
 * Prints messages per second, from the first publish to the last confirm.
 *
 *     bridge_card KEY BYTES MESSAGES
 */
#include <stdio.h>
#include <stdlib.h>

#include "vic_client.h"

int main(int argc, char **argv)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_client_config window = {.window_messages = 512}; /* twice that of the bridge */
    if (argc != 4 || vic_open(&card) != VIC_OK || vic_client_open(card, NULL, &window, &client) != VIC_OK) {
        return 1;
    }
    size_t bytes = (size_t)atol(argv[2]);
    long messages = atol(argv[3]);
    char *memory = calloc(1, bytes + 1);
    /* the bridge is there and connected when it has confirmed one */
    int status = vic_client_publish(client, 1, argv[1], memory, bytes, VIC_FOREVER);
    status = status == VIC_OK ? vic_client_flush(client, VIC_FOREVER) : status;
    uint64_t start = vic_time_ns(card);
    for (long i = 0; i < messages && status == VIC_OK; i++) {
        status = vic_client_publish(client, 1, argv[1], memory, bytes, VIC_FOREVER);
    }
    status = status == VIC_OK ? vic_client_flush(client, VIC_FOREVER) : status;
    if (status != VIC_OK) {
        fprintf(stderr, "bridge_card: %s\n", vic_strerror(status));
        return 1;
    }
    printf("%.6g\n", (double)messages / (double)(vic_time_ns(card) - start) * 1e9);
    free(memory);
    return vic_client_close(client) == VIC_OK && vic_close(card) == VIC_OK ? 0 : 1;
}
