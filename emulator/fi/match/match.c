/* Receives that wait for messages, and messages that wait for receives. */
#include "../fi.h"

struct posted {
    struct posted *next;
    bool tagged, multi, left; /* left: no more messages begin in it */
    unsigned filling;         /* messages that have begun in it and are not whole */
    uint64_t tag, ignore, flags;
    fi_addr_t from;
    struct iovec part[PARTS];
    size_t parts, room, used;
    void *context;
};

struct arrival {
    struct arrival *next;
    struct head head;
    uint32_t card;
    bool whole;
    struct posted *wanted; /* by a receive that came before it was whole */
    void *claimed_by;
    uint8_t bytes[];
};

static bool matches(const struct endpoint *ep, const struct posted *posted, const struct head *head, uint32_t card)
{
    if (posted->tagged != (head->kind == TAGGED) || (posted->tagged && ((posted->tag ^ head->tag) & ~posted->ignore) != 0)) {
        return false;
    }
    return posted->from == FI_ADDR_UNSPEC || posted->from == address_of(ep, card, head->from);
}

static uint64_t flags_of(const struct head *head)
{
    return FI_RECV | (head->kind == TAGGED ? FI_TAGGED : FI_MSG) | ((head->flags & HAS_DATA) != 0 ? FI_REMOTE_CQ_DATA : 0);
}

static void fail(struct endpoint *ep, const struct posted *posted, int error)
{
    struct fi_cq_err_entry entry = {.op_context = posted->context, .tag = posted->tag, .err = error,
                                    .flags = FI_RECV | (posted->tagged ? FI_TAGGED : FI_MSG)};
    queue_fail(ep->receives, &entry);
    if (ep->received != NULL) {
        ep->received->errors++;
    }
}

/* A message is where it belongs. The last one of a buffer for several says so. */
static void done(struct endpoint *ep, struct posted *posted, const struct head *head, uint32_t card, void *at, size_t got)
{
    bool last = !posted->multi || (posted->left && posted->filling == 0);
    uint64_t flags = flags_of(head) | (posted->multi && last ? FI_MULTI_RECV : 0);
    if (head->bytes > got) {
        struct fi_cq_err_entry entry = {.op_context = posted->context, .flags = flags, .len = got, .buf = at, .data = head->data,
                                        .tag = head->tag, .olen = head->bytes - got, .err = FI_ETRUNC};
        queue_fail(ep->receives, &entry);
        if (ep->received != NULL) {
            ep->received->errors++;
        }
    } else {
        struct fi_cq_tagged_entry entry = {posted->context, flags, head->bytes, at, head->data, head->tag};
        counter_add(ep->received);
        if (!ep->receives_select || (posted->flags & FI_COMPLETION) != 0 || (posted->multi && last)) {
            queue_add(ep->receives, &entry, address_of(ep, card, head->from));
        }
    }
    if ((head->flags & WANTS_ANSWER) != 0) {
        answer(ep, card, head, 0, NULL, 0, NULL);
    }
    if (last) {
        free(posted);
    }
}

/* Where a message goes in a buffer for several, and how much of it. The buffer leaves its list if it is used up. */
static uint8_t *take_room(const struct endpoint *ep, struct posted *posted, size_t bytes, size_t *some)
{
    uint8_t *at = (uint8_t *)posted->part[0].iov_base + posted->used;
    *some = posted->room - posted->used < bytes ? posted->room - posted->used : bytes;
    posted->used += *some;
    posted->left |= posted->room - posted->used < ep->least;
    return at;
}

static void unlink_posted(struct endpoint *ep, struct posted **at)
{
    struct posted *posted = *at;
    *at = posted->next;
    ep->posted_end = ep->posted_end == &posted->next ? at : ep->posted_end;
}

static void unlink_arrival(struct endpoint *ep, struct arrival **at)
{
    struct arrival *arrival = *at;
    *at = arrival->next;
    ep->arrived_end = ep->arrived_end == &arrival->next ? at : ep->arrived_end;
}

/* ---- a message comes */

void match_begin(struct stream *stream, uint32_t card)
{
    struct endpoint *ep = stream->ep;
    const struct head *head = &stream->head;
    struct posted **at = &ep->posted;
    while (*at != NULL && !matches(ep, *at, head, card)) {
        at = &(*at)->next;
    }
    struct posted *posted = *at;
    if (posted == NULL) {
        struct arrival *arrival = calloc(1, sizeof *arrival + head->bytes);
        if (arrival == NULL) {
            abort(); /* a message that is lost would never be missed but for a program that hangs */
        }
        arrival->head = *head;
        arrival->card = card;
        *ep->arrived_end = arrival;
        ep->arrived_end = &arrival->next;
        stream->arrival = arrival;
        stream->to = arrival->bytes;
        stream->kept = head->bytes;
        return;
    }
    stream->posted = posted;
    if (posted->multi) {
        stream->to = take_room(ep, posted, head->bytes, &stream->kept);
        posted->filling++;
        if (posted->left) {
            unlink_posted(ep, at);
        }
        return;
    }
    unlink_posted(ep, at);
    stream->kept = posted->room < head->bytes ? posted->room : head->bytes;
    if (posted->parts == 1) {
        stream->to = posted->part[0].iov_base;
    } else if (stream->kept > 0) {
        stream->to = stream->own = malloc(stream->kept);
        stream->kept = stream->own != NULL ? stream->kept : 0;
    }
}

/* A message that has come goes to a receive. Frees it. */
static void deliver(struct endpoint *ep, struct posted *posted, struct arrival *arrival)
{
    const struct head *head = &arrival->head;
    void *at = posted->parts > 0 ? posted->part[0].iov_base : NULL;
    size_t got = head->bytes;
    if (posted->multi) {
        at = take_room(ep, posted, head->bytes, &got);
        memcpy(at, arrival->bytes, got);
    } else {
        got = parts_fill(posted->part, posted->parts, arrival->bytes, got);
    }
    done(ep, posted, head, arrival->card, at, got);
    free(arrival);
}

void match_end(struct stream *stream, uint32_t card)
{
    struct endpoint *ep = stream->ep;
    struct arrival *arrival = stream->arrival;
    if (arrival != NULL) {
        arrival->whole = true;
        if (arrival->wanted != NULL) {
            deliver(ep, arrival->wanted, arrival);
        }
        return;
    }
    struct posted *posted = stream->posted;
    void *at = stream->to;
    if (posted->multi) {
        posted->filling--;
    } else if (posted->parts != 1) {
        at = posted->parts > 0 ? posted->part[0].iov_base : NULL;
        parts_fill(posted->part, posted->parts, stream->own, stream->kept);
        free(stream->own);
        stream->own = NULL;
    }
    done(ep, posted, &stream->head, card, at, stream->kept);
}

/* ---- a receive comes */

static struct arrival **find(struct endpoint *ep, const struct posted *posted)
{
    struct arrival **at = &ep->arrived;
    while (*at != NULL && !matches(ep, posted, &(*at)->head, (*at)->card)) {
        at = &(*at)->next;
    }
    return at;
}

/* FI_PEEK: only say what is there; with FI_CLAIM keep it for a later call with the same context. */
static ssize_t peek(struct endpoint *ep, const struct posted *posted)
{
    struct arrival **at = find(ep, posted), *arrival = *at;
    if (arrival == NULL) {
        port_progress();
        at = find(ep, posted);
        arrival = *at;
    }
    if (arrival == NULL) {
        struct fi_cq_err_entry entry = {.op_context = posted->context, .tag = posted->tag, .err = FI_ENOMSG,
                                        .flags = FI_RECV | (posted->tagged ? FI_TAGGED : FI_MSG)};
        queue_fail(ep->receives, &entry);
        return 0;
    }
    struct fi_cq_tagged_entry entry = {posted->context, flags_of(&arrival->head), arrival->head.bytes, NULL,
                                       arrival->head.data, arrival->head.tag};
    queue_add(ep->receives, &entry, address_of(ep, arrival->card, arrival->head.from));
    if ((posted->flags & FI_CLAIM) != 0) {
        unlink_arrival(ep, at);
        arrival->claimed_by = posted->context;
        arrival->next = ep->claimed;
        ep->claimed = arrival;
    }
    return 0;
}

/* Match a receive with a message, which may not be whole yet. */
static void take(struct endpoint *ep, struct posted *posted, struct arrival *arrival)
{
    if (arrival->whole) {
        deliver(ep, posted, arrival);
        return;
    }
    arrival->wanted = posted;
}

static ssize_t post(struct endpoint *ep, bool tagged, const struct request *request)
{
    if (!ep->enabled) {
        return -FI_EOPBADSTATE;
    }
    if (port.ended != 0) {
        return -port.ended;
    }
    if (request->parts > PARTS) {
        return -FI_EINVAL;
    }
    struct posted *posted = calloc(1, sizeof *posted);
    if (posted == NULL) {
        return -FI_ENOMEM;
    }
    *posted = (struct posted){.tagged = tagged, .multi = (request->flags & FI_MULTI_RECV) != 0, .tag = request->tag,
                              .ignore = request->ignore, .flags = request->flags, .from = request->peer,
                              .parts = request->parts, .room = parts_bytes(request->part, request->parts),
                              .context = request->context};
    if (request->parts > 0) {
        memcpy(posted->part, request->part, request->parts * sizeof *request->part);
    }
    bool claimed = (request->flags & FI_CLAIM) != 0 && (request->flags & FI_PEEK) == 0;
    if ((request->flags & FI_PEEK) != 0 && (request->flags & FI_DISCARD) == 0) {
        ssize_t result = peek(ep, posted);
        free(posted);
        return result;
    }
    struct arrival **at = claimed ? &ep->claimed : find(ep, posted);
    while (claimed && *at != NULL && (*at)->claimed_by != posted->context) {
        at = &(*at)->next;
    }
    struct arrival *arrival = *at;
    if ((claimed || (request->flags & FI_PEEK) != 0) && arrival == NULL) {
        fail(ep, posted, FI_ENOMSG);
        free(posted);
        return 0;
    }
    if ((request->flags & FI_DISCARD) != 0) { /* a receive of nothing that is no truncation */
        arrival->head.bytes = arrival->whole ? 0 : arrival->head.bytes;
        posted->room = 0;
    }
    if (arrival == NULL) {
        *ep->posted_end = posted;
        ep->posted_end = &posted->next;
        return 0;
    }
    if (claimed) {
        *at = arrival->next;
    } else {
        unlink_arrival(ep, at);
    }
    if (!posted->multi) {
        take(ep, posted, arrival);
        return 0;
    }
    while (arrival != NULL) { /* as many as there is room for */
        struct arrival *next = NULL;
        if (!arrival->whole) { /* it is the last of its card: go on when it is whole */
            arrival->wanted = posted;
            posted->left = true;
            posted->filling = 0;
            return 0;
        }
        bool left = posted->room - posted->used < arrival->head.bytes ||
                    posted->room - posted->used - arrival->head.bytes < ep->least;
        deliver(ep, posted, arrival);
        if (left) {
            return 0; /* done() has freed it */
        }
        at = find(ep, posted);
        next = *at;
        if (next != NULL) {
            unlink_arrival(ep, at);
        }
        arrival = next;
    }
    *ep->posted_end = posted;
    ep->posted_end = &posted->next;
    return 0;
}

ssize_t match_cancel(struct endpoint *ep, void *context)
{
    for (struct posted **at = &ep->posted; *at != NULL; at = &(*at)->next) {
        struct posted *posted = *at;
        if (posted->context == context) {
            unlink_posted(ep, at);
            fail(ep, posted, FI_ECANCELED);
            posted->left = true;
            if (posted->filling == 0) {
                free(posted);
            }
            return 0;
        }
    }
    return -FI_ENOENT;
}

/* A message that is not whole, and the receive that it belongs to. */
static void drop_stream(struct endpoint *ep, struct stream *stream, int error)
{
    struct posted *posted = stream->posted;
    if (stream->arrival != NULL && stream->arrival->wanted != NULL) {
        posted = stream->arrival->wanted; /* in no list: nor is the message */
        free(stream->arrival);
    } else if (posted != NULL && posted->multi && (--posted->filling > 0 || !posted->left)) {
        posted = NULL; /* others fill it, or it is in the list */
    }
    if (posted != NULL) {
        if (error != 0) {
            fail(ep, posted, error);
        }
        free(posted);
    }
    free(stream->own);
    *stream = (struct stream){0};
}

void match_drop(struct endpoint *ep, int error)
{
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        struct stream *stream = &port.stream[card];
        if (stream->ep == ep && stream->head.kind <= PLAIN) {
            drop_stream(ep, stream, error);
        }
    }
    while (ep->posted != NULL) {
        struct posted *posted = ep->posted;
        unlink_posted(ep, &ep->posted);
        if (error != 0) {
            fail(ep, posted, error);
        }
        free(posted);
    }
    struct arrival **const lists[] = {&ep->arrived, &ep->claimed};
    for (int i = 0; error == 0 && i < 2; i++) {
        while (*lists[i] != NULL) {
            struct arrival *next = (*lists[i])->next;
            free(*lists[i]);
            *lists[i] = next;
        }
    }
}

void match_alone(struct endpoint *ep)
{
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        struct stream *stream = &port.stream[card];
        if (card != port.attr.card && stream->ep == ep && stream->head.kind <= PLAIN) {
            drop_stream(ep, stream, FI_ECONNABORTED);
        }
    }
    for (struct posted **at = &ep->posted; *at != NULL;) {
        struct posted *posted = *at;
        bool own = posted->from < ep->addresses->count && ep->addresses->of[posted->from] >> 32 == port.attr.card;
        if (posted->multi || own) {
            at = &posted->next;
            continue;
        }
        unlink_posted(ep, at);
        fail(ep, posted, FI_ECONNABORTED);
        free(posted);
    }
}

/* ---- the calls: each kind as one buffer, as parts, and as a message with flags */

#define IN(fid) struct endpoint *ep = (struct endpoint *)(fid)
#define ONE(buffer, bytes) struct iovec one = {(void *)(uintptr_t)(buffer), bytes}

static ssize_t receive(struct endpoint *ep, bool tagged, const struct request *request)
{
    port_lock();
    ssize_t result = post(ep, tagged, request);
    port_unlock();
    return result;
}

static ssize_t send_it(struct endpoint *ep, enum kind kind, const struct request *request)
{
    struct transfer *transfer;
    port_lock();
    int result = transfer_make(ep, kind, request, NULL, 0, &transfer);
    if (result == 0) {
        port_send(transfer);
    }
    port_unlock();
    return result;
}

static ssize_t trecv(struct fid_ep *fid, void *buffer, size_t bytes, void *desc, fi_addr_t from, uint64_t tag,
                     uint64_t ignore, void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return receive(ep, true, &(struct request){&one, 1, from, tag, ignore, 0, ep->receive_flags, context});
}

static ssize_t trecvv(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t from,
                      uint64_t tag, uint64_t ignore, void *context)
{
    IN(fid);
    (void)desc;
    return receive(ep, true, &(struct request){part, parts, from, tag, ignore, 0, ep->receive_flags, context});
}

static ssize_t trecvmsg(struct fid_ep *fid, const struct fi_msg_tagged *m, uint64_t flags)
{
    return receive((struct endpoint *)fid, true,
                   &(struct request){m->msg_iov, m->iov_count, m->addr, m->tag, m->ignore, 0, flags, m->context});
}

static ssize_t tsend(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, fi_addr_t to, uint64_t tag,
                     void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return send_it(ep, TAGGED, &(struct request){&one, 1, to, tag, 0, 0, ep->send_flags, context});
}

static ssize_t tsendv(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t to,
                      uint64_t tag, void *context)
{
    IN(fid);
    (void)desc;
    return send_it(ep, TAGGED, &(struct request){part, parts, to, tag, 0, 0, ep->send_flags, context});
}

static ssize_t tsendmsg(struct fid_ep *fid, const struct fi_msg_tagged *m, uint64_t flags)
{
    return send_it((struct endpoint *)fid, TAGGED,
                   &(struct request){m->msg_iov, m->iov_count, m->addr, m->tag, 0, m->data, flags, m->context});
}

static ssize_t tinject(struct fid_ep *fid, const void *buffer, size_t bytes, fi_addr_t to, uint64_t tag)
{
    ONE(buffer, bytes);
    return send_it((struct endpoint *)fid, TAGGED, &(struct request){&one, 1, to, tag, 0, 0, SILENT, NULL});
}

static ssize_t tsenddata(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, uint64_t data, fi_addr_t to,
                         uint64_t tag, void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return send_it(ep, TAGGED, &(struct request){&one, 1, to, tag, 0, data, ep->send_flags | FI_REMOTE_CQ_DATA, context});
}

static ssize_t tinjectdata(struct fid_ep *fid, const void *buffer, size_t bytes, uint64_t data, fi_addr_t to, uint64_t tag)
{
    ONE(buffer, bytes);
    return send_it((struct endpoint *)fid, TAGGED,
                   &(struct request){&one, 1, to, tag, 0, data, SILENT | FI_REMOTE_CQ_DATA, NULL});
}

static ssize_t mrecv(struct fid_ep *fid, void *buffer, size_t bytes, void *desc, fi_addr_t from, void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return receive(ep, false, &(struct request){&one, 1, from, 0, 0, 0, ep->receive_flags, context});
}

static ssize_t mrecvv(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t from, void *context)
{
    IN(fid);
    (void)desc;
    return receive(ep, false, &(struct request){part, parts, from, 0, 0, 0, ep->receive_flags, context});
}

static ssize_t mrecvmsg(struct fid_ep *fid, const struct fi_msg *m, uint64_t flags)
{
    return receive((struct endpoint *)fid, false,
                   &(struct request){m->msg_iov, m->iov_count, m->addr, 0, 0, 0, flags, m->context});
}

static ssize_t msend(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, fi_addr_t to, void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return send_it(ep, PLAIN, &(struct request){&one, 1, to, 0, 0, 0, ep->send_flags, context});
}

static ssize_t msendv(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t to, void *context)
{
    IN(fid);
    (void)desc;
    return send_it(ep, PLAIN, &(struct request){part, parts, to, 0, 0, 0, ep->send_flags, context});
}

static ssize_t msendmsg(struct fid_ep *fid, const struct fi_msg *m, uint64_t flags)
{
    return send_it((struct endpoint *)fid, PLAIN,
                   &(struct request){m->msg_iov, m->iov_count, m->addr, 0, 0, m->data, flags, m->context});
}

static ssize_t minject(struct fid_ep *fid, const void *buffer, size_t bytes, fi_addr_t to)
{
    ONE(buffer, bytes);
    return send_it((struct endpoint *)fid, PLAIN, &(struct request){&one, 1, to, 0, 0, 0, SILENT, NULL});
}

static ssize_t msenddata(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, uint64_t data, fi_addr_t to,
                         void *context)
{
    IN(fid);
    ONE(buffer, bytes);
    (void)desc;
    return send_it(ep, PLAIN, &(struct request){&one, 1, to, 0, 0, data, ep->send_flags | FI_REMOTE_CQ_DATA, context});
}

static ssize_t minjectdata(struct fid_ep *fid, const void *buffer, size_t bytes, uint64_t data, fi_addr_t to)
{
    ONE(buffer, bytes);
    return send_it((struct endpoint *)fid, PLAIN,
                   &(struct request){&one, 1, to, 0, 0, data, SILENT | FI_REMOTE_CQ_DATA, NULL});
}

struct fi_ops_tagged tagged_ops = {sizeof tagged_ops, trecv, trecvv, trecvmsg, tsend, tsendv, tsendmsg, tinject,
                                   tsenddata, tinjectdata};
struct fi_ops_msg plain_ops = {sizeof plain_ops, mrecv, mrecvv, mrecvmsg, msend, msendv, msendmsg, minject, msenddata,
                               minjectdata};
