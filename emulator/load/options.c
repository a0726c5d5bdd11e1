/* The command line of vicload. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "load.h"
#include "numbers.h"

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
    "  --report FILE      write what was done, as JSON: messages, bytes, digest (the sum modulo 2^128 of the\n"
    "                     MD5 of every message), duplicates, wall_ns, session, and what became of them\n"
    "  --version, --help\n"
    "\n"
    "Exit codes: 0 all done; 1 it failed, or gave up; 2 usage; 3 messages were returned or refused.\n";

enum {
    BRIDGE,
    KEY,
    MESSAGES,
    BYTES,
    SEED,
    WINDOW,
    RATE,
    AT_MOST_ONCE,
    PERSISTENT,
    QUEUE,
    CREDIT,
    TIMEOUT,
    REPORT,
    VERSION,
    HELP,
    KNOWN
};

static const struct option known[KNOWN + 1] = {
    [BRIDGE] = {"bridge", required_argument, NULL, BRIDGE},
    [KEY] = {"key", required_argument, NULL, KEY},
    [MESSAGES] = {"messages", required_argument, NULL, MESSAGES},
    [BYTES] = {"bytes", required_argument, NULL, BYTES},
    [SEED] = {"seed", required_argument, NULL, SEED},
    [WINDOW] = {"window", required_argument, NULL, WINDOW},
    [RATE] = {"rate", required_argument, NULL, RATE},
    [AT_MOST_ONCE] = {"at-most-once", no_argument, NULL, AT_MOST_ONCE},
    [PERSISTENT] = {"persistent", no_argument, NULL, PERSISTENT},
    [QUEUE] = {"queue", required_argument, NULL, QUEUE},
    [CREDIT] = {"credit", required_argument, NULL, CREDIT},
    [TIMEOUT] = {"timeout", required_argument, NULL, TIMEOUT},
    [REPORT] = {"report", required_argument, NULL, REPORT},
    [VERSION] = {"version", no_argument, NULL, VERSION},
    [HELP] = {"help", no_argument, NULL, HELP},
};

static bool is_of(int option, bool publishes)
{
    switch (option) {
    case KEY:
    case BYTES:
    case WINDOW:
    case RATE:
    case AT_MOST_ONCE:
    case PERSISTENT:
    case SEED: return publishes;
    case QUEUE:
    case CREDIT: return !publishes;
    default: return true;
    }
}

static int unknown(const char *text)
{
    char dashed[KNOWN][24];
    const char *names[KNOWN];
    for (int i = 0; i < KNOWN; i++) {
        snprintf(dashed[i], sizeof dashed[i], "--%s", known[i].name);
        names[i] = dashed[i];
    }
    fprintf(stderr, "vicload: no such option '%s'%s\n", text, did_you_mean(text, names, KNOWN));
    return 2;
}

static int wrong(int option, const char *text, const char *what)
{
    fprintf(stderr, "vicload: --%s: '%s' is not %s\n", known[option].name, text, what);
    return 2;
}

static int number(int option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char what[80];
    if (read_whole(text, least, most, value)) {
        return -1;
    }
    snprintf(what, sizeof what, "a whole number %llu .. %llu", (unsigned long long)least,
             (unsigned long long)most);
    return wrong(option, text, what);
}

static int read_one(int option, const char *text, struct load *load)
{
    uint64_t value = 0;
    int code = -1;
    switch (option) {
    case BRIDGE:
        code = number(option, text, 0, UINT16_MAX, &value);
        load->bridge = (uint32_t)value;
        return code;
    case KEY:
    case QUEUE:
        load->key = text;
        return strlen(text) <= VIC_KEY_MOST ? -1 : wrong(option, text, "at most 255 bytes long");
    case MESSAGES: return number(option, text, 0, UINT64_C(1) << 48, &load->messages);
    case BYTES: return number(option, text, 0, 1 << 30, &load->bytes);
    case SEED: return number(option, text, 0, UINT64_MAX, &load->seed);
    case WINDOW: return number(option, text, 1, 1 << 24, &load->window);
    case CREDIT: return number(option, text, 1, 1 << 24, &load->credit);
    case RATE:
        return read_real(text, 1e-3, 1e9, &load->rate) ? -1 : wrong(option, text, "a number 0.001 .. 1e9");
    case TIMEOUT:
        return read_time_ns(text, &load->timeout_ns) ? -1 : wrong(option, text, "a time, such as 30s");
    case AT_MOST_ONCE: load->at_most_once = true; return -1;
    case PERSISTENT: load->persistent = true; return -1;
    case REPORT: load->report = text; return -1;
    case VERSION: puts("vicload " VIC_VERSION); return 0;
    default: fputs(usage, stdout); return 0;
    }
}

static int check(int argc, char **argv, const struct load *load)
{
    static const int needed[] = {BRIDGE, KEY, QUEUE, MESSAGES, BYTES};
    if (optind < argc) {
        fprintf(stderr, "vicload: '%s' is one argument too many; see vicload --help\n", argv[optind]);
        return 2;
    }
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (is_of(needed[i], load->publishes) && !load->given[needed[i]]) {
            fprintf(stderr, "vicload %s: --%s is needed\n", argv[1], known[needed[i]].name);
            return 2;
        }
    }
    return -1;
}

int load_options(int argc, char **argv, struct load *load)
{
    static const char *const verbs[] = {"publish", "consume", "--help", "--version"};
    const char *verb = argc > 1 ? argv[1] : "";
    *load = (struct load){.seed = 1, .credit = 256, .timeout_ns = VIC_FOREVER};
    load->publishes = strcmp(verb, "publish") == 0;
    if (!load->publishes && strcmp(verb, "consume") != 0) {
        for (unsigned i = 2; i < 4; i++) {
            if (strcmp(verb, verbs[i]) == 0) {
                return read_one(i == 2 ? HELP : VERSION, NULL, load);
            }
        }
        fprintf(stderr, "vicload: '%s' is not publish or consume%s\n", verb, did_you_mean(verb, verbs, 4));
        return 2;
    }
    opterr = 0;
    optind = 2;
    for (;;) {
        int before = optind, option = getopt_long(argc, argv, "+:", known, NULL);
        if (option == -1) {
            break;
        }
        if (option == '?') {
            return unknown(argv[before]);
        }
        if (option == ':') {
            fprintf(stderr, "vicload: %s: an argument is needed\n", argv[before]);
            return 2;
        }
        if (!is_of(option, load->publishes)) {
            fprintf(stderr, "vicload: --%s is not for %s\n", known[option].name, verb);
            return 2;
        }
        load->given[option] = true;
        int code = read_one(option, optarg, load);
        if (code >= 0) {
            return code;
        }
    }
    return check(argc, argv, load);
}
