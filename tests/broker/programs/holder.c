/* Subscribes, takes what its credit allows, acknowledges nothing, and waits to be killed.
 * What else came of it is said on stderr. */
#include <stdio.h>
#include <stdlib.h>

#include "vic_client.h"

int main(int argc, char **argv)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_delivery delivery;
    uint32_t bridge = (uint32_t)atoi(argv[1]);
    int held = argc > 3 ? atoi(argv[3]) : 0;
    if (vic_open(&card) != VIC_OK || vic_client_open(card, NULL, NULL, &client) != VIC_OK ||
        vic_client_subscribe(client, bridge, argv[2], (uint64_t)held, NULL) != VIC_OK) {
        return 1;
    }
    for (int i = 0; i < held; i++) {
        int status = vic_client_recv(client, &delivery, VIC_FOREVER);
        if (status != VIC_OK || delivery.kind != VIC_DELIVER) {
            fprintf(stderr, "message %d: %s, kind %u\n", i, vic_strerror(status), delivery.kind);
            return 1;
        }
        vic_client_release(client, &delivery);
    }
    fprintf(stderr, "holding %d\n", held);
    int status = vic_client_recv(client, &delivery, VIC_FOREVER);
    fprintf(stderr, "beyond its credit: %s, kind %u\n", vic_strerror(status), delivery.kind);
    return 1;
}
