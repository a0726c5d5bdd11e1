/* The command line of vicload. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "load.h"

static const char usage[] =
    "usage: vicload publish --bridge CARD --key KEY --messages N --bytes B [options]\n"
    "       vicload consume --bridge CARD --queue QUEUE --messages N [options]\n"
    "\n"
    "A card's program that publishes through the bridge on another card until the broker has all of it,\n"
    "or takes N different messages from a queue and acknowledges them. Message i begins with the number i,\n"
    "8 bytes, the lowest first, as far as it is that long; the rest is drawn from the seed and i.\n"
    "\n"
    "  --seed S           of the bytes of messages [1]\n"
    "  --window N         publish: messages that are not confirmed yet, at most [1024]\n"
    "  --rate R           publish: messages a second [as fast as it goes]\n"
    "  --at-most-once     publish: without confirms\n"
    "  --persistent       publish: the broker writes messages to disk\n"
    "  --credit C         consume: messages that are not acknowledged yet, at most [256]\n"
    "  --timeout TIME     give up after so long, such as 30s [never]\n"
    "  --report FILE      write what was done, as JSON: messages, bytes, digest (the sum modulo 2^64 of the\n"
    "                     CRC-32 of every message), duplicates, wall_ns, cpu_ns, session, and what became of them\n"
    "  --version, --help\n"
    "\n"
    "Exit codes: 0 all done; 1 it failed, or gave up; 2 usage; 3 messages were returned or refused.\n";

static option_read read_rate, read_timeout;

/* Which verbs an option is for, and which need it. */
enum { PUBLISH = 1, CONSUME = 2, BOTH = 3, NEEDED = 4 };

static const struct command_option known[] = {
    {"--bridge", OPTION_COUNT32, offsetof(struct load, bridge), 0, UINT16_MAX, NULL},
    {"--key", OPTION_TEXT, offsetof(struct load, key), 0, VIC_KEY_MOST, NULL},
    {"--messages", OPTION_COUNT, offsetof(struct load, messages), 0, UINT64_C(1) << 48, NULL},
    {"--bytes", OPTION_COUNT, offsetof(struct load, bytes), 0, 1 << 30, NULL},
    {"--seed", OPTION_COUNT, offsetof(struct load, seed), 0, UINT64_MAX, NULL},
    {"--window", OPTION_COUNT, offsetof(struct load, window), 1, 1 << 24, NULL},
    {"--rate", OPTION_READ, 0, 0, 0, read_rate},
    {"--at-most-once", OPTION_FLAG, offsetof(struct load, at_most_once), 0, 0, NULL},
    {"--persistent", OPTION_FLAG, offsetof(struct load, persistent), 0, 0, NULL},
    {"--queue", OPTION_TEXT, offsetof(struct load, key), 0, VIC_KEY_MOST, NULL},
    {"--credit", OPTION_COUNT, offsetof(struct load, credit), 1, 1 << 24, NULL},
    {"--timeout", OPTION_READ, 0, 0, 0, read_timeout},
    {"--report", OPTION_TEXT, offsetof(struct load, report), 0, 0, NULL},
};
enum { KNOWN = sizeof known / sizeof *known };

static const unsigned char verbs_of[KNOWN] = {
    BOTH | NEEDED, PUBLISH | NEEDED, BOTH | NEEDED, PUBLISH | NEEDED, /* up to --bytes */
    PUBLISH, PUBLISH, PUBLISH, PUBLISH, PUBLISH,                      /* up to --persistent */
    CONSUME | NEEDED, CONSUME, BOTH, BOTH,
};

static const struct command command = {"vicload", VIC_VERSION, usage, known, KNOWN};

static int read_rate(const char *name, const char *value, void *to)
{
    struct load *load = to;
    bool good = read_real(value, 1e-3, 1e9, &load->rate);
    return good ? -1 : command_refuse(&command, name, value, "is not a number 0.001 .. 1e9");
}

static int read_timeout(const char *name, const char *value, void *to)
{
    struct load *load = to;
    bool good = read_time_ns(value, &load->timeout_ns);
    return good ? -1 : command_refuse(&command, name, value, "is not a time, such as 30s");
}

static int check(const char *verb, unsigned verbs, uint64_t given)
{
    for (unsigned i = 0; i < KNOWN; i++) {
        if ((given >> i & 1) != 0 && (verbs_of[i] & verbs) == 0) {
            fprintf(stderr, "vicload: %s is not for %s\n", known[i].name, verb);
            return 2;
        }
    }
    for (unsigned i = 0; i < KNOWN; i++) {
        if ((given >> i & 1) == 0 && (verbs_of[i] & NEEDED) != 0 && (verbs_of[i] & verbs) != 0) {
            fprintf(stderr, "vicload %s: %s is needed\n", verb, known[i].name);
            return 2;
        }
    }
    return -1;
}

int load_options(int argc, char **argv, struct load *load)
{
    static const char *const verbs[] = {"publish", "consume", "--help", "--version"};
    const char *verb = argc > 1 ? argv[1] : "";
    const struct command_option *used = NULL;
    uint64_t given = 0;
    int at = 2;
    *load = (struct load){.seed = 1, .credit = 256, .timeout_ns = VIC_FOREVER};
    load->publishes = strcmp(verb, verbs[0]) == 0;
    if (strcmp(verb, verbs[2]) == 0 || strcmp(verb, verbs[3]) == 0) {
        at = 1;
        return command_read(&command, argv, &at, load, NULL);
    }
    if (!load->publishes && strcmp(verb, verbs[1]) != 0) {
        fprintf(stderr, "vicload: '%s' is not publish or consume%s\n", verb, did_you_mean(verb, verbs, 4));
        return 2;
    }
    while (argv[at] != NULL && argv[at][0] == '-') {
        int code = command_read(&command, argv, &at, load, &used);
        if (code >= 0) {
            return code;
        }
        given |= UINT64_C(1) << (used - known);
    }
    if (argv[at] != NULL) {
        fprintf(stderr, "vicload: '%s' is one argument too many; see vicload --help\n", argv[at]);
        return 2;
    }
    return check(verb, load->publishes ? PUBLISH : CONSUME, given);
}
