/* The command line of vicrun. */
#define _GNU_SOURCE
#include "options.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "join.h"
#include "vic.h"

const char vicrun_usage[] =
    "usage: vicrun -n N [options] [--] PROGRAM [ARGUMENT...] [: [-n N] PROGRAM [ARGUMENT...]]...\n"
    "\n"
    "Run PROGRAM N times, one process per emulated Vortex Interface Card (vic.h). Behind a ':' of its own\n"
    "stands another program of the same job, on the cards that follow, one if no -n says more; an argument ':'\n"
    "is written '::'. Returns the first exit code that is not 0 (128 + n for signal n), 2 if the command line\n"
    "is wrong, 126 or 127 if a program cannot be run. Signals are passed on. Standard input goes to card 0.\n"
    "Whatever of the job still runs when the programs have ended is ended too; nothing stays behind.\n"
    "\n"
    "  -n N              number of cards\n"
    "  --mode MODE       functional (default): as fast as the machine allows; timed: the modelled hardware\n"
    "  --card-file FILE  parameters of the card, key=value lines in base units\n"
    "  --set KEY=VALUE   one parameter: sram, group_counters, fifo_words, dma_entries, dma_setup, pcie_rate;\n"
    "                    timed mode also pio_write, pio_read, pio_rate, poll_mirror, fifo_pop, send_words,\n"
    "                    port_rate, planes, switch_angles, link\n"
    "  --seed S          seed of all chances [1]\n"
    "  --reorder SEED    packets arrive in any order; counters stay right\n"
    "  --fault SPEC      fifo-depth=N, fifo-drop=P, dma-slow=F, extra-polls=P, 'kill card=K at=TIME',\n"
    "                    'stall card=K at=TIME for=TIME'; times since the start, such as 5ms; repeatable\n"
    "  --if-killed WHAT  when a program is killed, or ends with another exit code than 0: end (default): all\n"
    "                    others are told, VIC_EPEER; leave: the others go on, as if it had closed its card;\n"
    "                    restart[:TIMES]: it is started again on its card, unless it lived less than 1 s\n"
    "                    TIMES [5] times in a row; 0: always\n"
    "  --kill-after TIME after SIGTERM, SIGINT, SIGHUP or SIGQUIT: programs that still run so long after it are\n"
    "                    killed, with all that they started [10s]; 0: never\n"
    "  --serve SOCKET    other programs of the same user may join while the job runs, on cards that have\n"
    "                    none; a PROGRAM - is such cards from the start. The job ends when its own programs\n"
    "                    and all that joined have\n"
    "  --join SOCKET [--card K] [--] PROGRAM [ARGUMENT...]\n"
    "                    bring PROGRAM into the job that serves there, on card K [any that is free], until it\n"
    "                    ends; its output and exit code are those of this vicrun\n"
    "  --hosts A:N,B:M   on several hosts: N cards on host A, then M on B; -n is not needed\n"
    "  --hosts-file FILE the same, a line 'A N' for each\n"
    "  --launch-with COMMAND  what runs a command on {host} [ssh -o BatchMode=yes -o ConnectTimeout=6 {host}]\n"
    "  --interface NAME  where hosts listen for each other [what the name of the host stands for there]\n"
    "  --host-timeout TIME  a host of which nothing is heard for so long has died [5s]\n"
    "  --mpi             PROGRAM is an MPI program of MPICH or Intel MPI: its ranks are the cards (PMI-1, libfabric)\n"
    "  --check           report packets that reach a counter before it was preset\n"
    "  --stats           what each card did, on stderr at the end\n"
    "  --stats-fd FD     the same twice a second while the job runs: a line of JSON for each card\n"
    "  --trace FILE      calls, packets, counters and FIFOs, for ui.perfetto.dev\n"
    "  --trace-limit BYTES  of that file at most: of more events every 2nd, 4th … is kept, evenly\n"
    "  --spread          timed mode: run on all cores, for programs that compute much; else all run on one\n"
    "  --prefix          each line of output begins with its card\n"
    "  --version, --help\n";

enum { TRACE_BYTES = 64 << 20, TRACE_LEAST = 1 << 10, TRACE_MOST = 1 << 16 };
enum { TRACE_LINE = 480, TRACE_FEW = 16 }; /* bytes of a record in the file, at most; records of a card, at least */

#define AT(member) offsetof(struct options, member)

static option_read read_cards, read_mode, read_card_file, read_set, read_reorder, read_fault, read_if_killed,
    read_stats_fd, read_hosts, read_hosts_file;

#define LAUNCH_WITH "ssh -o BatchMode=yes -o ConnectTimeout=6 {host}"
#define HOST_TIMEOUT_NS UINT64_C(5000000000)

enum { JOIN = 9, CARD = 10, PREFIX = 17 }; /* places in the table */

static const struct command_option known[] = {
    {"-n", OPTION_READ, 0, 0, 0, read_cards},
    {"--mode", OPTION_READ, 0, 0, 0, read_mode},
    {"--card-file", OPTION_READ, 0, 0, 0, read_card_file},
    {"--set", OPTION_READ, 0, 0, 0, read_set},
    {"--seed", OPTION_COUNT, AT(job.seed), 0, UINT64_MAX, NULL},
    {"--reorder", OPTION_READ, 0, 0, 0, read_reorder},
    {"--fault", OPTION_READ, 0, 0, 0, read_fault},
    {"--if-killed", OPTION_READ, 0, 0, 0, read_if_killed},
    {"--serve", OPTION_TEXT, AT(serve), 0, 0, NULL},
    [JOIN] = {"--join", OPTION_TEXT, AT(join), 0, 0, NULL},
    [CARD] = {"--card", OPTION_COUNT32, AT(card), 0, MOST_CARDS - 1, NULL},
    {"--mpi", OPTION_FLAG, AT(mpi), 0, 0, NULL},
    {"--check", OPTION_FLAG32, AT(job.check), 0, 0, NULL},
    {"--stats", OPTION_FLAG, AT(report), 0, 0, NULL},
    {"--stats-fd", OPTION_READ, 0, 0, 0, read_stats_fd},
    {"--trace", OPTION_TEXT, AT(trace), 0, 0, NULL},
    {"--trace-limit", OPTION_BYTES, AT(trace_limit), 1, INT64_MAX, NULL},
    [PREFIX] = {"--prefix", OPTION_FLAG, AT(prefix), 0, 0, NULL},
    {"--hosts", OPTION_READ, 0, 0, 0, read_hosts},
    {"--hosts-file", OPTION_READ, 0, 0, 0, read_hosts_file},
    {"--launch-with", OPTION_TEXT, AT(launch_with), 0, 0, NULL},
    {"--interface", OPTION_TEXT, AT(interface), 0, 0, NULL},
    {"--kill-after", OPTION_TIME, AT(kill_after_ns), 0, INT64_MAX, NULL},
    {"--host-timeout", OPTION_TIME, AT(host_timeout_ns), 20000000, INT64_MAX, NULL},
    {"--spread", OPTION_FLAG32, AT(job.model.spread), 0, 0, NULL},
};

static const struct command command = {"vicrun", VIC_VERSION, vicrun_usage, known, sizeof known / sizeof *known};

static int refuse(const char *option, const char *what)
{
    return command_refuse(&command, option, NULL, what);
}

static int read_cards(const char *name, const char *text, void *to)
{
    struct options *options = to;
    (void)name;
    return cards_read(text, &options->job.cards);
}

static int read_card_file(const char *name, const char *text, void *to)
{
    struct options *options = to;
    const char *what = card_file_read(text, &options->job);
    return what == NULL ? -1 : refuse(name, what);
}

static int read_set(const char *name, const char *text, void *to)
{
    struct options *options = to;
    const char *what = card_line_read(text, &options->job);
    return what == NULL ? -1 : refuse(name, what);
}

static int read_fault(const char *name, const char *text, void *to)
{
    struct options *options = to;
    const char *what = fault_read(text, &options->job);
    return what == NULL ? -1 : refuse(name, what);
}

static int read_reorder(const char *name, const char *text, void *to)
{
    struct options *options = to;
    if (!read_whole(text, 0, UINT64_MAX, &options->job.reorder_seed)) {
        return command_refuse(&command, name, text, "is not a whole number");
    }
    options->job.reorder = 1;
    return -1;
}

static int read_hosts(const char *name, const char *text, void *to)
{
    struct options *options = to;
    const char *what = options->hosts.count == 0 ? hosts_read(text, &options->hosts) : NULL; /* the first counts */
    return what == NULL ? -1 : refuse(name, what);
}

static int read_hosts_file(const char *name, const char *path, void *to)
{
    struct options *options = to;
    const char *what = options->hosts.count == 0 ? hosts_read_file(path, &options->hosts) : NULL; /* likewise */
    return what == NULL ? -1 : refuse(name, what);
}

static int read_mode(const char *name, const char *text, void *to)
{
    static const char *const modes[] = {"functional", "timed"};
    struct options *options = to;
    for (uint32_t mode = 0; mode < 2; mode++) {
        if (strcmp(text, modes[mode]) == 0) {
            options->job.mode = mode;
            return -1;
        }
    }
    fprintf(stderr, "vicrun: %s: '%s' is not functional or timed%s\n", name, text, did_you_mean(text, modes, 2));
    return 2;
}

static int read_if_killed(const char *name, const char *text, void *to)
{
    struct options *options = to;
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
    fprintf(stderr, "vicrun: %s: '%s' is not end, leave, restart or restart:TIMES%s\n", name, text,
            did_you_mean(text, kinds, 3));
    return 2;
}

static int read_stats_fd(const char *name, const char *text, void *to)
{
    struct options *options = to;
    uint64_t value;
    if (!read_whole(text, 0, INT32_MAX, &value)) {
        return command_refuse(&command, name, text, "is not an open file descriptor");
    }
    options->stats_fd = (int)value;
    return -1;
}

int options_take_stats_fd(struct options *options)
{
    char text[16];
    int given = options->stats_fd;
    if (given < 0) {
        return -1;
    }
    options->stats_fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
    if (options->stats_fd < 0) {
        snprintf(text, sizeof text, "%d", given);
        return command_refuse(&command, "--stats-fd", text, "is not an open file descriptor");
    }
    if (given > 2) {
        close(given);
    }
    return -1;
}

static int check_hosts(const struct options *options)
{
    const struct job_config *job = &options->job;
    if (job->mode == 1) {
        return refuse("--hosts", "is for functional mode: model time is that of one machine");
    }
    if (strstr(options->launch_with, "{host}") == NULL) {
        return refuse("--launch-with", "says nowhere {host}, such as: ip netns exec {host}");
    }
    if (job->cards != options->hosts.cards) {
        fprintf(stderr, "vicrun: --hosts: the hosts have %u cards, the programs need %u (-n)\n", options->hosts.cards,
                job->cards);
        return 2;
    }
    return -1;
}

void options_free(struct options *options)
{
    free(options->program);
    free(options->hosts.host);
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
    if (options->mpi && (options->hosts.count > 0 || options->serve != NULL || options->if_killed == IF_KILLED_RESTART)) {
        return refuse("--mpi", "does not go with --hosts, --serve and --if-killed restart: the ranks of a job are those it begins with");
    }
    if (options->hosts.count > 0) {
        int code = check_hosts(options);
        if (code != -1) {
            return code;
        }
    }
    const char *fault = job_config_fault(job);
    return fault == NULL ? -1 : refuse("card", fault);
}

/* A vicrun that joins brings one program; all other options are those of the job. */
static int check_join(int argc, char **argv, uint64_t given, struct options *options)
{
    const uint64_t one = 1, allowed = one << JOIN | one << CARD | one << PREFIX;
    if ((given & ~allowed) != 0) {
        return refuse("--join", "goes with --card, --prefix and a program, and no other option");
    }
    int code = programs_read(argc, argv, 1, options);
    if (code == -1 && options->programs > 1) {
        return refuse("--join", "brings one program; an argument ':' is written '::'");
    }
    return code;
}

/* Records of a card's trace: as memory allows, and the limit of the file. */
static uint32_t trace_records(const struct options *options)
{
    uint64_t records = TRACE_BYTES / sizeof(struct trace_record) / options->job.cards;
    records = records < TRACE_LEAST ? TRACE_LEAST : records > TRACE_MOST ? TRACE_MOST : records;
    if (options->trace_limit != 0) {
        uint64_t fit = options->trace_limit / TRACE_LINE / options->job.cards;
        records = fit < records ? fit : records;
        records = records < TRACE_FEW ? TRACE_FEW : records;
    }
    return (uint32_t)records;
}

int options_read(int argc, char **argv, struct options *options)
{
    *options = (struct options){.job = job_usual, .card = JOIN_ANY, .stats_fd = -1, .launch_with = LAUNCH_WITH,
                                .host_timeout_ns = HOST_TIMEOUT_NS, .kill_after_ns = UINT64_C(10000000000)};
    const struct command_option *used = NULL;
    uint64_t given = 0;
    int at = 1;
    options->job.cards = 0;
    while (argv[at] != NULL && argv[at][0] == '-' && argv[at][1] != 0) { /* a program "-" is a card without one */
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        int code = command_read(&command, argv, &at, options, &used);
        if (code != -1) {
            return code;
        }
        given |= UINT64_C(1) << (used - known);
    }
    options->job.stats = options->report || options->stats_fd >= 0;
    if (options->join != NULL) {
        return check_join(argc - at, argv + at, given, options);
    }
    if (options->card != JOIN_ANY) {
        return refuse("--card", "goes with --join; parameters of the card are set by --card-file and --set");
    }
    if (options->job.cards == 0 && options->hosts.count > 0) {
        options->job.cards = options->hosts.cards;
    }
    if (options->job.cards == 0) {
        return refuse("-n", "say how many cards; vicrun --help");
    }
    int code = programs_read(argc - at, argv + at, options->job.cards, options);
    if (code != -1) {
        return code;
    }
    if (options->job.fifo_depth != 0) { /* the fault overrides the card */
        options->job.fifo_words = options->job.fifo_depth;
    }
    if (options->trace == NULL && options->trace_limit != 0) {
        return refuse("--trace-limit", "goes with --trace");
    }
    options->job.trace_records = options->trace != NULL ? trace_records(options) : 0;
    return check(options);
}
