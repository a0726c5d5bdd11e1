/* The agent's thread. */
#define _GNU_SOURCE
#include "agent.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bell.h"
#include "thread.h"
#include "watch.h"

enum { YIELD_NS = 60 * 1000, LOOK_NS = 1000 * 1000, SLEEP_MS = 20, GOODBYE_NS = 100 * 1000 * 1000 };

/* The card in whose name the agent delivers. It has no memory, counters or FIFO that anybody uses. */
static void make_card(struct agent *agent)
{
    struct job *job = agent->job;
    job->start_ns = 0; /* see job_begin */
    job->config.fifo_drop = 0; /* senders have lost what is to be lost */
    agent->card = (struct vic){.job = job, .me = &job->card[job->first], .sram = job_sram(job, job->first),
                               .counters = job_counters(&job->config), .cards = job->config.cards,
                               .sram_words = job->config.sram_words,
                               .check = job->config.check || job_asked("VIC_CHECK"), .process = getpid(),
                               .ops = &functional_provider,
                               .watch = watch_of(&job->config, job->first) & (WATCH_STATS | WATCH_TRACE)};
    pthread_mutex_init(&agent->card.trace_lock, NULL);
}

static bool make_peer(struct agent *agent, uint32_t host)
{
    struct peer *peer = &agent->peer[host];
    const struct host *of = &agent->hosts->host[host];
    uint32_t here = agent->job->here;
    *peer = (struct peer){.host = host, .first = of->first, .here = of->cards};
    peer->opens_told = calloc(here, sizeof *peer->opens_told);
    peer->end_told = calloc(here, sizeof *peer->end_told);
    peer->room = calloc(here, sizeof *peer->room);
    peer->left = calloc(peer->here, sizeof *peer->left);
    peer->ended = calloc(peer->here, sizeof *peer->ended);
    peer->mark = calloc(agent->hosts->count, sizeof *peer->mark);
    peer->frame = host != agent->host ? calloc(2 * FRAMES, sizeof *peer->frame) : NULL;
    return peer->opens_told != NULL && peer->end_told != NULL && peer->room != NULL && peer->left != NULL &&
           peer->ended != NULL && peer->mark != NULL && (peer->frame != NULL || host == agent->host);
}

bool agent_make(struct agent *agent, struct job *job, const struct hosts *hosts, uint32_t host)
{
    agent->job = job;
    agent->hosts = hosts;
    agent->host = host;
    agent->launcher = -1;
    make_card(agent);
    agent->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    agent->peer = calloc(hosts->count, sizeof *agent->peer);
    agent->sender = calloc(job->here, sizeof *agent->sender);
    agent->inbox = calloc(job->here, sizeof *agent->inbox);
    agent->inside = calloc(job->config.cards, sizeof *agent->inside);
    agent->sent = calloc(job->config.cards, sizeof *agent->sent);
    bool good = agent->wake >= 0 && agent->peer != NULL && agent->sender != NULL && agent->inbox != NULL &&
                agent->inside != NULL && agent->sent != NULL;
    for (uint32_t i = 0; good && i < hosts->count; i++) {
        good = make_peer(agent, i);
    }
    for (uint32_t i = 0; good && i < job->here; i++) {
        struct sender *sender = &agent->sender[i];
        sender->frame = calloc(hosts->count, sizeof *sender->frame);
        sender->call_told = calloc(hosts->count, sizeof *sender->call_told);
        good = sender->frame != NULL && sender->call_told != NULL;
    }
    return good;
}

/* One round; returns whether anything moved. */
static bool pass(struct agent *agent)
{
    bool moved = stream_poll(agent);
    moved |= incoming_answers(agent);
    moved |= inbox_pass(agent);
    outgoing_answered(agent); /* after replies for FIFOs of this host are in them */
    moved |= outgoing_pass(agent);
    moved |= news_pass(agent);
    moved |= clocks_pass(agent);
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        stream_flush(agent, peer);
    }
    stream_confirm(agent, false);
    return moved;
}

static void say_bye(struct agent *agent)
{
    uint64_t end_ns = job_clock_ns() + GOODBYE_NS;
    for (struct peer *peer = NULL; (peer = next_living(agent, peer)) != NULL;) {
        uint64_t *at = stream_room(agent, peer, 1);
        if (at != NULL) {
            *at = record_word(RECORD_BYE, 0, 0);
            stream_flush(agent, peer);
        }
    }
    for (struct peer *peer = next_peer(agent, NULL); peer != NULL && job_clock_ns() < end_ns;) {
        peer = peer->hung_up || peer->queue == NULL ? next_peer(agent, peer) : peer;
        stream_poll(agent);
    }
}

static void *run(void *argument)
{
    struct agent *agent = argument;
    struct bell *bell = &agent->job->shared->agent;
    uint64_t moved_ns = job_clock_ns(), looked_ns = moved_ns;
    agent->looked_ns = moved_ns;
    while (!atomic_load(&agent->stop)) {
        bool moved = pass(agent);
        uint64_t now_ns = job_clock_ns();
        if (now_ns - looked_ns > LOOK_NS) {
            looked_ns = now_ns;
            stream_keep_alive(agent, now_ns);
        }
        if (moved) {
            moved_ns = now_ns;
        } else if (now_ns - moved_ns < YIELD_NS) {
            sched_yield();
        } else {
            stream_confirm(agent, true);
            bell_enter(bell);
            if (!pass(agent)) {
                stream_sleep(agent, SLEEP_MS);
            }
            moved_ns = job_clock_ns(); /* more may follow soon: yield for a while before the next sleep */
        }
    }
    if (!agent->deserts) {
        say_bye(agent);
    }
    return NULL;
}

/* Programs ring a futex. This thread writes to an eventfd then, as poll waits for that and the network at once. */
static void *wake_agent(void *argument)
{
    struct agent *agent = argument;
    struct bell *bell = &agent->job->shared->agent;
    uint32_t seen = atomic_load(&bell->rung);
    while (!atomic_load(&agent->stop)) {
        bell_sleep(bell, seen, UINT64_C(1000000000));
        uint32_t now = atomic_load(&bell->rung);
        uint64_t one = 1;
        if (now != seen && write(agent->wake, &one, sizeof one) < 0) {
            break;
        }
        seen = now;
    }
    return NULL;
}

bool agent_start(struct agent *agent)
{
    agent->runs = thread_start(&agent->waker, wake_agent, agent);
    if (agent->runs && !thread_start(&agent->thread, run, agent)) {
        atomic_store(&agent->stop, true);
        bell_wake(&agent->job->shared->agent);
        pthread_join(agent->waker, NULL);
        agent->runs = false;
    }
    return agent->runs;
}

void agent_stop(struct agent *agent)
{
    atomic_store(&agent->stop, true);
    if (agent->runs) {
        bell_wake(&agent->job->shared->agent);
        pthread_join(agent->thread, NULL);
        pthread_join(agent->waker, NULL);
        agent->runs = false;
    }
}

void agent_free(struct agent *agent)
{
    for (uint32_t i = 0; agent->peer != NULL && i < agent->hosts->count; i++) {
        struct peer *peer = &agent->peer[i];
        void *all[] = {peer->opens_told, peer->end_told, peer->room, peer->left, peer->ended, peer->frame, peer->answer,
                       peer->mark};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            free(all[k]);
        }
    }
    for (uint32_t i = 0; i < agent->job->here; i++) {
        if (agent->sender != NULL) {
            free(agent->sender[i].frame);
            free(agent->sender[i].call_told);
        }
        if (agent->inbox != NULL) {
            free(agent->inbox[i].held);
            free(agent->inbox[i].owed);
        }
    }
    free(agent->peer);
    free(agent->sender);
    free(agent->inbox);
    free(agent->inside);
    free(agent->sent);
}
