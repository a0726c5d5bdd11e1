/* vichost and vicrun talk: see launcher/hosts.h. */
#define _GNU_SOURCE
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "thread.h"

enum { PATIENCE_MS = 10000 }; /* until a host that has lost another one ends without a word of vicrun */

bool member_say(struct member *member, uint32_t kind, const void *what, size_t bytes)
{
    pthread_mutex_lock(&member->lock);
    bool said = message_send(member->to, kind, what, bytes);
    pthread_mutex_unlock(&member->lock);
    return said;
}

const struct host_head *member_wait(struct member *member, uint32_t kind)
{
    const struct host_head *head;
    struct pollfd watched = {.fd = member->from, .events = POLLIN};
    while ((head = message_there(&member->said)) == NULL) {
        int64_t left = (int64_t)(member->start_ns / 1000000) + HOSTS_SLOW_MS + 2000 - (int64_t)(job_clock_ns() / 1000000);
        if (left <= 0) {
            fputs("vichost: vicrun is silent: it is given up\n", stderr);
            return NULL;
        }
        if (poll(&watched, 1, (int)left) > 0 && message_read(member->from, &member->said) == 0) {
            return NULL;
        }
    }
    return head->kind == kind ? head : NULL;
}

/* Waits until vicrun has written most of the output that was sent to it. */
static void wait_written(struct member *member, size_t n)
{
    pthread_mutex_lock(&member->lock);
    member->unwritten += n;
    while (member->unwritten > HOST_OUTPUT_MOST && !member->last) {
        pthread_cond_wait(&member->some, &member->lock);
    }
    pthread_mutex_unlock(&member->lock);
}

static void note_written(struct member *member, uint32_t bytes)
{
    pthread_mutex_lock(&member->lock);
    member->unwritten -= bytes < member->unwritten ? bytes : member->unwritten;
    pthread_cond_signal(&member->some);
    pthread_mutex_unlock(&member->lock);
}

void member_last_output(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    member->last = true;
    pthread_cond_signal(&member->some);
    pthread_mutex_unlock(&member->lock);
}

/* Sends vicrun what programs, and vichost itself, write to standard output. */
static void *pump(void *what)
{
    struct member *member = what;
    char text[16 << 10];
    ssize_t n;
    while ((n = read(member->output, text, sizeof text)) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0 && member_say(member, HOST_OUTPUT, text, (size_t)n)) {
            wait_written(member, (size_t)n);
        }
    }
    if (n < 0) {
        struct host_ended failed = {.code = 1};
        fprintf(stderr, "vicrun: --hosts: output of the programs was lost: %s\n", strerror(errno));
        member_say(member, HOST_CODE, &failed, sizeof failed);
    }
    return NULL;
}

bool member_open(struct member *member)
{
    int ends[2];
    member->start_ns = job_clock_ns();
    member->begin = member->end = (struct clock_sample){.error_ns = UINT64_MAX}; /* not measured */
    pthread_mutex_init(&member->lock, NULL);
    pthread_cond_init(&member->some, NULL);
    member->from = fcntl(0, F_DUPFD_CLOEXEC, 3);
    member->to = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (member->from < 0 || member->to < 0 || nothing < 0 || pipe2(ends, O_CLOEXEC) != 0 || dup2(nothing, 0) < 0 ||
        dup2(ends[1], 1) < 0) {
        return false;
    }
    close(nothing);
    close(ends[1]);
    member->output = ends[0];
    return thread_start(&member->pump, pump, member);
}

void member_close(struct member *member)
{
    member_last_output(member);
    fflush(stdout);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (dup2(nothing, 1) < 0) { /* the last writing end */
        close(1);
    }
    pthread_join(member->pump, NULL);
    close(member->to);
    free(member->said.text);
}

/* vicrun has hung up: ends all programs. */
static void is_alone(struct launch *launch)
{
    launch->signalled = true;
    launch->held = false;
    launch->code = launch->code != 0 ? launch->code : 1;
    news_over(launch->job); /* before the programs are killed, which is no death of a card */
    close(launch->boss);
    launch->boss = -1;
    member_last_output(launch->member);
    children_signal(launch, SIGKILL);
    joiners_hang_up(launch); /* whoever brought a program ends it; one that is stopped, as soon as it goes on */
}

static void pass_on(struct launch *launch, int number)
{
    if (number != SIGUSR1 && number != SIGUSR2) {
        children_asked_to_end(launch);
    }
    children_signal(launch, number);
}

/* The programs of all hosts have ended. One that has just joined came too late and is ended. */
static void all_have_ended(struct launch *launch)
{
    launch->held = false;
    if (launch->joiners > 0) {
        pass_on(launch, SIGTERM);
    }
    launch->signalled = true; /* nobody can join any more */
}

static void say_looks(struct launch *launch, bool patiently)
{
    const struct job *job = launch->job;
    size_t bytes = sizeof(struct host_looks) + job->here * sizeof(struct card_look);
    struct host_looks *looks = malloc(bytes);
    if (looks != NULL) {
        look_cards(launch, job->first, job->here, patiently, (struct card_look *)(void *)(looks + 1));
        looks->now_ns = job_time_ns(job);
        member_say(launch->member, HOST_LOOKS, looks, bytes);
    }
    free(looks);
}

void member_hear(struct launch *launch)
{
    struct member *member = launch->member;
    int more = message_read(member->from, &member->said);
    const struct host_head *head;
    while ((head = message_there(&member->said)) != NULL) {
        if (head->kind == HOST_SIGNAL && head->bytes == sizeof(int32_t)) {
            pass_on(launch, *(const int32_t *)(const void *)(head + 1));
        } else if (head->kind == HOST_END) {
            all_have_ended(launch);
        } else if (head->kind == HOST_WRITTEN && head->bytes == sizeof(uint32_t)) {
            note_written(member, *(const uint32_t *)(const void *)(head + 1));
        } else if (head->kind == HOST_LOOK && head->bytes == sizeof(struct host_look)) {
            say_looks(launch, ((const struct host_look *)(const void *)(head + 1))->patiently != 0);
        }
        message_next(&member->said);
    }
    if (more == 0) {
        is_alone(launch);
    }
}

static void send_trace(struct member *member, uint32_t card)
{
    enum { RECORDS = 1024 };
    struct {
        struct host_trace head;
        struct trace_record record[RECORDS];
    } part;
    const struct job *job = member->agent.job;
    const struct trace_head *trace = job_trace(job, card);
    uint32_t room = job->config.trace_records, count = trace->count < room ? trace->count : room;
    part.head = (struct host_trace){card, trace->stride};
    for (uint32_t i = 0; i < count; i += RECORDS) {
        uint32_t n = count - i < RECORDS ? count - i : RECORDS;
        memcpy(part.record, trace->record + i, n * sizeof *part.record);
        member_say(member, HOST_TRACE, &part, sizeof part.head + n * sizeof *part.record);
    }
}

/* The traces of other hosts' cards are sent too: they hold what came from these. */
void member_results(struct launch *launch)
{
    struct member *member = launch->member;
    say_looks(launch, false);
    if (launch->options->trace == NULL) {
        return;
    }
    struct host_clock clock = {launch->job->start_ns, member->begin, member->end};
    member_say(member, HOST_CLOCK, &clock, sizeof clock);
    for (uint32_t i = 0; i < launch->job->config.cards; i++) {
        send_trace(member, i);
    }
}

/* --trace: measures the clock a second time, and returns true when it is known. This happens before the host says that it has
 * ended, as the first host has to be there for it. */
static bool clock_is_known(struct member *member)
{
    if (member->agent.job->config.trace_records == 0) {
        return true;
    }
    if (member->clock == NOT_ASKED) {
        clocks_measure(&member->agent);
        member->clock = ASKED;
    }
    if (member->clock == ASKED && clocks_measured(&member->agent, &member->end)) {
        member->clock = KNOWN;
    }
    return member->clock == KNOWN;
}

int member_due(struct launch *launch)
{
    struct member *member = launch->member;
    bool lost = atomic_load(&member->agent.lost), ended = programs_have_ended(launch);
    launch->code = lost && ended && launch->code == 0 ? 1 : launch->code;
    struct host_ended what = {(uint32_t)launch->code, lost};
    if (launch->code != 0 && !member->code_said) {
        member->code_said = member_say(member, HOST_CODE, &what, sizeof what);
    }
    if (!ended && member->ended_said) {
        member->ended_said = !member_say(member, HOST_GOES_ON, NULL, 0);
    }
    if (ended && !member->ended_said && !clock_is_known(member)) {
        return 2;
    }
    if (ended && !member->ended_said) {
        member->ended_said = member_say(member, HOST_ENDED, &what, sizeof what);
        member->ended_ns = job_clock_ns();
    }
    bool over = atomic_load(&launch->job->shared->poison) == JOB_OVER; /* another host has heard that vicrun is gone, or of the end */
    if ((lost || over) && ended && job_clock_ns() - member->ended_ns > (uint64_t)PATIENCE_MS * 1000000) {
        launch->held = false;
    }
    return ended ? 1000 : -1;
}
