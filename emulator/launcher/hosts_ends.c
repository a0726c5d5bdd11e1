/* hosts_ends.c: hosts of a job that have gone, are late, or are given up. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hosts_team.h"

enum { GIVE_UP_MS = 2000, GONE_NS = 1000 * 1000 * 1000 };

uint32_t hosts_from(const struct team *team, enum stage stage)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < team->count; i++) {
        count += team->member[i].stage >= stage;
    }
    return count;
}

void hosts_after_ms(struct team *team, int ms)
{
    uint64_t then = job_clock_ns() + (uint64_t)ms * 1000000;
    team->deadline_ns = team->deadline_ns == 0 || then < team->deadline_ns ? then : team->deadline_ns;
}

/* The hosts end what they have started when nobody speaks to them any more. */
void hosts_give_up(struct team *team, int code)
{
    team->code = team->code != 0 ? team->code : code;
    looks_stop(team->looks);
    if (!team->gives_up) {
        team->gives_up = true;
        team->deadline_ns = 0;
        hosts_after_ms(team, GIVE_UP_MS);
        for (uint32_t i = 0; i < team->count; i++) {
            line_close(&team->member[i].in);
        }
    }
}

static void close_lines(struct team *team, struct member *member)
{
    if (member->out >= 0) {
        close(member->out);
    }
    member->out = -1;
    line_close(&member->in);
    looks_stop(team->looks);
}

/* The command has ended; before its programs had, that is what is wrong. */
void host_has_gone(struct team *team, struct member *member)
{
    bool early = member->stage < HAS_ENDED;
    close_lines(team, member);
    int code = host_code(member->pid);
    bool named = team->started && (code == 126 || code == 127); /* by vichost: a program that it cannot run */
    if (early && !team->gives_up && !named) {
        fprintf(stderr, "vicrun: host %s: its vichost, %s, started by '%s', ended with exit code %d%s\n", member->host->name,
                team->vichost, team->options->launch_with, code,
                team->started ? " while its programs ran" : " before the programs could run");
        if (!team->started) {
            hosts_give_up(team, code != 0 ? code : 1);
        }
    }
    team->code = team->code != 0 ? team->code : code != 0 ? code : early;
    member->stage = IS_GONE;
}

/* The command has closed its output: it has a second to end. */
void host_has_closed(struct team *team, struct member *member)
{
    close_lines(team, member);
    member->closed = true;
    member->deadline_ns = job_clock_ns() + GONE_NS;
    member->out = (int)syscall(SYS_pidfd_open, member->pid, 0);
    if (member->out < 0) {
        host_has_gone(team, member);
    }
}

void host_end(struct team *team, struct member *member)
{
    host_kill(member->pid);
    host_has_gone(team, member);
}

uint64_t hosts_deadline_ns(struct team *team)
{
    uint64_t next_ns = team->deadline_ns, looks_ns = looks_due(team->looks);
    next_ns = looks_ns != 0 && (next_ns == 0 || looks_ns < next_ns) ? looks_ns : next_ns;
    for (uint32_t i = 0; i < team->count; i++) {
        uint64_t one_ns = team->member[i].stage != IS_GONE ? team->member[i].deadline_ns : 0;
        next_ns = one_ns != 0 && (next_ns == 0 || one_ns < next_ns) ? one_ns : next_ns;
    }
    return next_ns;
}

/* Too late: who has not come, or does not end. Hosts that are there are left more time once. */
static void too_late(struct team *team)
{
    enum stage due = hosts_from(team, HAS_ADDRESS) < team->count ? HAS_ADDRESS : IS_READY;
    due = hosts_from(team, IS_HERE) < team->count ? IS_HERE : due;
    team->deadline_ns = 0;
    if (!team->started && !team->gives_up && !team->slow && due != IS_HERE) {
        team->slow = true;
        hosts_after_ms(team, HOSTS_SLOW_MS - HOSTS_SETUP_MS);
        return;
    }
    const bool begins = !team->started && !team->gives_up;
    hosts_give_up(team, 1);
    for (uint32_t i = 0; i < team->count; i++) {
        struct member *member = &team->member[i];
        bool late = begins && member->stage < due;
        if (late) {
            fprintf(stderr, "vicrun: host %s: %s in %d s, started by '%s'\n", member->host->name,
                    due == IS_HERE ? "has not answered" : "is there, but was not ready",
                    (team->slow ? HOSTS_SLOW_MS : HOSTS_SETUP_MS) / 1000, team->options->launch_with);
        }
        if (member->stage != IS_GONE && (late || !begins)) {
            host_end(team, member);
        }
    }
}

/* A host that only talks is late, too. */
void hosts_look_at_deadlines(struct team *team)
{
    uint64_t now_ns = job_clock_ns();
    if (team->deadline_ns != 0 && now_ns >= team->deadline_ns) {
        too_late(team);
    }
    for (uint32_t i = 0; i < team->count; i++) {
        struct member *member = &team->member[i];
        bool silent = looks_give_up(team->looks, i), late = member->deadline_ns != 0 && now_ns >= member->deadline_ns;
        if (member->stage != IS_GONE && late && member->closed) {
            fprintf(stderr, "vicrun: host %s: '%s' has closed its standard output and does not end: it is killed\n",
                    member->host->name, team->options->launch_with);
            team->code = team->code != 0 ? team->code : 1;
            host_end(team, member);
        } else if (member->stage != IS_GONE && (silent || late)) { /* the others are left the time that they have */
            fprintf(stderr, "vicrun: host %s: its vichost has not %s: it is given up\n", member->host->name,
                    late ? "ended 10 s after all programs had" : "answered in 10 s after a signal");
            team->code = team->code != 0 ? team->code : 1;
            host_end(team, member);
        }
    }
}
