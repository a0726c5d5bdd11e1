/* A program from outside: it knows what is installed, and nothing else. C11 and C++17. */
#include <stdio.h>
#include <string.h>
#include <vic.h>

#define GOOD(call)                                                                                          \
    do {                                                                                                    \
        int status = (call);                                                                                \
        if (status != VIC_OK) {                                                                             \
            fprintf(stderr, "%s: %s\n", #call, vic_strerror(status));                                       \
            return 1;                                                                                       \
        }                                                                                                   \
    } while (0)

int main(void)
{
    vic_t *card;
    struct vic_attr attr;
    uint64_t word = 0, sum;
    GOOD(vic_open(&card));
    GOOD(vic_query_attr(card, &attr));
    GOOD(vic_counter_set(card, 0, attr.cards));
    GOOD(vic_barrier(card, VIC_FOREVER));
    for (uint32_t to = 0; to < attr.cards; to++) {
        uint64_t header = vic_header(to, VIC_WRITE, attr.card, 0);
        word = attr.card + 1;
        GOOD(vic_send(card, &header, &word, 1));
    }
    GOOD(vic_counter_wait(card, 0, VIC_FOREVER));
    sum = 0;
    for (vic_addr_t from = 0; from < attr.cards; from++) {
        GOOD(vic_read(card, from, &word, 1));
        sum += word;
    }
    printf("card %u of %u: %llu\n", (unsigned)attr.card, (unsigned)attr.cards, (unsigned long long)sum);
    GOOD(vic_close(card));
    return strcmp(vic_version(), VIC_VERSION) != 0;
}
