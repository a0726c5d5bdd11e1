/* vichost: one host of a job over several. vicrun starts it there by a command such as ssh and sends it the order; it runs the
 * programs of this host as vicrun would, and an agent for packets to and from other hosts. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "member.h"
#include "vic.h"

/* The first message of vicrun. After `hello` come texts that end with a 0 each: the name of this host, the folder, and the
 * words of the command line. */
struct order {
    struct host_hello hello;
    const char *name, *folder;
    char where[HOST_NAME + 10], serve[HOST_NAME + 110];
    char *text; /* all of it */
    char **argv;
    int argc;
};

static bool refuse(const struct order *order, const char *what)
{
    fprintf(stderr, "vicrun: host %s: %s\n", order->name, what);
    return false;
}

static bool read_order(struct member *member, struct order *order)
{
    const struct host_head *head = member_wait(member, HOST_HELLO);
    if (head == NULL || head->bytes <= sizeof order->hello) {
        fputs("vichost: is started by vicrun --hosts, on each of the hosts\n", stderr);
        return false;
    }
    char *text = order->text = calloc(1, head->bytes + 1);
    order->argv = calloc(head->bytes, sizeof *order->argv);
    if (text == NULL || order->argv == NULL) {
        return refuse(order, "no memory");
    }
    memcpy(text, head + 1, head->bytes);
    memcpy(&order->hello, text, sizeof order->hello);
    char *at = text + sizeof order->hello, *end = text + head->bytes;
    for (int i = 0; at < end; i++, at += strlen(at) + 1) {
        if (i == 0) {
            order->name = at;
        } else if (i == 1) {
            order->folder = at;
        } else {
            order->argv[order->argc++] = at;
        }
    }
    snprintf(order->where, sizeof order->where, "host %.*s: ", HOST_NAME, order->name);
    message_next(&member->said);
    order->hello.version[sizeof order->hello.version - 1] = 0;
    if (order->hello.layout != JOB_LAYOUT || !job_version_fits(order->hello.version)) {
        fprintf(stderr, "vicrun: host %s: has dvsim %s; the job was started by %s\n", order->name, VIC_VERSION,
                order->hello.version);
        return false;
    }
    if (order->argc == 0) {
        return refuse(order, "was told no command line");
    }
    if (chdir(order->folder) != 0) {
        fprintf(stderr, "vicrun: host %s: cannot go to the folder '%s': %s\n", order->name, order->folder, strerror(errno));
        return false;
    }
    return true;
}

static void order_free(struct order *order)
{
    free(order->text);
    free(order->argv);
}

/* Puts the name of this host in place of {host} in the path of --serve, as hosts may share folders. */
static void name_socket(struct order *order, struct options *options)
{
    const char *text = options->serve, *place = text != NULL ? strstr(text, "{host}") : NULL;
    if (place != NULL) {
        snprintf(order->serve, sizeof order->serve, "%.*s%s%s", (int)(place - text), text, order->name, place + 6);
        options->serve = order->serve;
    }
}

/* Reads the options, and keeps of the job the share of this host. -1, or an exit code after saying what is wrong. */
static int read_options(struct order *order, struct options *options)
{
    int code = options_read(order->argc, order->argv, options);
    if (code != -1) {
        return code;
    }
    if (order->hello.host >= options->hosts.count) {
        refuse(order, "is not one of the job's");
        return 1;
    }
    name_socket(order, options);
    const struct host *own = &options->hosts.host[order->hello.host];
    struct job_config share = options->job;
    options->job.hosts = options->hosts.count;
    options->job.first = own->first;
    options->job.here = share.cards = own->cards;
    return memory_check(&share, order->where); /* pages of other hosts' cards are never touched */
}

/* Connects with all other hosts and waits for the start. False: the job cannot begin; the reason has been said. */
static bool connect_all(struct member *member, struct launch *launch, const struct order *order)
{
    const struct options *options = launch->options;
    struct agent *agent = &member->agent;
    struct host_address own = {0};
    memcpy(agent->key, order->hello.key, sizeof agent->key);
    agent->silence_ns = options->host_timeout_ns;
    if (!agent_make(agent, launch->job, &options->hosts, order->hello.host)) {
        return refuse(order, "no memory");
    }
    if (!fabric_listen(agent, order->name, options->interface, &own) ||
        !member_say(member, HOST_ADDRESS, &own, sizeof own)) {
        return false;
    }
    const struct host_head *head = member_wait(member, HOST_PEERS);
    if (head == NULL || head->bytes != options->hosts.count * sizeof own) {
        return false; /* something went wrong on another host, which has been said there */
    }
    agent->launcher = member->from;
    bool good = fabric_connect(agent, (const void *)(head + 1), member->from);
    message_next(&member->said);
    launch->writers = writers_open(); /* before there are threads that say something */
    if (good && !agent_start(agent)) {
        return refuse(order, "no thread for its agent");
    }
    if (good && launch->job->config.trace_records > 0) {
        clocks_measure(agent);
        clocks_wait(agent, &member->begin);
    }
    if (!good || !member_say(member, HOST_READY, NULL, 0) || (head = member_wait(member, HOST_START)) == NULL) {
        return false;
    }
    message_next(&member->said);
    return true;
}

static int host_run(struct member *member, struct launch *launch, int signals)
{
    const struct job_config *job = &launch->job->config;
    atomic_store(&member->agent.all_run, true);
    member->agent.deserts = true; /* until all hosts end */
    job_begin(launch->job);
    launch->job->shared->start_ns = launch->job->start_ns; /* the very value that goes into HOST_CLOCK */
    int code = children_start(launch, job->first, job->here);
    if (code == -1) {
        launch->held = true;
        loop(launch, signals);
        member->agent.deserts = launch->held; /* it gave up */
        member_last_output(member); /* HOST_WRITTEN is not read any more */
        agent_stop(&member->agent); /* now all that came from other hosts is in the trace */
        launch_finish(launch, signals);
        code = launch->code;
    }
    return code;
}

int main(void)
{
    struct member member = {.from = -1};
    struct order order = {.name = "?"};
    struct options options;
    launch_have_streams();
    int signals = take_signals();
    if (signals < 0 || !member_open(&member)) {
        fprintf(stderr, "vichost: cannot begin: %s\n", strerror(errno));
        return 1;
    }
    member_say(&member, HOST_HERE, NULL, 0); /* nobody hears it: the order does not come */
    int code = read_order(&member, &order) ? read_options(&order, &options) : 1;
    if (code != -1) {
        member_close(&member);
        order_free(&order);
        return code;
    }
    struct launch launch = {.options = &options, .socket = -1, .core = -1, .writers = -1, .stats_fd = -1,
                            .member = &member, .where = order.where, .boss = member.from, .hear = member_hear, .due = member_due,
                            .hand_over = member_results};
    code = launch_prepare(options.job.here, HOST_DESCRIPTORS, order.where);
    code = code == -1 ? launch_make(&launch) : code;
    code = code == -1 ? serve_open(&launch) : code;
    if (code == -1) {
        code = connect_all(&member, &launch, &order) ? host_run(&member, &launch, signals) : 1;
        writers_finish(&launch, signals);
        agent_stop(&member.agent);
        fabric_close(&member.agent);
        agent_free(&member.agent);
    }
    serve_close(&launch);
    member_close(&member);
    free(launch.child);
    options_free(&options);
    order_free(&order);
    return code;
}
