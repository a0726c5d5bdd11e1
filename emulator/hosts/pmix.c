/* A host of a job that a PMIx launcher has started: srun, prun, mpirun. Each of its processes is a host. By PMIx they tell each
 * other the key of the job, where they listen and when all have ended; none of them directs the others. */
#define _GNU_SOURCE
#include <stdio.h>

#include "member.h"

#ifndef DVSIM_PMIX
int pmix_run(int argc, char **argv, int signals)
{
    (void)argc, (void)argv, (void)signals;
    fputs("vicrun: --pmix: this one was built without PMIx: install libpmix-dev, then dvsim once more\n", stderr);
    return 2;
}
#else
#include <pmix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "entropy.h"
#include "vic.h"

enum {
    MEET_S = 9, /* for all hosts to come to a fence: what keeps a job from beginning is to be said within 10 s */
    PATIENCE_MS = 2000
};
static const char place[] = "dvsim.host";

/* What each tells all others. `hello` is the same in all versions, so that another version can be named. */
struct card_of_host {
    struct host_hello hello; /* the key of the job is that of rank 0 */
    uint32_t cards;
    struct host_address address;
    char name[HOST_NAME];
};

struct meeting {
    pmix_proc_t self;
    struct member member;
    struct hosts hosts;
    char where[HOST_NAME + 10];
    struct host_address *address;
    int event;               /* an eventfd: written to when `over` or `gone` becomes true */
    _Atomic bool over, gone; /* the programs of all hosts have ended; the launcher has */
    bool asked;
    uint64_t asked_ns;
};

static struct meeting meeting = {.event = -1};

static void complain(const char *what, pmix_status_t status)
{
    const struct hosts *hosts = &meeting.hosts;
    bool failed = status != PMIX_SUCCESS;
    fprintf(stderr, "vicrun: host %s: --pmix: %s%s%s\n", hosts->count > 0 ? hosts->host[meeting.member.agent.host].name : "?", what,
            failed ? ": " : "", failed ? PMIx_Error_string(status) : "");
}

/* Says why this host gives up, and lets the launcher end all others. Returns the exit code. */
static int give_up(const char *what, pmix_status_t status)
{
    if (what != NULL) {
        complain(what, status);
    }
    PMIx_Abort(1, "vicrun: the job ends", NULL, 0);
    return 1;
}

static pmix_status_t fence(bool data)
{
    pmix_info_t info[2];
    pmix_proc_t all;
    int seconds = MEET_S;
    PMIX_LOAD_PROCID(&all, meeting.self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info[0], PMIX_COLLECT_DATA, &data, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    return PMIx_Fence(&all, 1, info, 2);
}

static bool count_hosts(uint32_t *count)
{
    pmix_proc_t all;
    pmix_value_t *value = NULL;
    PMIX_LOAD_PROCID(&all, meeting.self.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS || value->type != PMIX_UINT32) {
        return false;
    }
    *count = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return *count > 0 && *count <= HOSTS_MOST && meeting.self.rank < *count;
}

static pmix_status_t tell(const struct card_of_host *own)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    value.data.bo.bytes = (char *)(uintptr_t)own;
    value.data.bo.size = sizeof *own;
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, place, &value);
    status = status == PMIX_SUCCESS ? PMIx_Commit() : status;
    return status == PMIX_SUCCESS ? fence(true) : status;
}

static bool ask(uint32_t rank, struct card_of_host *other)
{
    pmix_proc_t process;
    pmix_value_t *value = NULL;
    PMIX_LOAD_PROCID(&process, meeting.self.nspace, rank);
    bool good = PMIx_Get(&process, place, NULL, 0, &value) == PMIX_SUCCESS && value->type == PMIX_BYTE_OBJECT;
    size_t bytes = good ? value->data.bo.size : 0;
    memset(other, 0, sizeof *other);
    if (bytes >= sizeof other->hello) {
        memcpy(other, value->data.bo.bytes, bytes < sizeof *other ? bytes : sizeof *other);
    }
    if (value != NULL) {
        PMIX_VALUE_RELEASE(value);
    }
    other->hello.version[sizeof other->hello.version - 1] = other->name[sizeof other->name - 1] = 0;
    return bytes >= sizeof other->hello;
}

/* Gets what all hosts have told. False, after saying what is wrong with one of them. */
static bool ask_all(uint32_t count)
{
    struct hosts *hosts = &meeting.hosts;
    struct card_of_host other;
    for (uint32_t i = 0; i < count; i++) {
        if (!ask(i, &other)) {
            fprintf(stderr, "vicrun: --pmix: process %u has not said where it is: is it `vicrun --pmix`, too?\n", i);
            return false;
        }
        if (other.hello.layout != JOB_LAYOUT || !job_version_fits(other.hello.version)) {
            fprintf(stderr, "vicrun: host %s: has dvsim %s; process %u has %s\n",
                    hosts->host[meeting.self.rank].name, VIC_VERSION, i, other.hello.version);
            return false;
        }
        struct host *host = &hosts->host[i];
        host->first = hosts->cards;
        host->cards = other.cards;
        snprintf(host->name, sizeof host->name, "%.200s", other.name);
        for (uint32_t k = 0; k < i && i != meeting.self.rank; k++) {
            if (strcmp(hosts->host[k].name, host->name) == 0) { /* several on one machine */
                snprintf(host->name, sizeof host->name, "%.200s, process %u", other.name, i);
            }
        }
        if (other.cards == 0 || other.cards > MOST_CARDS - hosts->cards) {
            fprintf(stderr, "vicrun: --pmix: the hosts together have more than %d cards\n", MOST_CARDS);
            return false;
        }
        hosts->cards += other.cards;
        meeting.address[i] = other.address;
        if (i == 0) {
            memcpy(meeting.member.agent.key, other.hello.key, HOSTS_KEY);
        }
    }
    return true;
}

/* Keeps of the job the share of this host. */
static void take_share(struct options *options)
{
    const struct host *own = &meeting.hosts.host[meeting.self.rank];
    for (uint32_t i = 0; i < options->programs; i++) {
        options->program[i].first += own->first;
    }
    options->job.cards = meeting.hosts.cards;
    options->job.hosts = meeting.hosts.count;
    options->job.first = own->first;
    options->job.here = own->cards;
}

static void wake(_Atomic bool *why)
{
    *why = true;
    eventfd_write(meeting.event, 1);
}

static void all_ended(pmix_status_t status, void *nothing)
{
    (void)nothing;
    wake(status == PMIX_SUCCESS ? &meeting.over : &meeting.gone);
}

static void launcher_gone(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t n,
                          pmix_info_t results[], size_t m, pmix_event_notification_cbfunc_fn_t done, void *context)
{
    (void)id, (void)source, (void)info, (void)n, (void)results, (void)m;
    wake(&meeting.gone);
    if (done != NULL) {
        done(status, NULL, 0, NULL, NULL, context);
    }
}

static void hear(struct launch *launch)
{
    eventfd_t times;
    eventfd_read(meeting.event, &times);
    launch->held = launch->held && !meeting.over && !meeting.gone;
    if (meeting.gone && launch->running + launch->waiting > 0) {
        launch->signalled = true;
        launch->code = launch->code != 0 ? launch->code : 1;
        children_signal(launch, SIGKILL);
    }
}

/* When the programs of this host have ended it waits for all others, unless one of them is lost. */
static int due(struct launch *launch)
{
    bool lost = atomic_load(&meeting.member.agent.lost);
    if (launch->running + launch->waiting > 0) {
        return -1;
    }
    launch->code = lost && launch->code == 0 ? 1 : launch->code;
    if (!meeting.asked) {
        pmix_proc_t all;
        PMIX_LOAD_PROCID(&all, meeting.self.nspace, PMIX_RANK_WILDCARD);
        meeting.asked = true;
        meeting.asked_ns = job_clock_ns();
        if (PMIx_Fence_nb(&all, 1, NULL, 0, all_ended, NULL) != PMIX_SUCCESS) {
            launch->held = false;
        }
    }
    if (lost && job_clock_ns() - meeting.asked_ns > (uint64_t)PATIENCE_MS * 1000000) {
        meeting.gone = true;
        launch->held = false;
    }
    return PATIENCE_MS / 4;
}

static int take_part(struct options *options, int signals)
{
    struct agent *agent = &meeting.member.agent;
    struct launch launch = {.options = options, .socket = -1, .core = -1, .writers = -1, .stats_fd = -1,
                            .member = &meeting.member, .where = meeting.where, .boss = meeting.event, .hear = hear, .due = due};
    launch_prepare(options->job.here);
    int code = launch_make(&launch);
    if (code != -1 || !agent_make(agent, launch.job, &meeting.hosts, agent->host)) {
        return give_up(code == -1 ? "no memory" : NULL, PMIX_SUCCESS);
    }
    if (!fabric_connect(agent, meeting.address, -1)) {
        return give_up(NULL, PMIX_SUCCESS);
    }
    launch.writers = writers_open(); /* before there are threads that say something */
    if (!agent_start(agent)) {
        return give_up(NULL, PMIX_SUCCESS);
    }
    pmix_status_t status = fence(false);
    if (status != PMIX_SUCCESS) {
        complain("not all hosts could connect", status);
        writers_finish(&launch, signals);
        return give_up(NULL, PMIX_SUCCESS);
    }
    code = host_run(&meeting.member, &launch, signals);
    writers_finish(&launch, signals);
    agent_stop(agent);
    fabric_close(agent);
    agent_free(agent);
    free(launch.child);
    if (meeting.gone) {
        give_up(NULL, PMIX_SUCCESS);
    }
    return code;
}

/* Does all that comes before the memory of the job: listens, and gets to know the other hosts. -1, or an exit code after saying
 * what is wrong. */
static int meet(struct options *options)
{
    struct agent *agent = &meeting.member.agent;
    struct card_of_host own = {.hello = {.version = VIC_VERSION, .layout = JOB_LAYOUT}, .cards = options->job.cards};
    uint32_t count;
    pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION};
    pmix_status_t status = PMIx_Init(&meeting.self, NULL, 0);
    if (status != PMIX_SUCCESS || getenv("PMIX_RANK") == NULL) {
        fprintf(stderr, "vicrun: --pmix: no launcher that speaks PMIx has started this (srun --mpi=pmix, prun, mpirun)\n");
        return 2;
    }
    meeting.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    PMIx_Register_event_handler(codes, 1, NULL, 0, launcher_gone, NULL, NULL);
    gethostname(own.name, sizeof own.name - 1);
    if (meeting.event < 0 || !count_hosts(&count) || !entropy_draw(own.hello.key, HOSTS_KEY)) {
        return give_up("it does not say how many processes there are", PMIX_SUCCESS);
    }
    meeting.hosts.host = calloc(count, sizeof *meeting.hosts.host);
    meeting.address = calloc(count, sizeof *meeting.address);
    if (meeting.hosts.host == NULL || meeting.address == NULL) {
        return give_up("no memory", PMIX_SUCCESS);
    }
    meeting.hosts.count = count;
    agent->hosts = &meeting.hosts;
    agent->host = own.hello.host = meeting.self.rank;
    agent->silence_ns = options->host_timeout_ns;
    snprintf(meeting.hosts.host[agent->host].name, HOST_NAME, "%s", own.name);
    if (!fabric_listen(agent, own.name, options->interface, &own.address)) {
        return give_up(NULL, PMIX_SUCCESS);
    }
    status = tell(&own);
    if (status != PMIX_SUCCESS) {
        return give_up("the hosts could not tell each other where they are", status);
    }
    if (!ask_all(count)) {
        return give_up(NULL, PMIX_SUCCESS);
    }
    struct job_config share = options->job;
    snprintf(meeting.where, sizeof meeting.where, "host %s: ", meeting.hosts.host[agent->host].name);
    int code = memory_check(&share, meeting.where); /* pages of other hosts' cards are never touched */
    take_share(options);
    return code == -1 ? -1 : give_up(NULL, PMIX_SUCCESS);
}

int pmix_run(int argc, char **argv, int signals)
{
    struct options options;
    int code = options_read(argc, argv, &options);
    if (code == -1) {
        code = meet(&options);
        code = code == -1 ? take_part(&options, signals) : code;
        if (!meeting.gone && PMIx_Initialized()) {
            PMIx_Finalize(NULL, 0);
        }
        free(meeting.hosts.host);
        free(meeting.address);
    }
    options_free(&options);
    return code;
}
#endif
