/* Frames to and from other hosts, over an endpoint of libfabric each. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "agent.h"
#include "bell.h"

enum { COMPLETIONS = 16, CONFIRM = WINDOW / 4, BEATS = 8 /* signs of life in the time after which a host is lost */,
       SOON_NS = 20 * 1000 * 1000, AT_ONCE_NS = 100 * 1000 * 1000 };

bool stream_begin(struct peer *peer)
{
    for (int i = 0; i < 2 * FRAMES; i++) {
        struct frame *frame = &peer->frame[i];
        frame->peer = peer;
        frame->comes = i >= FRAMES;
        if (!frame->comes) {
            frame->next = peer->idle;
            peer->idle = frame;
        } else if (fi_recv(peer->end, frame->word, sizeof frame->word, NULL, 0, frame) != 0) {
            return false;
        }
    }
    peer->last = &peer->queue;
    peer->most = FRAME_LEAST;
    return true;
}

static void peer_lost(struct peer *peer, const char *why)
{
    if (peer->hung_up) {
        return;
    }
    peer->hung_up = true;
    fi_shutdown(peer->end, 0);
    snprintf(peer->why, sizeof peer->why, "%s", why);
    peer->lost_ns = job_clock_ns();
}

/* Its cards have died, unless the job has ended. If vicrun is killed, so are the agents that it has started, and this host
 * may hear of that in any order: it takes a moment to see which it is. */
static void bury(struct agent *agent, struct peer *peer)
{
    struct pollfd launcher = {.fd = agent->launcher, .events = POLLRDHUP};
    peer->lost_ns = 0;
    if (peer->bye || atomic_load(&agent->stop) || poll(&launcher, 1, 0) > 0 || atomic_load(&agent->job->shared->poison) == JOB_OVER) {
        return;
    }
    if (atomic_load(&agent->job->shared->poison) == 0) {
        fprintf(stderr, "vicrun: host %s: host %s %s: the job ends\n", agent->hosts->host[agent->host].name,
                agent->hosts->host[peer->host].name, peer->why);
    }
    atomic_store(&agent->lost, true);
    for (uint32_t i = 0; i < peer->here; i++) {
        atomic_store(&agent->job->card[peer->first + i].end, CARD_DIED);
    }
    news_poison(agent, peer->first);
}

/* Give libfabric the frames that wait. Those for which it has no room now go on waiting. */
static void hand_over(struct peer *peer)
{
    while (peer->queue != NULL && !peer->hung_up) {
        struct frame *frame = peer->queue;
        ssize_t status = fi_send(peer->end, frame->word, frame->used * sizeof *frame->word, NULL, 0, frame);
        if (status == -FI_EAGAIN) {
            return;
        }
        if (status != 0) {
            peer_lost(peer, "cannot be reached any more");
            return;
        }
        peer->queue = frame->next;
        if (peer->queue == NULL) {
            peer->last = &peer->queue;
        }
    }
}

/* Returns an empty frame, or NULL if all are on their way. */
static struct frame *take_idle(struct peer *peer)
{
    struct frame *frame = peer->idle;
    if (frame != NULL && !peer->hung_up) {
        peer->idle = frame->next;
        frame->next = NULL;
        frame->used = FRAME_HEAD;
        return frame;
    }
    return NULL;
}

static void go(struct agent *agent, struct peer *peer, struct frame *frame, bool counts)
{
    peer->came_told = peer->came;
    peer->spoke_ns = job_clock_ns();
    peer->replied_told = incoming_replied(agent, peer);
    frame->word[0] = peer->came;
    frame->word[1] = peer->replied_told;
    frame->word[2] = counts;
    peer->sent += counts;
    *peer->last = frame;
    peer->last = &frame->next;
    hand_over(peer);
}

void stream_flush(struct agent *agent, struct peer *peer)
{
    struct frame *frame = peer->open;
    if (frame != NULL) {
        peer->open = NULL;
        peer->packets = NULL;
        go(agent, peer, frame, true);
    }
    hand_over(peer);
}

/* Frames grow while full ones are confirmed soon: each costs both agents some time. Over a slow link they stay short, since
 * a host is heard of only when a frame has come as a whole. */
static void fit_frames(struct peer *peer)
{
    if (peer->timed == 0 || peer->confirmed < peer->timed) {
        return;
    }
    if (job_clock_ns() - peer->timed_ns > SOON_NS) {
        peer->most = FRAME_LEAST;
    } else if (peer->most < FRAME_WORDS) {
        peer->most *= 2;
    }
    peer->timed = 0;
}

uint64_t *stream_room(struct agent *agent, struct peer *peer, size_t words)
{
    if (peer->open != NULL && peer->open->used + words > peer->most) {
        if (peer->timed == 0) {
            peer->timed = peer->sent + 1;
            peer->timed_ns = job_clock_ns();
        }
        stream_flush(agent, peer);
    }
    if (peer->open == NULL) {
        peer->open = peer->sent - peer->confirmed < WINDOW ? take_idle(peer) : NULL;
    }
    if (peer->open == NULL) {
        return NULL;
    }
    uint64_t *at = peer->open->word + peer->open->used;
    peer->open->used += words;
    peer->packets = NULL;
    return at;
}

/* Sends a frame without records: it confirms, and shows that this host lives. */
static void send_head(struct agent *agent, struct peer *peer)
{
    struct frame *frame = peer->open == NULL ? take_idle(peer) : NULL;
    if (frame != NULL) {
        go(agent, peer, frame, false);
    }
}

void stream_confirm(struct agent *agent, bool all)
{
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        bool much = peer->came - peer->came_told >= (all ? 1 : CONFIRM);
        if (much || (all && incoming_replied(agent, peer) != peer->replied_told)) {
            send_head(agent, peer);
        }
    }
}

static void look_for_ends(struct agent *agent)
{
    struct fi_eq_cm_entry entry;
    uint32_t event;
    ssize_t n = fi_eq_read(agent->news, &event, &entry, sizeof entry, 0);
    if (n > 0 && event == FI_CONNREQ) { /* it came just before the listener was closed */
        fi_freeinfo(entry.info);
        return;
    }
    if (n == -FI_EAVAIL) {
        struct fi_eq_err_entry error = {0};
        fi_eq_readerr(agent->news, &error, 0);
        return;
    }
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        if (n > 0 && event == FI_SHUTDOWN && &peer->end->fid == entry.fid) {
            peer_lost(peer, "has hung up");
        }
    }
}

/* A host of which nothing has been heard for too long is lost. It is not if this host did not run meanwhile. */
void stream_keep_alive(struct agent *agent, uint64_t now_ns)
{
    uint64_t beat_ns = agent->silence_ns / BEATS;
    bool slept = now_ns - agent->looked_ns > agent->silence_ns / 2;
    agent->looked_ns = now_ns;
    look_for_ends(agent);
    for (struct peer *peer = NULL; (peer = next_peer(agent, peer)) != NULL;) {
        if (peer->lost_ns != 0 && now_ns > peer->lost_ns + AT_ONCE_NS) {
            bury(agent, peer);
        }
    }
    for (struct peer *peer = NULL; (peer = next_living(agent, peer)) != NULL;) {
        if (now_ns - peer->spoke_ns > beat_ns) {
            send_head(agent, peer);
        }
        if (peer->heard_ns != 0 ? slept : atomic_load(&agent->all_run)) {
            peer->heard_ns = now_ns;
        }
        if (peer->heard_ns != 0 && now_ns - peer->heard_ns > agent->silence_ns && now_ns > peer->heard_ns) {
            char why[80];
            snprintf(why, sizeof why, "has not been heard of for %.0f ms", (double)agent->silence_ns / 1e6);
            peer_lost(peer, why);
        }
    }
}

static void frame_came(struct agent *agent, struct frame *frame, size_t bytes)
{
    struct peer *peer = frame->peer;
    frame->used = bytes / sizeof *frame->word;
    bool good = frame->used >= FRAME_HEAD && frame->word[0] <= peer->sent && frame->word[0] >= peer->confirmed &&
                frame->word[1] <= frame->word[0] && frame->word[1] >= peer->answered;
    peer->heard_ns = job_clock_ns();
    if (good) {
        peer->confirmed = frame->word[0];
        fit_frames(peer);
        good = incoming_frame(agent, peer, frame);
    }
    if (good && frame->word[1] != peer->answered) { /* after the replies, which may be in this very frame */
        peer->answered = frame->word[1];
        agent->answers = true;
    }
    peer->came += good && frame->word[2] != 0;
    if (!good) {
        peer_lost(peer, "sends what no agent sends");
    } else if (!peer->hung_up && fi_recv(peer->end, frame->word, sizeof frame->word, NULL, 0, frame) != 0) {
        peer_lost(peer, "cannot be heard any more");
    }
}

static void completion_failed(struct agent *agent)
{
    struct fi_cq_err_entry error = {0};
    if (fi_cq_readerr(agent->done, &error, 0) > 0 && error.op_context != NULL) {
        peer_lost(((struct frame *)error.op_context)->peer, "has hung up");
    }
}

bool stream_poll(struct agent *agent)
{
    struct fi_cq_msg_entry entry[COMPLETIONS];
    bool moved = false;
    ssize_t n = fi_cq_read(agent->done, entry, COMPLETIONS);
    if (n == -FI_EAVAIL) {
        completion_failed(agent);
        moved = true;
    }
    for (ssize_t i = 0; i < n; i++) {
        struct frame *frame = entry[i].op_context;
        struct peer *peer = frame->peer;
        moved = true;
        if (frame->comes) {
            frame_came(agent, frame, entry[i].len);
            continue;
        }
        frame->next = peer->idle;
        peer->idle = frame;
    }
    return moved;
}

void stream_sleep(struct agent *agent, int ms)
{
    look_for_ends(agent); /* with an unread event poll would return at once */
    struct fid *both[] = {&agent->done->fid, &agent->news->fid};
    struct pollfd watched[3] = {{.fd = -1}, {.fd = -1}, {.fd = agent->wake, .events = POLLIN}};
    for (int i = 0; i < 2; i++) {
        fi_control(both[i], FI_GETWAIT, &watched[i].fd);
        watched[i].events = POLLIN;
    }
    if (fi_trywait(agent->fabric, both, 2) == FI_SUCCESS) {
        poll(watched, 3, ms);
    }
    uint64_t times;
    if (watched[2].revents != 0 && read(agent->wake, &times, sizeof times) < 0) {
        return;
    }
}
