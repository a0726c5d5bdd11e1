#define _GNU_SOURCE
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "vic.h"

enum { TRACE_BYTES = 64 << 20, TRACE_LEAST = 1 << 10, TRACE_MOST = 1 << 16 };

static const char usage[] =
    "usage: vicrun -n N [options] [--] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Run PROGRAM N times, one process per emulated Vortex Interface Card (vic.h). Returns the first exit code\n"
    "that is not 0 (128 + n for signal n), 2 if the command line is wrong, 126 or 127 if PROGRAM cannot be run.\n"
    "Signals are passed on. Standard input goes to card 0. Whatever of the job still runs when the programs have\n"
    "ended is ended too; nothing stays behind.\n"
    "\n"
    "  -n N              number of cards\n"
    "  --mode MODE       functional (default): as fast as the machine allows; timed: the modelled hardware\n"
    "  --card-file FILE  parameters of the card, key=value lines in base units\n"
    "  --set KEY=VALUE   one parameter: sram, group_counters, fifo_words, dma_entries, dma_setup, pcie_rate; timed\n"
    "                    mode also pio_write, pio_read, pio_rate, poll_mirror, fifo_pop, send_words, port_rate,\n"
    "                    planes, switch_angles, link\n"
    "  --seed S          seed of all chances [1]\n"
    "  --reorder SEED    packets arrive in any order; counters stay right\n"
    "  --fault SPEC      fifo-depth=N, fifo-drop=P, dma-slow=F, extra-polls=P, 'stall card=K at=TIME for=TIME',\n"
    "                    'kill card=K at=TIME'; times since the start, such as 5ms; repeatable\n"
    "  --check           report packets that reach a counter before it was preset\n"
    "  --stats           what each card did, on stderr at the end\n"
    "  --trace FILE      calls, packets, counters and FIFOs, for ui.perfetto.dev\n"
    "  --spread          timed mode: run on all cores, for programs that compute much; else all run on one\n"
    "  --prefix          each line of output begins with its card\n"
    "  --version, --help\n";

enum { MODE = 256, CARD_FILE, SET, SEED, REORDER, FAULT, CHECK, STATS_, TRACE, SPREAD, PREFIX, VERSION, HELP };

static const struct option known[] = {
    {"mode", required_argument, NULL, MODE},       {"card-file", required_argument, NULL, CARD_FILE},
    {"set", required_argument, NULL, SET},         {"spread", no_argument, NULL, SPREAD},
    {"seed", required_argument, NULL, SEED},       {"reorder", required_argument, NULL, REORDER},
    {"fault", required_argument, NULL, FAULT},     {"check", no_argument, NULL, CHECK},
    {"stats", no_argument, NULL, STATS_},          {"trace", required_argument, NULL, TRACE},
    {"prefix", no_argument, NULL, PREFIX},         {"version", no_argument, NULL, VERSION},
    {"help", no_argument, NULL, HELP},             {NULL, 0, NULL, 0},
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

static int read_one(int option, const char *text, struct options *options)
{
    struct job_config *job = &options->job;
    uint64_t value;
    const char *what = NULL;
    switch (option) {
    case 'n':
        if (!read_whole(text, 1, MOST_CARDS, &value)) {
            fprintf(stderr, "vicrun: -n: '%s' is not a number of cards, 1 .. %d\n", text, MOST_CARDS);
            return 2;
        }
        job->cards = (uint32_t)value;
        return -1;
    case MODE: return read_mode(text, job);
    case SEED:
    case REORDER:
        if (!read_whole(text, 0, UINT64_MAX, &value)) {
            fprintf(stderr, "vicrun: --%s: '%s' is not a whole number\n", option == SEED ? "seed" : "reorder", text);
            return 2;
        }
        job->reorder |= option == REORDER;
        *(option == SEED ? &job->seed : &job->reorder_seed) = value;
        return -1;
    case CARD_FILE: what = card_file_read(text, job); break;
    case SET: what = card_line_read(text, job); break;
    case FAULT: what = fault_read(text, job); break;
    case CHECK: job->check = 1; break;
    case STATS_: job->stats = 1; break;
    case TRACE: options->trace = text; break;
    case SPREAD: job->model.spread = 1; break;
    case PREFIX: options->prefix = true; break;
    case VERSION: puts("vicrun " VIC_VERSION); return 0;
    default: fputs(usage, stdout); return 0;
    }
    if (what != NULL) {
        return refuse(option == FAULT ? "--fault" : option == SET ? "--set" : "--card-file", what);
    }
    return -1;
}

static int check(const struct options *options)
{
    const struct job_config *job = &options->job;
    if (job->cards == 0) {
        return refuse("-n", "say how many cards; vicrun --help");
    }
    if (options->program[0] == NULL) {
        return refuse("PROGRAM", "say what to run; vicrun --help");
    }
    for (uint32_t i = 0; i < job->stalls + job->kills; i++) {
        bool kill = i >= job->stalls;
        uint32_t card = (kill ? job->kill[i - job->stalls] : job->stall[i]).card;
        if (card >= job->cards) {
            fprintf(stderr, "vicrun: --fault: %s: the job has no card %u, but 0 .. %u\n", kill ? "kill" : "stall", card,
                    job->cards - 1);
            return 2;
        }
    }
    const char *fault = job_config_fault(job);
    return fault == NULL ? -1 : refuse("card", fault);
}

int options_read(int argc, char **argv, struct options *options)
{
    *options = (struct options){.job = job_usual};
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
        int code = read_one(option, optarg, options);
        if (code != -1) {
            return code;
        }
    }
    options->program = argv + optind;
    if (options->job.fifo_depth != 0) { /* the fault, whatever the card says */
        options->job.fifo_words = options->job.fifo_depth;
    }
    if (options->trace != NULL && options->job.cards != 0) {
        uint64_t records = TRACE_BYTES / sizeof(struct trace_record) / options->job.cards;
        records = records < TRACE_LEAST ? TRACE_LEAST : records > TRACE_MOST ? TRACE_MOST : records;
        options->job.trace_records = (uint32_t)records;
    }
    return check(options);
}
