/* agent.h: what carries packets between the hosts of a job: one agent on each, a thread of vichost.
 *
 * Programs write what leaves the host to rings in the memory of the job (functional/remote.h). The agent gathers it in
 * frames, one stream of them to each other host, and the agent there does with them what a program of that host would have
 * done: words into SRAM, counters down, words into FIFOs, queries answered. Nobody else links libfabric.
 *
 * An agent takes whatever comes, at once, so that two of them never wait for each other: frames whose arrival has not been
 * confirmed are limited, answers to queries wait in an array, and of the words for a FIFO only as many are sent as it has
 * room for. What has been taken out of a FIFO is room for its senders again.
 */
#ifndef VICHOST_AGENT_H
#define VICHOST_AGENT_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "functional/remote.h"
#include "hosts.h"

enum {
    FRAME_WORDS = 16384,
    FRAME_HEAD = 3, /* how many frames of the other have been taken, and of these answered too (peer.replied); whether this one counts */
    WINDOW = 8, /* frames that count and have not been confirmed */
    FRAMES = WINDOW + 8
};

struct peer;

/* ... so many replies have gone, the last of them in that frame, which it has confirmed. */
struct reply_mark {
    uint64_t asked, frame; /* frame: UINT64_MAX: not all have gone */
};

struct frame {
    struct peer *peer;
    struct frame *next;
    bool comes; /* else it goes */
    size_t used;
    uint64_t word[FRAME_WORDS];
};

/* Another host. */
struct peer {
    uint32_t host, first, here;
    struct fid_ep *end;
    bool connected, hung_up, bye;
    struct frame *frame;         /* all of them, those that come behind those that go */
    struct frame *idle, *open;   /* that go: unused; being filled */
    struct frame *queue, **last; /* that could not be handed over yet */
    uint64_t *packets;           /* in the open frame: the head of its last record, if that is of packets */
    uint64_t sent, confirmed;    /* frames that count */
    uint64_t came, told;         /* frames that count, of the other: taken, and confirmed */
    uint64_t replied, replied_told; /* of those that came: all replies to queries in them have come, but for those in frames to it */
    uint64_t answered;           /* of those that were sent: so it is with them, and those for this host are here */
    uint64_t heard_ns, spoke_ns; /* heard_ns 0: nothing yet */
    uint64_t *answer;            /* headers and payloads of queries' replies that wait */
    size_t answers, answer_room;
    uint64_t asked, gone, gone_frame; /* how many were ever to go to it, have gone in frames, and the last of these */
    uint64_t marked;             /* of those that came: up to here they are answered when to each host, in `mark`, ... */
    struct reply_mark *mark;
    uint64_t *opens_told;        /* what it has been told of the cards of this host */
    uint32_t *end_told, *room;   /* room: to be told */
    uint32_t *left;              /* of its own cards, RECORD_LEAVE to be answered; 0: none */
    bool *ended;                 /* its cards whose programs have ended, but words of theirs wait for room here */
    uint32_t ends;               /* how many of these */
    uint32_t crossed_told;
    bool poison_told;
    bool asks; /* what time it is here: at asked_ns of its clock, came_ns of ours */
    uint64_t asked_ns, came_ns;
};

/* A card of this host: what has been read of its ring. */
struct sender {
    uint64_t at, opens;
    uint32_t packets; /* of the present record that are still to be read */
    uint64_t *frame;  /* the last to each host that something of it is in */
    uint64_t *marked; /* the last of its marks that each host has been told */
    uint64_t mark;    /* --trace: how many RECORD_SENT have been read; the last of them: */
    struct trace_sent sent;
};

/* A word for the FIFO of a card of this host; `host` has taken room for it, NO_HOST: it is a reply. */
struct held {
    uint64_t word;
    uint32_t source, host, counter;
    struct trace_sent sent;
};

#define NO_HOST UINT32_MAX

/* Words of a host that are in a FIFO until its head has passed a position. */
struct owed {
    uint64_t position;
    uint32_t host, words;
};

struct inbox { /* of a card of this host */
    struct held *held;
    size_t first, count, room;
    struct owed *owed;
    size_t owed_first, owed_count, owed_room;
};

struct agent {
    struct job *job;
    const struct hosts *hosts;
    uint32_t host;
    uint64_t silence_ns;
    struct vic card; /* no real one: in whose name packets are delivered */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_pep *door;
    struct fid_eq *news;
    struct fid_cq *done;
    unsigned char key[HOSTS_KEY];
    struct peer *peer; /* one place for each host, that of this one unused */
    struct sender *sender;
    struct inbox *inbox;
    struct trace_sent *sent; /* of each card: what other hosts say of what they send next */
    bool *inside; /* the first host: who is in the barrier */
    uint32_t inside_count, generation;
    bool answers;   /* `answered` of a peer has changed */
    uint64_t looked_ns;
    int wake, wakes_end; /* an eventfd: programs ask for the agent */
    pthread_t thread, waker;
    bool runs;
    _Atomic bool stop, lost; /* lost: another host */
    /* clocks.c; `best` is the agent's while there are questions */
    _Atomic uint32_t questions;
    bool asked;
    struct clock_sample best;
};

/* fabric.c. The first two say what is wrong on stderr and return false; the second is silent if what can be read of the
 * launcher says that another host has failed. address: where others find this one. */
bool fabric_listen(struct agent *agent, const char *address, struct host_address *own);
bool fabric_connect(struct agent *agent, const struct host_address *address, int launcher);
void fabric_close(struct agent *agent);

/* streams.c: frames to and from other hosts. */
bool stream_begin(struct peer *peer);                  /* what comes can come */
void stream_flush(struct agent *agent, struct peer *peer); /* the open frame goes */
bool stream_poll(struct agent *agent);                 /* did anything come or go? */
void stream_sleep(struct agent *agent, int ms);
uint64_t *stream_room(struct agent *agent, struct peer *peer, size_t words); /* NULL: not now */
void stream_keep_alive(struct agent *agent, uint64_t now_ns);
void stream_confirm(struct agent *agent, bool all); /* else only what begins to be much */
void peer_lost(struct agent *agent, struct peer *peer, const char *why);

/* outgoing.c: from the rings into frames; did anything move? */
bool outgoing_pass(struct agent *agent);
bool outgoing_packet(struct agent *agent, struct peer *peer, uint64_t record, uint64_t header, uint64_t payload);
void outgoing_answered(struct agent *agent); /* tell cards that nothing of theirs is on its way any more */

/* incoming.c: a frame has come; false: it is none that an agent makes. */
bool incoming_frame(struct agent *agent, struct peer *peer, const struct frame *frame);
bool incoming_answers(struct agent *agent); /* send those that wait */
uint64_t incoming_replied(struct agent *agent, struct peer *peer); /* peer.replied, as it is now */

/* inbox.c: words for FIFOs of this host. */
bool inbox_add(struct agent *agent, const struct held *held, uint32_t card);
bool inbox_pass(struct agent *agent);
bool inbox_holds(const struct agent *agent, uint32_t source); /* words of that card */

/* news.c: barrier, ends and deaths. */
void news_arrive(struct agent *agent, uint32_t card, uint32_t generation);
void news_leave(struct agent *agent, uint32_t card, uint32_t number);
void news_crossed(struct agent *agent, uint32_t generation);
void news_left(struct agent *agent, uint32_t card, uint32_t number);
void news_opens(struct agent *agent, uint32_t card); /* it has been opened or left: whoever had it is in no barrier */
void news_end(struct agent *agent, uint32_t card, uint32_t end);
void news_poison(struct agent *agent, uint32_t card);
bool news_pass(struct agent *agent);

/* clocks.c: the clock of this host beside that of the first. Ask for it; has it been measured (an error of UINT64_MAX: it
 * could not be)? clocks_wait: for a second at most. */
void clocks_measure(struct agent *agent);
bool clocks_measured(const struct agent *agent, struct clock_sample *sample);
void clocks_wait(const struct agent *agent, struct clock_sample *sample);
bool clocks_pass(struct agent *agent);
void clocks_asked(struct peer *peer, uint64_t asked_ns);
bool clocks_told(struct agent *agent, uint64_t asked_ns, uint64_t came_ns, uint64_t went_ns); /* false: not asked for */

/* agent.c */
bool agent_make(struct agent *agent, struct job *job, const struct hosts *hosts, uint32_t host);
bool agent_start(struct agent *agent);
void agent_stop(struct agent *agent);
void agent_free(struct agent *agent); /* when it has stopped and is closed */

static inline struct peer *peer_of(struct agent *agent, uint32_t card)
{
    for (uint32_t i = 0; i < agent->hosts->count; i++) {
        struct peer *peer = &agent->peer[i];
        if (card - peer->first < peer->here) {
            return i != agent->host ? peer : NULL;
        }
    }
    return NULL;
}

#endif
