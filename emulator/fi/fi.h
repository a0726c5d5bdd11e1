/* fi.h: libvic-fi.so, a provider of libfabric above vic_message.h: what its folders share.
 *
 *     ep/     the library as libfabric loads it, fabric, domain, addresses, endpoints, what crosses the fabric
 *     match/  receives that were posted, and messages that have come
 *     rma/    memory that others reach, reads and writes of it, atomics: done by the host that has it
 *     queue/  completion queues and counters
 *
 * A process has one card, so all domains of it share one port; its lock is held in every call. Progress is made in calls
 * that look for completions, and in no other way. Packets carry numbers, never pointers: runs of timed mode are equal.
 */
#ifndef FI_FI_H
#define FI_FI_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vic.h"
#include "vic_message.h"

enum {
    CHUNK = 32 << 10, /* bytes of a message of vic_message.h, without its head */
    ENDPOINTS = 64,   /* of a process */
    PARTS = 8,        /* of a buffer */
    INJECT_MOST = 4096,
    ATOMIC_MOST = 4096
};

/* ---- what crosses the fabric */

enum kind { TAGGED, PLAIN, WRITE, READ, ATOMIC, ANSWER, KINDS, MORE };
enum { HAS_DATA = 1, WANTS_ANSWER = 2, FETCHES = 4, COMPARES = 8 };

struct head {
    uint8_t kind, flags, to, from; /* endpoints */
    uint8_t op, type;
    uint16_t error;     /* ANSWER: an FI_E…, or 0 */
    uint32_t slot;      /* of the sender's transfer that waits for an answer */
    uint32_t count;     /* ATOMIC: operands */
    uint64_t bytes;     /* that follow, in this packet and others of kind MORE; READ: that are asked for */
    uint64_t tag, data; /* WRITE, READ, ATOMIC: tag is the address */
    uint64_t key;
};

/* ---- objects of libfabric */

struct counter {
    struct fid_cntr fid;
    uint64_t value, errors;
};

struct queue {
    struct fid_cq fid;
    size_t entry; /* bytes of its format */
    struct completion {
        struct fi_cq_tagged_entry e;
        fi_addr_t from;
    } *ring;
    size_t head, tail, room; /* tail - head are there */
    struct fi_cq_err_entry *error;
    size_t errors, error_room;
    bool signalled;
};

struct addresses {
    struct fid_av fid;
    uint64_t *of; /* card << 32 | endpoint; GONE */
    size_t count, room;
    fi_addr_t *back;
};
#define GONE UINT64_MAX

struct domain {
    struct fid_domain fid;
    int mr_mode;
};

struct memory {
    struct fid_mr fid;
    struct memory *next;
    uintptr_t base;
    size_t bytes;
    uint64_t access;
    bool absolute; /* others name places by their address here */
    struct counter *counter;
};

struct posted; /* match/ */
struct arrival;

struct endpoint {
    struct fid_ep fid;
    struct domain *domain;
    struct addresses *addresses;
    struct queue *sends, *receives;
    struct counter *sent, *received, *read, *written, *remote_read, *remote_written;
    bool sends_select, receives_select, enabled;
    uint64_t send_flags, receive_flags; /* of calls that have none */
    size_t least;                       /* FI_OPT_MIN_MULTI_RECV */
    uint8_t number;
    struct posted *posted, **posted_end;
    struct arrival *arrived, **arrived_end, *claimed;
};

/* Something that this process sends. */
struct transfer {
    struct transfer *next;
    struct endpoint *ep;
    uint32_t card;
    struct head head;
    const uint8_t *bytes;
    uint8_t *own; /* a copy of them */
    size_t sent;
    bool answered; /* it is done when an answer has come, not when it has left */
    bool completes;
    uint64_t flags; /* of its completion */
    void *context;
    struct counter *counter;
    struct iovec result[PARTS];
    size_t results;
};

/* What comes from a card, until it is whole. */
struct stream {
    struct head head;
    struct endpoint *ep; /* NULL: nothing comes, or its bytes are dropped */
    size_t got, kept;
    uint8_t *to, *own;
    struct posted *posted;
    struct arrival *arrival;
    struct transfer *transfer;
};

struct port {
    pthread_mutex_t lock;
    vic_t *card;
    vic_message_t *messages;
    struct vic_attr attr;
    unsigned domains;
    int ended;  /* FI_E… of all transfers from now on; 0 */
    bool alone; /* all others have ended as programs do: only what this card sends to itself can still come */
    struct endpoint *endpoint[ENDPOINTS];
    struct memory *memory;
    uint64_t next_key;
    struct transfer **first, **last; /* to each card */
    size_t queued;
    struct transfer **slot; /* that wait for answers */
    uint32_t slots, next_slot;
    struct stream *stream; /* from each card */
    unsigned idle;         /* looks in a row that found nothing */
    uint8_t in[sizeof(struct head) + CHUNK], out[sizeof(struct head) + CHUNK];
};

extern struct port port;

static inline void port_lock(void)
{
    pthread_mutex_lock(&port.lock);
}

static inline void port_unlock(void)
{
    pthread_mutex_unlock(&port.lock);
}

/* ---- ep/port.c */

int port_join(void); /* 0 or -FI_E… */
void port_leave(void);
void port_send(struct transfer *transfer); /* frees it in the end */
bool port_progress(void);
void port_done(struct transfer *transfer, int error);
uint32_t port_slot(struct transfer *transfer); /* UINT32_MAX: no memory */
void port_drop(struct endpoint *ep);        /* what it still sends and waits for */
uint64_t port_ms(void);
int port_over(void); /* FI_E… of whoever waits for more, as nothing comes any more; 0 */

/* ---- ep/ */

int endpoint_make(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);
int addresses_make(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context);
fi_addr_t address_of(const struct endpoint *ep, uint32_t card, uint8_t number);

/* What a call asks for: the parts of a buffer, to or from whom, and how it ends. */
struct request {
    const struct iovec *part;
    size_t parts;
    fi_addr_t peer;
    uint64_t tag, ignore, data, flags;
    void *context;
};
#define SILENT (UINT64_C(1) << 63) /* flag of fi_inject…: no completion */

/* A transfer with its head, on its way to a peer; its bytes are those of the request, copied if flags have FI_INJECT, or
 * there are several parts, or `more` follow. 0 or -FI_E… */
int transfer_make(struct endpoint *ep, enum kind kind, const struct request *request, const struct iovec *more,
                  size_t mores, struct transfer **transfer);
size_t parts_bytes(const struct iovec *part, size_t parts);
size_t parts_fill(const struct iovec *part, size_t parts, const uint8_t *from, size_t bytes);

int fi_refuse(struct fid *fid, struct fid *other, uint64_t flags); /* of bind */

/* ---- match/ */

extern struct fi_ops_msg plain_ops;
extern struct fi_ops_tagged tagged_ops;
void match_begin(struct stream *stream, uint32_t card); /* the head of a message has come */
void match_end(struct stream *stream, uint32_t card);   /* all of it has */
ssize_t match_cancel(struct endpoint *ep, void *context);
void match_drop(struct endpoint *ep, int error); /* receives end with it; 0: without a completion */
void match_alone(struct endpoint *ep); /* those that waited for other cards fail; a buffer for several waits for nobody */

/* ---- rma/ */

extern struct fi_ops_rma rma_ops;
extern struct fi_ops_atomic atomic_ops;
extern struct fi_ops_mr memory_ops;
struct memory *memory_find(uint64_t key);
uint8_t *memory_at(const struct head *head, size_t bytes, uint64_t access, struct memory **memory, uint16_t *error);
void rma_begin(struct stream *stream, uint32_t card);
void rma_end(struct stream *stream, uint32_t card);
void answer(struct endpoint *ep, uint32_t card, const struct head *to, uint16_t error, const uint8_t *bytes, size_t n,
            uint8_t *own);
size_t atomic_size(int type);
void atomic_apply(int op, int type, void *to, const void *operand, const void *compare, size_t count);
bool atomic_knows(int type, int op);
int atomic_query(struct fid_domain *domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr,
                 uint64_t flags);

/* ---- queue/ */

int queue_make(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
int counter_make(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context);
void queue_add(struct queue *queue, const struct fi_cq_tagged_entry *entry, fi_addr_t from);
void queue_fail(struct queue *queue, const struct fi_cq_err_entry *entry);

static inline void counter_add(struct counter *counter)
{
    if (counter != NULL) {
        counter->value++;
    }
}

#endif
