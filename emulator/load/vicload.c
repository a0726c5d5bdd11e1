/* vicload: messages through a bridge into a broker, or out of one. */
#include "load.h"

#include <stdio.h>

int load_failed(const char *what, int status)
{
    fprintf(stderr, "vicload: %s: %s\n", what, vic_strerror(status));
    return 1;
}

int main(int argc, char **argv)
{
    struct load load;
    int code = load_options(argc, argv, &load);
    if (code >= 0) {
        return code;
    }
    vic_t *card;
    struct vic_attr attr;
    if (vic_open(&card) != VIC_OK) {
        fprintf(stderr, "vicload: %s\n", vic_open_reason());
        return 1;
    }
    vic_query_attr(card, &attr);
    if (load.bridge >= attr.cards) {
        fprintf(stderr, "vicload: --bridge: there is no card %u, only 0 .. %u\n", load.bridge, attr.cards - 1);
        vic_close(card);
        return 2;
    }
    code = load.publishes ? publish_all(card, &load) : consume_all(card, &load);
    vic_close(card);
    return report_write(&load) ? code : 1;
}
