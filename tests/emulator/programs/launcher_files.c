/* What vicrun reads and writes: how much memory there is, output of programs, traces, statistics. */
#define _GNU_SOURCE
#include "launcher_parts.h"

#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "functional/claims.h"

/* 4 KiB of SRAM and a short FIFO. */
static struct job_config small(uint32_t cards)
{
    struct job_config config = job_usual;
    config.cards = cards;
    config.sram_words = 512;
    config.fifo_words = 16;
    return config;
}

static int memory_with(const struct file *these)
{
    struct job_config two = small(2);
    files = these;
    listen_to_stderr();
    int code = memory_check(&two, NULL);
    files = NULL;
    heard();
    return code;
}

#define GROUP "/proc/self/cgroup"
#define MOST "/sys/fs/cgroup/a/b/memory.max"
#define USED "/sys/fs/cgroup/a/b/memory.current"
#define WORDS "MemTotal: 5 kB\nMemAvailable: 99999999 kB\n"

static void memory_of_the_machine(void)
{
    CHECK(memory_with((struct file[]){{"/proc/meminfo", WORDS}, {GROUP, "1:cpu:/x\n"}, {NULL, NULL}}) == -1);
    CHECK(memory_with((struct file[]){{"/proc/meminfo", "MemAvailable: 7 kB\n"}, {GROUP, NULL}, {NULL, NULL}}) == 2);
    CHECK(was_heard("-n: 2 cards need ") && was_heard(", 7168 are available: enough for 0 cards of this size"));
    /* what is not known is no limit */
    CHECK(memory_with((struct file[]){{"/proc/meminfo", "MemTotal: 7 kB\n"}, {GROUP, NULL}, {NULL, NULL}}) == -1);
    CHECK(memory_with((struct file[]){{"/proc/meminfo", "MemAvailable: x\n"}, {GROUP, NULL}, {NULL, NULL}}) == -1);
    CHECK(memory_with((struct file[]){{"/proc/meminfo", NULL}, {GROUP, NULL}, {NULL, NULL}}) == -1);
}

static void memory_of_the_group(void)
{
    const struct {
        const char *most, *used, *available;
    } cases[] = {{"4096\n", "1096\n", " 3000 are available"}, {"4096\n", "5000\n", " 0 are available"},
                 {"99999999999\n", "1\n", NULL}, {"max\n", "1096\n", NULL}, {"4096\n", NULL, NULL},
                 {NULL, "1096\n", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct file these[] = {{"/proc/meminfo", WORDS}, {GROUP, "4:memory:/old\n0::/a/b\n"},
                                     {MOST, cases[i].most},    {USED, cases[i].used}, {NULL, NULL}};
        CHECK(memory_with(these) == (cases[i].available != NULL ? 2 : -1));
        CHECK(cases[i].available == NULL || was_heard(cases[i].available));
    }
}

/* The limit of a group around that of the process counts, too, up to the one that is the first to be seen in a container. */
static void memory_of_the_groups_around(void)
{
    static const char *const around[] = {"/sys/fs/cgroup/a", "/sys/fs/cgroup"};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        char most[64], used[64];
        snprintf(most, sizeof most, "%s/memory.max", around[i]);
        snprintf(used, sizeof used, "%s/memory.current", around[i]);
        const struct file these[] = {{"/proc/meminfo", WORDS}, {GROUP, "0::/a/b\n"}, {MOST, "99999999999\n"},
                                     {USED, "1\n"},            {most, "4096\n"},     {used, "1096\n"}, {NULL, NULL}};
        CHECK(memory_with(these) == 2 && was_heard(" 3000 are available"));
    }
}

/* The path of a group with a long name, as those of pods and containers within containers are. */
static void memory_of_a_long_group(void)
{
    char name[1001], group[1100], most[1100], used[1100];
    memset(name, 'g', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(group, sizeof group, "0::/%s\n", name);
    snprintf(most, sizeof most, "/sys/fs/cgroup/%s/memory.max", name);
    snprintf(used, sizeof used, "/sys/fs/cgroup/%s/memory.current", name);
    const struct file these[] = {{"/proc/meminfo", WORDS}, {GROUP, group},
                                 {most, "4096\n"},         {used, "1096\n"}, {NULL, NULL}};
    CHECK(memory_with(these) == 2 && was_heard(" 3000 are available"));
}

/* What comes out of a stream into which `text` went, at once and at its end. */
static const char *through(struct stream *stream, const char *in, uint32_t card, uint32_t cards)
{
    static char out[8192];
    int from[2], to[2];
    CHECK(pipe(from) == 0 && pipe(to) == 0);
    CHECK(write(from[1], in, strlen(in)) == (ssize_t)strlen(in));
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    *stream = (struct stream){.from = from[0], .to = to[1]};
    stream_copy(stream, card, cards);
    CHECK(stream->from == from[0]); /* it may say more */
    stream_finish(stream, card, cards); /* somebody else has the other end: he is not waited for */
    CHECK(stream->from == -1 && fcntl(from[0], F_GETFD) == -1);
    close(from[1]);
    close(to[1]);
    ssize_t n = read(to[0], out, sizeof out - 1);
    out[n > 0 ? n : 0] = 0;
    close(to[0]);
    return out;
}

/* One look at a stream does not take all that is there: others have to be looked at. */
static void much_output(void)
{
    int from[2], there = 0;
    static char text[3 * sizeof((struct stream *)NULL)->line];
    memset(text, '\n', sizeof text);
    CHECK(pipe(from) == 0 && write(from[1], text, sizeof text) == (ssize_t)sizeof text);
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    struct stream stream = {.from = from[0], .to = open("/dev/null", O_WRONLY)};
    stream_copy(&stream, 0, 1);
    CHECK(ioctl(from[0], FIONREAD, &there) == 0 && there >= (int)sizeof stream.line);
    stream_finish(&stream, 0, 1);
    CHECK(ioctl(from[1], FIONREAD, &there) == 0 && there == 0);
    close(from[1]);
    close(stream.to);
}

static void output(void)
{
    struct stream stream;
    much_output();
    CHECK(strcmp(through(&stream, "a\nb", 7, 10), "[7] a\n[7] b\n") == 0);
    CHECK(strcmp(through(&stream, "a\n", 7, 11), "[ 7] a\n") == 0);
    CHECK(strcmp(through(&stream, "a\n", 7, 101), "[  7] a\n") == 0);
    CHECK(strcmp(through(&stream, "a\n", 7, 1001), "[   7] a\n") == 0);
    CHECK(strcmp(through(&stream, "a\n", 7, 10001), "[    7] a\n") == 0);
    CHECK(strcmp(through(&stream, "", 0, 1), "") == 0);
    struct child child = {0};
    CHECK(!streams_lost(&child, 0));
    write_errors[1] = EINTR; /* the first one is our own */
    write_errors[2] = EAGAIN;
    CHECK(strcmp(through(&child.out, "a\n", 0, 1), "[0] a\n") == 0 && child.out.error == 0);
    write_errors[1] = EPIPE; /* nobody reads it any more: that is no loss */
    CHECK(strcmp(through(&child.out, "a\nb\n", 0, 1), "[0] b\n") == 0 && child.out.error == 0);
    write_errors[1] = EIO;
    write_errors[2] = ENOSPC;
    CHECK(strcmp(through(&child.err, "a\nb\nc\n", 0, 1), "[0] c\n") == 0 && child.err.error == EIO);
    listen_to_stderr();
    CHECK(streams_lost(&child, 3) && was_heard("vicrun: --prefix: output of card 3 was lost: Input/output error"));
    struct stream broken = {.from = open("/", O_RDONLY), .to = 1}; /* cannot be read */
    stream_copy(&broken, 0, 1);
    CHECK(broken.from == -1 && broken.error == EISDIR);
    broken.from = open("/", O_RDONLY);
    broken.error = EIO; /* the first counts */
    stream_copy(&broken, 0, 1);
    CHECK(broken.from == -1 && broken.error == EIO);
}

/* A trace into which a card has written what it likes. */
static void trace(const char *path, const char *folder)
{
    struct job_config config = small(1);
    struct options options = {0};
    static char text[8192];
    char made[300];
    config.trace_records = 3;
    struct launch *launch = a_launch(&config, &options);
    struct trace_head *head = job_trace(launch->job, 0);
    *head = (struct trace_head){.count = 99, .stride = 32};
    head->record[0] = (struct trace_record){.kind = TRACE_CALL, .number = 999};
    head->record[1] = (struct trace_record){.kind = 77, .card = 5, .value = 6};
    listen_to_stderr();
    CHECK(perfetto_write(launch->job, path) == 0);
    CHECK(was_heard("--trace: there was room for one in 32 events of the busiest card\n"));
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    CHECK(strstr(text, "\"name\":\"?\"") != NULL && strstr(text, "\"start_monotonic_ns\"") != NULL);
    int records = 0;
    for (const char *at = text; (at = strstr(at, "\"ts\":")) != NULL; at++) {
        records++;
    }
    CHECK(records == 3); /* no more than there is room for */
    struct rlimit all, little = {100, 100};
    CHECK(getrlimit(RLIMIT_FSIZE, &all) == 0);
    little.rlim_max = all.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0 && perfetto_write(launch->job, path) == EFBIG);
    CHECK(setrlimit(RLIMIT_FSIZE, &all) == 0);
    glob_t left;
    snprintf(made, sizeof made, "%s.*", path);
    CHECK(glob(made, 0, NULL, &left) == GLOB_NOMATCH);
    /* others have put a link where a file could be made: what it points to stays as it is */
    snprintf(made, sizeof made, "%s.%ld", path, (long)getpid());
    CHECK(symlink("/dev/full", made) == 0 && perfetto_write(launch->job, path) == 0 && unlink(made) == 0);
    memory_left = 0;
    CHECK(perfetto_write(launch->job, path) == ENOMEM);
    memory_left = -1;
    CHECK(perfetto_write(launch->job, folder) == EISDIR);
    end_launch(launch);
}

/* The line that is told of a card. */
static const char *told(struct launch *launch)
{
    static char line[600];
    int ends[2];
    CHECK(pipe(ends) == 0);
    launch->stats_fd = ends[1];
    stats_show(launch);
    close(ends[1]);
    ssize_t n = read(ends[0], line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    close(ends[0]);
    return line;
}

static void statistics(void)
{
    struct job_config config = small(1);
    struct options options = {0};
    struct launch *launch = a_launch(&config, &options);
    struct card_shared *card = launch->job->card;
    CHECK(stats_due(launch) == -1); /* nobody has asked */
    CHECK(strstr(told(launch), "\"state\":\"starting\"") != NULL);
    atomic_store(&card->seat, seat_taken(0, 1));
    atomic_store(&card->fifo_tail, 5);
    CHECK(strstr(told(launch), "\"state\":\"open\"") != NULL && strstr(told(launch), "\"fifo\":5,") != NULL);
    seat_leave(card, 1);
    atomic_store(&card->fifo_voids, 6); /* as a card says that is broken */
    CHECK(strstr(told(launch), "\"state\":\"closed\"") != NULL && strstr(told(launch), "\"fifo\":0,") != NULL);
    atomic_store(&card->fifo_voids, 0);
    atomic_store(&card->fifo_head, 6);
    CHECK(strstr(told(launch), "\"fifo\":0,") != NULL);
    int ends[2];
    CHECK(pipe(ends) == 0);
    launch->stats_fd = ends[1];
    CHECK(stats_due(launch) > 400); /* it was due, and is so again in half a second */
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (char page[4096] = {0}; write(ends[1], page, sizeof page) > 0;) {
    }
    close(ends[0]);
    stats_show(launch); /* full, and nobody will read it */
    CHECK(launch->stats_fd == ends[1]);
    close(ends[1]);
    CHECK(pipe(ends) == 0);
    launch->stats_fd = ends[1];
    close(ends[0]);
    stats_show(launch);
    CHECK(launch->stats_fd == -1 && fcntl(ends[1], F_GETFD) == -1);
    end_launch(launch);
    config.mode = 1;
    launch = a_launch(&config, &options);
    struct view *view = &timed_card_of(launch->job, 0)->view;
    view->fifo_in = 7;
    view->fifo_out = 3;
    CHECK(strstr(told(launch), "\"fifo\":4,") != NULL);
    view->fifo_out = 8;
    CHECK(strstr(told(launch), "\"fifo\":0,") != NULL);
    end_launch(launch);
}

/* How many records a card has in its trace, for so many cards. */
static uint32_t trace_records(const char *cards, const char *limit)
{
    char *line[] = {"vicrun", "-n", (char *)(uintptr_t)cards, "--trace", "t", "--trace-limit",
                    (char *)(uintptr_t)limit, "true", NULL};
    struct options options;
    optind = 0;
    CHECK(options_read(8, line, &options) == -1);
    free(options.program);
    return options.job.trace_records;
}

static void room_for_traces(void)
{
    const char *all = "9000000000000000000";
    CHECK(trace_records("1", all) == 1 << 16 && trace_records("40000", all) == 1 << 10);
    CHECK(trace_records("100", all) == (64 << 20) / 100 / sizeof(struct trace_record));
    CHECK(trace_records("100", "1") == 16 && trace_records("1", "48000") == 100);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    room_for_traces();
    signal(SIGPIPE, SIG_IGN);
    memory_of_the_machine();
    memory_of_the_group();
    memory_of_the_groups_around();
    memory_of_a_long_group();
    output();
    trace(argv[1], argv[2]);
    statistics();
    puts("checks passed");
    return 0;
}
