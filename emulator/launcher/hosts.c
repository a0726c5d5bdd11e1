/* A job over several hosts: vicrun starts a vichost on each, and is where they meet. */
#define _GNU_SOURCE
#include "hosts_team.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "entropy.h"

enum { RECORD_NS = 1000 * 1000 /* that a host may take for a record of its traces */ };

static bool say(void *context, uint32_t host, uint32_t kind, const void *what, size_t bytes)
{
    struct team *team = context;
    bool said = line_say(&team->member[host].in, kind, what, bytes);
    if (line_waits(&team->member[host].in)) {
        eventfd_write(team->writers, 1); /* the loop is to look for room */
    }
    return said;
}

static void tell_all(struct team *team, uint32_t kind, const void *what, size_t bytes)
{
    for (uint32_t i = 0; i < team->count; i++) {
        say(team, i, kind, what, bytes);
    }
}

static void hear_one(struct team *team, struct member *member, const struct host_head *head)
{
    const void *what = head + 1;
    struct host_ended ended;
    switch (head->kind) {
    case HOST_HERE: member->stage = member->stage == STARTED ? IS_HERE : member->stage; break;
    case HOST_ADDRESS:
        if (head->bytes == sizeof *team->address && member->stage < HAS_ADDRESS) {
            memcpy(&team->address[member - team->member], what, sizeof *team->address);
            member->stage = HAS_ADDRESS;
            if (hosts_from(team, HAS_ADDRESS) == team->count) {
                tell_all(team, HOST_PEERS, team->address, team->count * sizeof *team->address);
            }
        }
        break;
    case HOST_READY:
        member->stage = member->stage == HAS_ADDRESS ? IS_READY : member->stage;
        if (hosts_from(team, IS_READY) == team->count && !team->started) {
            team->started = true;
            team->deadline_ns = 0;
            tell_all(team, HOST_START, NULL, 0);
            looks_start(team->looks);
        }
        break;
    case HOST_GOES_ON: member->stage = member->stage == HAS_ENDED && !team->ends ? RUNS : member->stage; break;
    case HOST_LOOKS: looks_hear(team->looks, (uint32_t)(member - team->member), what, head->bytes); break;
    case HOST_CLOCK:
    case HOST_TRACE: { /* they may be long */
        uint64_t records = traces_hear(team->traces, (uint32_t)(member - team->member), head->kind, what, head->bytes);
        member->deadline_ns += member->deadline_ns != 0 ? records * RECORD_NS : 0;
        break;
    }
    case HOST_OUTPUT:
        writer_put(&team->output, what, head->bytes);
        member->untold += head->bytes;
        break;
    case HOST_CODE:
    case HOST_ENDED:
        if (head->bytes == sizeof ended) {
            memcpy(&ended, what, sizeof ended);
            int *code = ended.lost ? &team->code_of_loss : &team->code;
            *code = *code != 0 ? *code : (int)(ended.code & 0xff);
            member->stage = head->kind == HOST_ENDED ? HAS_ENDED : member->stage;
            if (ended.lost) {
                looks_stop(team->looks);
                hosts_after_ms(team, LAST_MS);
            }
        }
        break;
    }
}

/* Programs go on writing as long as not too much waits for whoever reads it. */
static void tell_written(struct team *team)
{
    for (uint32_t i = 0; team->started && writer_has_room(1) && i < team->count; i++) {
        uint32_t *untold = &team->member[i].untold;
        if (*untold >= HOST_OUTPUT_TOLD) {
            say(team, i, HOST_WRITTEN, untold, sizeof *untold);
            *untold = 0;
        }
    }
}

static void hear(struct team *team, struct member *member)
{
    if (member->closed) {
        host_has_gone(team, member);
        return;
    }
    int more = message_read(member->out, &member->said);
    const struct host_head *head;
    while ((head = message_there(&member->said)) != NULL) {
        hear_one(team, member, head);
        message_next(&member->said);
    }
    const struct host_head *next = (const void *)member->said.text;
    if (member->said.used >= sizeof *next && next->bytes > HOST_MESSAGE_MOST) {
        fprintf(stderr, "vicrun: host %s: what its vichost writes is none of its messages: does '%s' write to standard output?\n",
                member->host->name, team->options->launch_with);
        host_kill(member->pid);
        more = 0;
    }
    if (more == 0) {
        host_has_closed(team, member);
    }
}

static void pass_on(struct team *team)
{
    struct signalfd_siginfo info;
    if (read(team->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        uint32_t number = info.ssi_signo;
        team->signalled |= number != SIGUSR1 && number != SIGUSR2;
        if (team->started) {
            looks_signal(team->looks, number);
        } else {
            hosts_give_up(team, 128 + (int)number);
        }
    }
}

static void all_have_ended(struct team *team)
{
    team->ends = true;
    team->deadline_ns = 0;
    looks_stop(team->looks);
    tell_all(team, HOST_END, NULL, 0);
    for (uint32_t i = 0; i < team->count; i++) {
        team->member[i].deadline_ns = job_clock_ns() + (uint64_t)LAST_MS * 1000000;
    }
}

static void loop_hosts(struct team *team)
{
    struct pollfd *watched = team->watched;
    while (hosts_from(team, IS_GONE) < team->count) {
        uint64_t next_ns = hosts_deadline_ns(team);
        int64_t left = (int64_t)(next_ns - job_clock_ns());
        int ms = next_ns == 0 ? -1 : left > 0 ? (int)(left / 1000000) + 1 : 0;
        for (uint32_t i = 0; i < team->count; i++) {
            struct line_to_host *in = &team->member[i].in;
            watched[2 * i] = (struct pollfd){.fd = team->member[i].out, .events = POLLIN};
            watched[2 * i + 1] = (struct pollfd){.fd = line_waits(in) ? in->fd : -1, .events = POLLOUT};
        }
        watched[2 * team->count] = (struct pollfd){.fd = team->signals, .events = POLLIN};
        watched[2 * team->count + 1] = (struct pollfd){.fd = team->writers, .events = POLLIN};
        int ready = poll(watched, 2 * team->count + 2, ms);
        for (uint32_t i = 0; ready > 0 && i < team->count; i++) {
            if (watched[2 * i + 1].revents != 0 && !line_go_on(&team->member[i].in)) {
                line_close(&team->member[i].in);
            }
            if (watched[2 * i].revents != 0) {
                hear(team, &team->member[i]);
            }
        }
        writers_heard();
        pass_on(team);
        tell_written(team);
        hosts_look_at_deadlines(team);
        if (team->started && !team->ends && hosts_from(team, HAS_ENDED) == team->count) {
            all_have_ended(team);
        }
    }
}

/* Wait for whoever reads what the programs wrote; after a signal not for long. */
static int finish_output(struct team *team)
{
    while (!writers_done()) {
        writers_step(team->signals, team->signalled);
        pass_on(team);
    }
    return output_lost(team->output.error, "--hosts: output of the programs") && team->code == 0 ? 1 : team->code;
}

static void start_all(struct team *team, char **argv)
{
    hosts_after_ms(team, HOSTS_SETUP_MS);
    for (uint32_t i = 0; i < team->count; i++) {
        team->member[i] = (struct member){.host = &team->options->hosts.host[i], .out = -1, .stage = IS_GONE};
        line_open(&team->member[i].in, -1);
    }
    for (uint32_t i = 0; i < team->count && !team->gives_up; i++) {
        struct member *member = &team->member[i];
        member->pid = host_start(team->options->launch_with, team->vichost, member->host, &member->in, &member->out);
        member->stage = member->pid >= 0 ? STARTED : IS_GONE;
        if (member->pid < 0 || !host_greet(&member->in, team->options, i, team->key, argv)) {
            fprintf(stderr, "vicrun: host %s: --launch-with: %s\n", member->host->name, strerror(errno));
            hosts_give_up(team, 1);
        }
    }
}

int hosts_run(const struct options *options, char **argv)
{
    struct team team = {.options = options, .count = options->hosts.count, .writers = -1, .output = {.from = -1, .to = 1}};
    if (!host_program(team.vichost, "--hosts")) {
        return 2;
    }
    team.signals = take_signals();
    team.member = calloc(team.count, sizeof *team.member);
    team.address = calloc(team.count, sizeof *team.address);
    team.watched = calloc(2 * team.count + 2, sizeof *team.watched);
    team.looks = looks_make(options, say, &team);
    team.traces = options->trace != NULL ? traces_make(options) : NULL;
    const char *lacks = "no memory, or no random numbers";
    if (team.signals >= 0 && team.member != NULL && team.address != NULL && team.watched != NULL && argv != NULL && team.looks != NULL &&
        (options->trace == NULL || team.traces != NULL) && entropy_draw(team.key, sizeof team.key)) {
        lacks = NULL;
    }
    if (lacks != NULL) {
        fprintf(stderr, "vicrun: --hosts: %s\n", lacks);
        team.code = 1;
    } else {
        start_all(&team, argv);
        team.writers = writers_open(); /* no process is started any more */
        loop_hosts(&team);
        team.code = finish_output(&team);
        team.code = team.code != 0 ? team.code : team.code_of_loss;
    }
    looks_finish(team.looks, team.started);
    team.code = team.started ? traces_write(team.traces, team.code) : team.code;
    for (uint32_t i = 0; team.member != NULL && i < team.count; i++) {
        free(team.member[i].said.text);
    }
    free(team.member);
    free(team.address);
    free(team.watched);
    close(team.signals);
    return team.code;
}
