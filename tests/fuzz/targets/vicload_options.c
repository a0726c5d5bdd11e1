/* The command line of vicload: is every one taken with values that it can work with, or refused with a reason? The input:
 * arguments, one a line. */
#include "../fuzz.h"
#include "load.h"

#include <getopt.h>

enum { ARGUMENTS = 40 };

static void look(const struct load *load)
{
    CHECK(load->bridge <= UINT16_MAX && load->key != NULL && strlen(load->key) <= VIC_KEY_MOST);
    CHECK(load->messages <= UINT64_C(1) << 48 && load->bytes <= 1 << 30 && load->window <= 1 << 24);
    CHECK(load->credit >= 1 && load->credit <= 1 << 24);
    CHECK(load->rate == 0 || (load->rate >= 1e-3 && load->rate <= 1e9));
    CHECK(load->timeout_ns == VIC_FOREVER || load->timeout_ns <= UINT64_C(1000000000000000000));
    CHECK(load->publishes || (load->rate == 0 && load->window == 0 && !load->at_most_once && !load->persistent));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1), *argument[ARGUMENTS + 1] = {"vicload"};
    struct load load;
    int count = 1;
    CHECK(text != NULL);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    optind = 0; /* getopt begins anew, whatever it was in the middle of */
    getopt(1, argument, "");
    for (char *line = text; count < ARGUMENTS && *line != 0;) {
        char *end = line + strcspn(line, "\n"), *next = end + (*end != 0);
        *end = 0;
        argument[count++] = line;
        line = next;
    }
    quiet(true);
    int code = load_options(count, argument, &load);
    quiet(false);
    CHECK(code == -1 || code == 0 || code == 2);
    if (code == -1) {
        look(&load);
    }
    free(text);
    return 0;
}
