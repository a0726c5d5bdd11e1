/* agent.h: packets between the hosts of a job. Each host has one agent for them, a thread of vichost.
 *
 * Programs write packets for other hosts to rings in the memory of the job (functional/remote.h). The agent gathers them in
 * frames and sends each other host its own stream of these. The agent there does what a program of that host would do: it
 * stores words in SRAM, counts counters down, puts words into FIFOs and answers queries. Only agents use libfabric.
 *
 * Two agents never wait for each other, because an agent takes each frame as soon as it comes. Nothing piles up there: at
 * most WINDOW frames are on their way, and a sender claims room in a FIFO before it sends a word for it, and gets the room
 * back when the word has been read. Only answers to queries have no limit of their own; they wait in an array.
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
    FRAME_WORDS = 65536,
    FRAME_LEAST = 16384, /* words that a frame may have over a slow link, too */
    FRAME_HEAD = 3,      /* words: peer.came, peer.replied, and 1 if the frame counts: if it has more than this head */
    WINDOW = 8,          /* frames that count and are not confirmed, at most */
    FRAMES = WINDOW + 4
};

struct peer;

/* Reached when a host has been sent so many replies in all, and has confirmed the frame with the last of them. */
struct reply_mark {
    uint64_t replies, frame; /* frame: UINT64_MAX as long as not all of them are sent */
};

struct frame {
    struct peer *peer;
    struct frame *next;
    bool comes; /* for what this peer sends; false: for what it is sent */
    size_t used;
    uint64_t word[FRAME_WORDS];
};

/* Another host. */
struct peer {
    uint32_t host, first, here;
    struct fid_ep *end;
    bool connected, hung_up, bye;
    uint64_t lost_ns; /* when it hung up, or was given up; 0: it has not been, or what follows from that has been done */
    char why[80];
    struct frame *frame;            /* FRAMES to be sent, then as many to receive into */
    struct frame *idle, *open;      /* of those to be sent: unused; being filled */
    struct frame *queue, **last;    /* filled, but libfabric had no room for them yet */
    size_t most;                    /* words of a frame at most, for now: fit_frames */
    uint64_t timed, timed_ns;       /* the number of a full frame that is not confirmed, and when it was sent; 0: none */
    uint64_t *packets;              /* the head of the last record in the open frame, if that record is of packets */
    uint64_t sent, confirmed;       /* frames that count, to the other host */
    uint64_t came, came_told;       /* frames that count, from the other host; how many of them have been confirmed */
    uint64_t replied, replied_told; /* the replies to the queries in so many of these are on no way but to this peer itself */
    uint64_t answered;              /* its `replied`: the replies to so many frames that were sent to it have come */
    uint64_t heard_ns, spoke_ns;    /* when the last frame came and went; heard_ns 0: none came yet */
    uint64_t *answer;               /* replies to queries that wait for room in a frame: header and payload each */
    size_t answers, answer_room;
    uint64_t replies, replies_sent; /* to queries, to this peer: all so far, and those in frames */
    uint64_t replies_frame;         /* the last of these frames */
    uint64_t replied_next;          /* what `replied` will be when `mark` of each host is reached */
    struct reply_mark *mark;
    uint64_t *opens_told;           /* for each card of this host: what the peer has been told of it last */
    uint32_t *end_told;
    uint32_t *room;                 /* for each card of this host: words of its FIFO that the peer is to be told are read */
    uint32_t *left;                 /* for each of its cards: the RECORD_LEAVE that is to be answered; 0: none */
    bool *ended;                    /* for each of its cards: the program has ended, but words of it wait for room here */
    uint32_t ends;                  /* how many of these */
    uint32_t crossed_told;
    bool poison_told;
    bool asks; /* it has asked what time it is here, at asked_ns of its clock; the question came at came_ns of ours */
    uint64_t asked_ns, came_ns;
};

/* A card of this host: how far its ring has been read. */
struct sender {
    uint64_t at, opens;
    uint32_t packets;    /* of the present record, still to be read */
    uint64_t *frame;     /* for each host: the last frame with something of this card */
    uint64_t calls;      /* --trace: how many RECORD_SENT have been read */
    uint64_t *call_told; /* for each host: the last of them that it has been told */
    struct trace_sent sent; /* the last of them */
};

/* A word for the FIFO of a card of this host, from a host that has claimed room for it; NO_HOST: a reply, which has none. */
struct held {
    uint64_t word;
    uint32_t source, host, counter;
    struct trace_sent sent;
};

#define NO_HOST UINT32_MAX

/* Words that have been put into a FIFO for a host: they have been read when the head of the FIFO passes the position. */
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
    int launcher; /* from which vicrun is heard; -1: none */
    struct vic card; /* stands in for the sender when packets are delivered */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_pep *door;
    struct fid_eq *news;
    struct fid_cq *done;
    unsigned char key[HOSTS_KEY];
    struct peer *peer; /* one for each host; that of this host is not used */
    struct sender *sender;
    struct inbox *inbox;
    struct trace_sent *sent; /* for each card of other hosts: the call that sent what comes next of it */
    bool *inside; /* on the first host: which cards are in the barrier */
    uint32_t inside_count, generation;
    bool answers;   /* `answered` of a peer has changed */
    uint64_t looked_ns;
    int wake; /* an eventfd that wakes the agent: a program has written to a ring */
    pthread_t thread, waker;
    bool runs;
    bool deserts; /* at its end it does not say goodbye, so the others take this host for lost */
    _Atomic bool stop, lost, all_run; /* lost: another host is; all_run: the agents of all hosts do, so they are to be heard of */
    /* clocks.c. As long as there are questions only the agent's thread uses the rest. */
    _Atomic uint32_t questions;
    uint64_t asks_until_ns;
    bool asked; /* one of them has no answer yet */
    struct clock_sample best;
};

/* fabric.c. fabric_listen listens on the address of `interface`, or of the name `host` if there is no interface, and returns
 * in `own` where others find it; fabric_connect connects with all other hosts. Both say on stderr what is wrong and return false; fabric_connect says nothing if `launcher` (-1: none) can
 * be read, because another host has failed then and that has been said. */
bool fabric_listen(struct agent *agent, const char *host, const char *interface, struct host_address *own);
bool fabric_connect(struct agent *agent, const struct host_address *address, int launcher);
void fabric_close(struct agent *agent);

/* streams.c: frames to and from other hosts. */
bool stream_begin(struct peer *peer);                      /* give libfabric all frames to receive into */
void stream_flush(struct agent *agent, struct peer *peer); /* send the open frame */
bool stream_poll(struct agent *agent);                     /* true if a frame has come or has gone */
void stream_sleep(struct agent *agent, int ms);
uint64_t *stream_room(struct agent *agent, struct peer *peer, size_t words); /* for a record; NULL: not now */
void stream_keep_alive(struct agent *agent, uint64_t now_ns);
void stream_confirm(struct agent *agent, bool all); /* what has come; false: only where it is a quarter of a window */

/* outgoing.c: from the rings into frames. outgoing_pass: true if anything moved. */
bool outgoing_pass(struct agent *agent);
bool outgoing_packet(struct agent *agent, struct peer *peer, uint64_t record, uint64_t header, uint64_t payload);
void outgoing_answered(struct agent *agent); /* tell the cards that have nothing on its way any more */

/* incoming.c. incoming_frame: carry out a frame that has come; false if no agent makes such a frame. */
bool incoming_frame(struct agent *agent, struct peer *peer, const struct frame *frame);
bool incoming_answers(struct agent *agent); /* send the replies that wait; true if there were any */
uint64_t incoming_replied(struct agent *agent, struct peer *peer); /* bring peer.replied up to date and return it */

/* The same file: words that wait until FIFOs of this host have space for them. */
bool inbox_pass(struct agent *agent);
bool inbox_holds(const struct agent *agent, uint32_t source); /* true if words of that card wait */

/* news.c: barrier, ends and deaths. */
void news_arrive(struct agent *agent, uint32_t card, uint32_t generation);
void news_leave(struct agent *agent, uint32_t card, uint32_t number);
void news_crossed(struct agent *agent, uint32_t generation);
void news_left(struct agent *agent, uint32_t card, uint32_t number);
void news_opens(struct agent *agent, uint32_t card); /* it has been opened or left, so it is in no barrier */
void news_end(struct agent *agent, uint32_t card, uint32_t end);
void news_poison(struct agent *agent, uint32_t card);
void news_over(struct job *job); /* without a death */
bool news_pass(struct agent *agent);

/* clocks.c: how far the clock of this host is from that of the first. clocks_measure begins to ask; clocks_measured is true
 * when it is known, with an error of UINT64_MAX if it could not be measured; clocks_wait waits for that, for a second where
 * links are slow, and gives up after five. */
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

/* The time of the job begins here when the programs are started, or with the first packets that come before. */
static inline void job_begin(struct job *job)
{
    uint64_t never = 0;
    if (__atomic_load_n(&job->start_ns, __ATOMIC_ACQUIRE) == never) {
        __atomic_compare_exchange_n(&job->start_ns, &never, job_clock_ns(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
}

/* The next other host behind one, or the first; NULL: there is no more. next_living: that has not hung up. */
static inline struct peer *next_peer(const struct agent *agent, const struct peer *before)
{
    uint32_t next = before != NULL ? before->host + 1 : 0;
    next += next == agent->host;
    return next < agent->hosts->count ? &agent->peer[next] : NULL;
}

static inline struct peer *next_living(const struct agent *agent, const struct peer *before)
{
    struct peer *peer = next_peer(agent, before);
    while (peer != NULL && peer->hung_up) {
        peer = next_peer(agent, peer);
    }
    return peer;
}

static inline struct peer *peer_of(struct agent *agent, uint32_t card)
{
    struct peer *peer = NULL;
    do {
        peer = next_peer(agent, peer);
    } while (peer != NULL && card - peer->first >= peer->here);
    return peer;
}

#endif
