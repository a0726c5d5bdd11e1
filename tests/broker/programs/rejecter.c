/* Rejects each message once, and checks that it comes again, and says so. */
#include <stdio.h>
#include <stdlib.h>

#include "vic_client.h"

int main(int argc, char **argv)
{
    vic_t *card;
    vic_client_t *client;
    struct vic_delivery delivery;
    int left = argc > 3 ? atoi(argv[3]) : 0, seen[1024] = {0}, total = left;
    if (left > 1000 || vic_open(&card) != VIC_OK || vic_client_open(card, NULL, NULL, &client) != VIC_OK ||
        vic_client_subscribe(client, (uint32_t)atoi(argv[1]), argv[2], 7, NULL) != VIC_OK) {
        return 1;
    }
    while (left > 0) {
        if (vic_client_recv(client, &delivery, VIC_FOREVER) != VIC_OK || delivery.kind != VIC_DELIVER ||
            delivery.session != 1 || delivery.id > 1000) {
            return 1;
        }
        int *times = &seen[delivery.id];
        int again = (delivery.flags & VIC_REDELIVERED) != 0;
        if (*times == 1 && !again) {
            return 1;
        }
        left -= *times == 1;
        if (vic_client_ack(client, &delivery, (*times)++ == 0) != VIC_OK) {
            return 1;
        }
    }
    fprintf(stderr, "%d messages, each rejected once\n", total);
    return vic_client_close(client) == VIC_OK && vic_close(card) == VIC_OK ? 0 : 1;
}
