/* The command line of vicrun. */
#define _GNU_SOURCE
#include "options.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "join.h"
#include "vic.h"

enum { TRACE_BYTES = 64 << 20, TRACE_LEAST = 1 << 10, TRACE_MOST = 1 << 16 };
enum { TRACE_LINE = 480, TRACE_FEW = 16 }; /* bytes of a record in the file, at most; records of a card, at least */

enum {
    MODE = 256,
    CARD_FILE,
    SET,
    SEED,
    REORDER,
    FAULT,
    IF_KILLED,
    SERVE,
    JOIN,
    CARD,
    CHECK,
    STATS_,
    STATS_FD,
    TRACE,
    TRACE_LIMIT,
    SPREAD,
    PREFIX,
    VERSION,
    HELP
};

static const struct option known[] = {
    {"mode", required_argument, NULL, MODE},       {"card-file", required_argument, NULL, CARD_FILE},
    {"set", required_argument, NULL, SET},         {"spread", no_argument, NULL, SPREAD},
    {"seed", required_argument, NULL, SEED},       {"reorder", required_argument, NULL, REORDER},
    {"fault", required_argument, NULL, FAULT},     {"check", no_argument, NULL, CHECK},
    {"stats", no_argument, NULL, STATS_},          {"trace", required_argument, NULL, TRACE},
    {"prefix", no_argument, NULL, PREFIX},         {"if-killed", required_argument, NULL, IF_KILLED},
    {"serve", required_argument, NULL, SERVE},     {"join", required_argument, NULL, JOIN},
    {"card", required_argument, NULL, CARD},       {"stats-fd", required_argument, NULL, STATS_FD},
    {"trace-limit", required_argument, NULL, TRACE_LIMIT},
    {"version", no_argument, NULL, VERSION},       {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static int refuse(const char *option, const char *what)
{
    fprintf(stderr, "vicrun: %s: %s\n", option, what);
    return 2;
}

static int unknown(const char *text)
{
    char dashed[sizeof known / sizeof *known][24];
    const char *names[sizeof known / sizeof *known];
    size_t count = 0;
    for (; known[count].name != NULL; count++) {
        snprintf(dashed[count], sizeof dashed[count], "--%s", known[count].name);
        names[count] = dashed[count];
    }
    bool is_long = strncmp(text, "--", 2) == 0;
    fprintf(stderr, "vicrun: no such option '%s'%s\n", text,
            is_long ? did_you_mean(text, names, count) : "; vicrun --help lists them");
    return 2;
}

static int read_mode(const char *text, struct job_config *job)
{
    static const char *const modes[] = {"functional", "timed"};
    if (strcmp(text, "functional") == 0) {
        job->mode = 0;
        return -1;
    }
    if (strcmp(text, "timed") == 0) {
        job->mode = 1;
        return -1;
    }
    fprintf(stderr, "vicrun: --mode: '%s' is not functional or timed%s\n", text, did_you_mean(text, modes, 2));
    return 2;
}

static int read_if_killed(const char *text, struct options *options)
{
    static const char *const kinds[] = {"end", "leave", "restart"};
    uint64_t times = 5;
    size_t length = strcspn(text, ":");
    for (unsigned i = 0; i < 3; i++) {
        bool same = strlen(kinds[i]) == length && strncmp(text, kinds[i], length) == 0;
        bool counted = text[length] == ':' && i == IF_KILLED_RESTART;
        if (same && (text[length] == 0 || (counted && read_whole(text + length + 1, 0, UINT32_MAX, &times)))) {
            options->if_killed = (enum if_killed)i;
            options->short_lives = (uint32_t)times;
            options->job.outlives = i != IF_KILLED_END;
            return -1;
        }
    }
    fprintf(stderr, "vicrun: --if-killed: '%s' is not end, leave, restart or restart:TIMES%s\n", text,
            did_you_mean(text, kinds, 3));
    return 2;
}

/* A descriptor of our own: the programs must not keep the other end waiting. */
static int read_stats_fd(const char *text, struct options *options)
{
    uint64_t value;
    int fd = read_whole(text, 0, INT32_MAX, &value) ? fcntl((int)value, F_DUPFD_CLOEXEC, 3) : -1;
    if (fd < 0) {
        fprintf(stderr, "vicrun: --stats-fd: '%s' is not an open file descriptor\n", text);
        return 2;
    }
    if (value > 2) {
        close((int)value);
    }
    options->stats_fd = fd;
    options->job.stats = 1;
    return -1;
}

static int read_one(int option, const char *text, struct options *options)
{
    struct job_config *job = &options->job;
    uint64_t value;
    const char *what = NULL;
    switch (option) {
    case 'n': return cards_read(text, &job->cards);
    case MODE: return read_mode(text, job);
    case SEED:
    case REORDER:
        if (!read_whole(text, 0, UINT64_MAX, &value)) {
            fprintf(stderr, "vicrun: --%s: '%s' is not a whole number\n", option == SEED ? "seed" : "reorder",
                    text);
            return 2;
        }
        job->reorder |= option == REORDER;
        *(option == SEED ? &job->seed : &job->reorder_seed) = value;
        return -1;
    case CARD_FILE: what = card_file_read(text, job); break;
    case SET: what = card_line_read(text, job); break;
    case FAULT: what = fault_read(text, job); break;
    case SERVE: options->serve = text; break;
    case JOIN: options->join = text; break;
    case CARD:
        if (!read_whole(text, 0, MOST_CARDS - 1, &value)) {
            fprintf(stderr, "vicrun: --card: '%s' is not the number of a card\n", text);
            return 2;
        }
        options->card = (uint32_t)value;
        break;
    case IF_KILLED: return read_if_killed(text, options);
    case CHECK: job->check = 1; break;
    case STATS_:
        job->stats = 1;
        options->report = true;
        break;
    case STATS_FD: return read_stats_fd(text, options);
    case TRACE_LIMIT:
        if (!read_whole(text, 1, INT64_MAX, &options->trace_limit)) {
            fprintf(stderr, "vicrun: --trace-limit: '%s' is not a number of bytes\n", text);
            return 2;
        }
        break;
    case TRACE: options->trace = text; break;
    case SPREAD: job->model.spread = 1; break;
    case PREFIX: options->prefix = true; break;
    case VERSION: puts("vicrun " VIC_VERSION); return 0;
    default: fputs(vicrun_usage, stdout); return 0;
    }
    if (what != NULL) {
        return refuse(option == FAULT ? "--fault" : option == SET ? "--set" : "--card-file", what);
    }
    return -1;
}

static int check(const struct options *options)
{
    const struct job_config *job = &options->job;
    for (uint32_t i = 0; i < job->stalls + job->kills; i++) {
        bool kill = i >= job->stalls;
        uint32_t card = (kill ? job->kill[i - job->stalls] : job->stall[i]).card;
        if (card >= job->cards) {
            fprintf(stderr, "vicrun: --fault: %s: the job has no card %u, but 0 .. %u\n",
                    kill ? "kill" : "stall", card, job->cards - 1);
            return 2;
        }
    }
    if (job->mode == 1 && options->serve != NULL) {
        return refuse("--serve", "is for functional mode: in timed mode nobody can join");
    }
    if (job->mode == 1 && options->if_killed != IF_KILLED_END) {
        return refuse("--if-killed", "leave and restart are for functional mode: in timed mode a death ends "
                                     "the job");
    }
    const char *fault = job_config_fault(job);
    return fault == NULL ? -1 : refuse("card", fault);
}

/* Whoever joins brings one program; all else is as the job has it. */
static int check_join(int argc, char **argv, uint64_t given, struct options *options)
{
    const uint64_t one = 1, allowed = one << (JOIN - MODE) | one << (CARD - MODE) | one << (PREFIX - MODE);
    if ((given & ~allowed) != 0 || options->job.cards != 0) {
        return refuse("--join", "goes with --card, --prefix and a program, and no other option");
    }
    int code = programs_read(argc, argv, 1, options);
    if (code == -1 && options->programs > 1) {
        return refuse("--join", "brings one program; an argument ':' is written '::'");
    }
    return code;
}

int options_read(int argc, char **argv, struct options *options)
{
    *options = (struct options){.job = job_usual, .card = JOIN_ANY, .stats_fd = -1};
    uint64_t given = 0; /* of our numbers from MODE on */
    options->job.cards = 0;
    opterr = 0;
    for (;;) {
        int before = optind, option = getopt_long(argc, argv, "+:n:h", known, NULL);
        if (option == -1) {
            break;
        }
        if (option == '?') {
            return unknown(argv[before]);
        }
        if (option == ':') {
            return refuse(argv[before], "needs a value");
        }
        given |= option >= MODE ? UINT64_C(1) << (option - MODE) : 0;
        int code = read_one(option, optarg, options);
        if (code != -1) {
            return code;
        }
    }
    if (options->join != NULL) {
        return check_join(argc - optind, argv + optind, given, options);
    }
    if (options->card != JOIN_ANY) {
        return refuse("--card", "goes with --join; parameters of the card are set by --card-file and --set");
    }
    if (options->job.cards == 0) {
        return refuse("-n", "say how many cards; vicrun --help");
    }
    int code = programs_read(argc - optind, argv + optind, options->job.cards, options);
    if (code != -1) {
        return code;
    }
    if (options->job.fifo_depth != 0) { /* the fault, whatever the card says */
        options->job.fifo_words = options->job.fifo_depth;
    }
    if (options->trace != NULL) {
        uint64_t records = TRACE_BYTES / sizeof(struct trace_record) / options->job.cards;
        records = records < TRACE_LEAST ? TRACE_LEAST : records > TRACE_MOST ? TRACE_MOST : records;
        if (options->trace_limit != 0) {
            uint64_t fit = options->trace_limit / TRACE_LINE / options->job.cards;
            records = fit < records ? fit : records;
            records = records < TRACE_FEW ? TRACE_FEW : records;
        }
        options->job.trace_records = (uint32_t)records;
    } else if (options->trace_limit != 0) {
        return refuse("--trace-limit", "goes with --trace");
    }
    return check(options);
}
