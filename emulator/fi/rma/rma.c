/* Reads, writes and atomics: what others ask for, and the answers to what this process asked for. */
#include "../fi.h"

void answer(struct endpoint *ep, uint32_t card, const struct head *to, uint16_t error, const uint8_t *bytes, size_t n,
            uint8_t *own)
{
    struct transfer *t = calloc(1, sizeof *t);
    if (t == NULL) {
        abort(); /* who asked would wait for ever */
    }
    t->ep = ep;
    t->card = card;
    t->bytes = bytes;
    t->own = own;
    t->head = (struct head){.kind = ANSWER, .to = to->from, .from = to->to, .error = error, .slot = to->slot, .bytes = n};
    port_send(t);
}

void rma_begin(struct stream *stream, uint32_t card)
{
    struct head *head = &stream->head;
    struct memory *memory;
    if (head->kind == WRITE) {
        stream->to = memory_at(head, head->bytes, FI_REMOTE_WRITE, &memory, &head->error);
        stream->kept = stream->to != NULL ? head->bytes : 0;
    } else if (head->kind == ATOMIC) {
        size_t most = 2 * ATOMIC_MOST;
        stream->own = malloc(head->bytes + 1);
        stream->to = stream->own;
        stream->kept = stream->own != NULL && head->bytes <= most ? head->bytes : 0;
    } else if (head->kind == ANSWER) {
        struct transfer *t = head->slot < port.slots ? port.slot[head->slot] : NULL;
        stream->transfer = t != NULL && t->card == card ? t : NULL;
        size_t room = stream->transfer != NULL ? parts_bytes(t->result, t->results) : 0;
        stream->kept = head->bytes < room ? head->bytes : room;
        if (stream->kept > 0 && t->results == 1) {
            stream->to = t->result[0].iov_base;
        } else if (stream->kept > 0) {
            stream->to = stream->own = malloc(stream->kept);
            stream->kept = stream->own != NULL ? stream->kept : 0;
        }
    }
}

static void serve_atomic(struct stream *stream, uint32_t card)
{
    struct head *head = &stream->head;
    size_t bytes = head->count * atomic_size(head->type), operands = (head->flags & COMPARES) != 0 ? 2 * bytes : bytes;
    struct memory *memory;
    bool reads = head->op == FI_ATOMIC_READ;
    uint8_t *at = memory_at(head, bytes, reads ? FI_REMOTE_READ : FI_REMOTE_WRITE, &memory, &head->error);
    uint8_t *old = NULL;
    size_t back = (head->flags & FETCHES) != 0 ? bytes : 0;
    bool good = at != NULL && atomic_knows(head->type, head->op) && bytes <= ATOMIC_MOST &&
                (reads || (head->bytes == operands && stream->kept == operands));
    if (good && back > 0) {
        old = malloc(back);
        good = old != NULL;
    }
    if (good) {
        if (old != NULL) {
            memcpy(old, at, back);
        }
        if (!reads) {
            atomic_apply(head->op, head->type, at, stream->own, operands > bytes ? stream->own + bytes : NULL, head->count);
        }
        counter_add(memory->counter);
        counter_add(reads ? stream->ep->remote_read : stream->ep->remote_written);
    }
    head->error = good || head->error != 0 ? head->error : FI_EINVAL;
    answer(stream->ep, card, head, head->error, old, good ? back : 0, old);
}

void rma_end(struct stream *stream, uint32_t card)
{
    struct head *head = &stream->head;
    struct endpoint *ep = stream->ep;
    struct memory *memory = NULL;
    if (head->kind == WRITE) {
        if (head->error == 0) {
            memory = memory_find(head->key);
            counter_add(memory != NULL ? memory->counter : NULL);
            counter_add(ep->remote_written);
            if ((head->flags & HAS_DATA) != 0) {
                struct fi_cq_tagged_entry entry = {NULL, FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA, head->bytes, NULL,
                                                   head->data, 0};
                queue_add(ep->receives, &entry, address_of(ep, card, head->from));
            }
        }
        answer(ep, card, head, head->error, NULL, 0, NULL);
    } else if (head->kind == READ) {
        const uint8_t *at = memory_at(head, head->bytes, FI_REMOTE_READ, &memory, &head->error);
        if (at != NULL) {
            counter_add(ep->remote_read);
        }
        answer(ep, card, head, head->error, at, at != NULL ? head->bytes : 0, NULL);
    } else if (head->kind == ATOMIC) {
        serve_atomic(stream, card);
    } else if (stream->transfer != NULL) {
        struct transfer *t = stream->transfer;
        if (stream->own != NULL) {
            parts_fill(t->result, t->results, stream->own, stream->kept);
        }
        port_done(t, head->error);
    }
    free(stream->own);
    stream->own = NULL;
}

/* ---- the calls */

static ssize_t ask(struct fid_ep *fid, enum kind kind, const struct request *request, uint64_t key)
{
    struct transfer *t;
    struct request asked = *request;
    port_lock();
    if (kind == READ) {
        asked.parts = 0;
        asked.flags &= ~(uint64_t)FI_INJECT;
    }
    int result = request->parts > PARTS ? -FI_EINVAL : transfer_make((struct endpoint *)fid, kind, &asked, NULL, 0, &t);
    if (result == 0) {
        t->head.key = key;
        if (kind == READ) {
            t->head.bytes = parts_bytes(request->part, request->parts);
            t->results = request->parts;
            memcpy(t->result, request->part, request->parts * sizeof *request->part);
        }
        port_send(t);
    }
    port_unlock();
    return result;
}

#define FLAGS ((struct endpoint *)fid)->send_flags
#define ONE(buffer, bytes) struct iovec one = {(void *)(uintptr_t)(buffer), bytes}

static ssize_t read_one(struct fid_ep *fid, void *buffer, size_t bytes, void *desc, fi_addr_t from, uint64_t at,
                        uint64_t key, void *context)
{
    ONE(buffer, bytes);
    (void)desc;
    return ask(fid, READ, &(struct request){&one, 1, from, at, 0, 0, FLAGS, context}, key);
}

static ssize_t read_parts(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t from,
                          uint64_t at, uint64_t key, void *context)
{
    (void)desc;
    return ask(fid, READ, &(struct request){part, parts, from, at, 0, 0, FLAGS, context}, key);
}

static ssize_t by_message(struct fid_ep *fid, enum kind kind, const struct fi_msg_rma *m, uint64_t flags)
{
    if (m->rma_iov_count != 1) {
        return -FI_EINVAL;
    }
    return ask(fid, kind, &(struct request){m->msg_iov, m->iov_count, m->addr, m->rma_iov[0].addr, 0, m->data, flags, m->context},
               m->rma_iov[0].key);
}

static ssize_t read_message(struct fid_ep *fid, const struct fi_msg_rma *m, uint64_t flags)
{
    return by_message(fid, READ, m, flags);
}

static ssize_t write_one(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, fi_addr_t to, uint64_t at,
                         uint64_t key, void *context)
{
    ONE(buffer, bytes);
    (void)desc;
    return ask(fid, WRITE, &(struct request){&one, 1, to, at, 0, 0, FLAGS, context}, key);
}

static ssize_t write_parts(struct fid_ep *fid, const struct iovec *part, void **desc, size_t parts, fi_addr_t to,
                           uint64_t at, uint64_t key, void *context)
{
    (void)desc;
    return ask(fid, WRITE, &(struct request){part, parts, to, at, 0, 0, FLAGS, context}, key);
}

static ssize_t write_message(struct fid_ep *fid, const struct fi_msg_rma *m, uint64_t flags)
{
    return by_message(fid, WRITE, m, flags);
}

static ssize_t write_inject(struct fid_ep *fid, const void *buffer, size_t bytes, fi_addr_t to, uint64_t at, uint64_t key)
{
    ONE(buffer, bytes);
    return ask(fid, WRITE, &(struct request){&one, 1, to, at, 0, 0, SILENT, NULL}, key);
}

static ssize_t write_data(struct fid_ep *fid, const void *buffer, size_t bytes, void *desc, uint64_t data, fi_addr_t to,
                          uint64_t at, uint64_t key, void *context)
{
    ONE(buffer, bytes);
    (void)desc;
    return ask(fid, WRITE, &(struct request){&one, 1, to, at, 0, data, FLAGS | FI_REMOTE_CQ_DATA, context}, key);
}

static ssize_t write_inject_data(struct fid_ep *fid, const void *buffer, size_t bytes, uint64_t data, fi_addr_t to,
                                 uint64_t at, uint64_t key)
{
    ONE(buffer, bytes);
    return ask(fid, WRITE, &(struct request){&one, 1, to, at, 0, data, SILENT | FI_REMOTE_CQ_DATA, NULL}, key);
}

struct fi_ops_rma rma_ops = {sizeof rma_ops, read_one, read_parts, read_message, write_one, write_parts, write_message,
                             write_inject, write_data, write_inject_data};
