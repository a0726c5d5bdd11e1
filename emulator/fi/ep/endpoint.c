/* Endpoints, and what all transfers have in common. */
#include "../fi.h"

size_t parts_bytes(const struct iovec *part, size_t parts)
{
    size_t bytes = 0;
    for (size_t i = 0; i < parts; i++) {
        bytes += part[i].iov_len;
    }
    return bytes;
}

size_t parts_fill(const struct iovec *part, size_t parts, const uint8_t *from, size_t bytes)
{
    size_t done = 0;
    for (size_t i = 0; i < parts && done < bytes; i++) {
        size_t n = part[i].iov_len < bytes - done ? part[i].iov_len : bytes - done;
        if (n > 0) {
            memcpy(part[i].iov_base, from + done, n);
        }
        done += n;
    }
    return done;
}

static uint8_t *append(uint8_t *to, const struct iovec *part, size_t parts)
{
    for (size_t i = 0; i < parts; i++) {
        if (part[i].iov_len > 0) {
            memcpy(to, part[i].iov_base, part[i].iov_len);
        }
        to += part[i].iov_len;
    }
    return to;
}

static uint64_t completion_flags(enum kind kind)
{
    static const uint64_t flags[] = {[TAGGED] = FI_SEND | FI_TAGGED, [PLAIN] = FI_SEND | FI_MSG, [WRITE] = FI_RMA | FI_WRITE,
                                     [READ] = FI_RMA | FI_READ, [ATOMIC] = FI_ATOMIC | FI_WRITE, [ANSWER] = 0};
    return flags[kind];
}

int transfer_make(struct endpoint *ep, enum kind kind, const struct request *request, const struct iovec *more,
                  size_t mores, struct transfer **transfer)
{
    const struct addresses *av = ep->addresses;
    if (!ep->enabled || av == NULL) {
        return -FI_EOPBADSTATE;
    }
    if (port.ended != 0) {
        return -port.ended;
    }
    if (request->peer >= av->count || av->of[request->peer] == GONE || request->parts > PARTS) {
        return -FI_EINVAL;
    }
    size_t bytes = parts_bytes(request->part, request->parts);
    bool inject = (request->flags & (FI_INJECT | SILENT)) != 0;
    if (inject && bytes > INJECT_MOST) {
        return -FI_EINVAL;
    }
    bytes += parts_bytes(more, mores);
    struct transfer *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return -FI_ENOMEM;
    }
    if (request->parts == 1 && mores == 0 && !inject) {
        t->bytes = request->part[0].iov_base;
    } else if (bytes > 0) {
        t->own = malloc(bytes);
        if (t->own == NULL) {
            free(t);
            return -FI_ENOMEM;
        }
        append(append(t->own, request->part, request->parts), more, mores);
        t->bytes = t->own;
    }
    uint64_t peer = av->of[request->peer];
    t->ep = ep;
    t->card = (uint32_t)(peer >> 32);
    t->head = (struct head){.kind = (uint8_t)kind, .to = (uint8_t)peer, .from = ep->number, .bytes = bytes,
                            .tag = request->tag, .data = request->data};
    t->head.flags = (request->flags & FI_REMOTE_CQ_DATA) != 0 ? HAS_DATA : 0;
    t->context = request->context;
    t->flags = completion_flags(kind);
    t->completes = (request->flags & SILENT) == 0 && (!ep->sends_select || (request->flags & FI_COMPLETION) != 0);
    t->answered = kind >= WRITE || (request->flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)) != 0;
    t->counter = kind < WRITE ? ep->sent : kind == READ ? ep->read : ep->written;
    if (t->answered) {
        t->head.slot = port_slot(t);
        t->head.flags |= WANTS_ANSWER;
        if (t->head.slot == UINT32_MAX) {
            free(t->own);
            free(t);
            return -FI_ENOMEM;
        }
    }
    *transfer = t;
    return 0;
}

/* ---- calls */

static ssize_t cancel(struct fid *fid, void *context)
{
    port_lock();
    ssize_t result = match_cancel((struct endpoint *)fid, context);
    port_unlock();
    return result;
}

static int get_option(struct fid *fid, int level, int option, void *value, size_t *bytes)
{
    if (level != FI_OPT_ENDPOINT || (option != FI_OPT_MIN_MULTI_RECV && option != FI_OPT_CM_DATA_SIZE)) {
        return -FI_ENOPROTOOPT;
    }
    if (*bytes < sizeof(size_t)) {
        return -FI_ETOOSMALL;
    }
    *(size_t *)value = option == FI_OPT_MIN_MULTI_RECV ? ((struct endpoint *)fid)->least : 0;
    *bytes = sizeof(size_t);
    return 0;
}

static int set_option(struct fid *fid, int level, int option, const void *value, size_t bytes)
{
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) {
        return -FI_ENOPROTOOPT;
    }
    if (bytes < sizeof(size_t)) {
        return -FI_EINVAL;
    }
    ((struct endpoint *)fid)->least = *(const size_t *)value;
    return 0;
}

static int no_send_context(struct fid_ep *ep, int i, struct fi_tx_attr *attr, struct fid_ep **made, void *context)
{
    (void)ep, (void)i, (void)attr, (void)made, (void)context;
    return -FI_ENOSYS;
}

static int no_receive_context(struct fid_ep *ep, int i, struct fi_rx_attr *attr, struct fid_ep **made, void *context)
{
    (void)ep, (void)i, (void)attr, (void)made, (void)context;
    return -FI_ENOSYS;
}

static ssize_t size_left(struct fid_ep *ep)
{
    (void)ep;
    return 1024;
}

static int get_name(struct fid *fid, void *addr, size_t *bytes)
{
    uint32_t a[2] = {port.attr.card, ((struct endpoint *)fid)->number};
    size_t had = *bytes;
    *bytes = sizeof a;
    memcpy(addr, a, had < sizeof a ? had : sizeof a);
    return had < sizeof a ? -FI_ETOOSMALL : 0;
}

static int bind_counter(struct endpoint *ep, struct counter *counter, uint64_t flags)
{
    struct counter **const place[] = {&ep->sent, &ep->received, &ep->read, &ep->written, &ep->remote_read, &ep->remote_written};
    static const uint64_t flag[] = {FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
    for (size_t i = 0; i < 6; i++) {
        if ((flags & flag[i]) != 0) {
            *place[i] = counter;
        }
    }
    return 0;
}

static int bind_one(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct endpoint *ep = (struct endpoint *)fid;
    switch (other->fclass) {
    case FI_CLASS_AV:
        ep->addresses = (struct addresses *)other;
        return 0;
    case FI_CLASS_CQ:
        if ((flags & FI_TRANSMIT) != 0) {
            ep->sends = (struct queue *)other;
            ep->sends_select = (flags & FI_SELECTIVE_COMPLETION) != 0;
        }
        if ((flags & FI_RECV) != 0) {
            ep->receives = (struct queue *)other;
            ep->receives_select = (flags & FI_SELECTIVE_COMPLETION) != 0;
        }
        return 0;
    case FI_CLASS_CNTR:
        return bind_counter(ep, (struct counter *)other, flags);
    case FI_CLASS_EQ:
    case FI_CLASS_STX_CTX:
        return 0;
    default:
        return -FI_EINVAL;
    }
}

static int control(struct fid *fid, int command, void *what)
{
    struct endpoint *ep = (struct endpoint *)fid;
    switch (command) {
    case FI_ENABLE:
        if (ep->addresses == NULL) {
            return -FI_ENOAV;
        }
        ep->enabled = true;
        return 0;
    case FI_GETOPSFLAG:
        *(uint64_t *)what = (*(uint64_t *)what & FI_TRANSMIT) != 0 ? ep->send_flags : ep->receive_flags;
        return 0;
    case FI_SETOPSFLAG:
        *((*(uint64_t *)what & FI_TRANSMIT) != 0 ? &ep->send_flags : &ep->receive_flags) =
            *(uint64_t *)what & ~(FI_TRANSMIT | FI_RECV);
        return 0;
    default:
        return -FI_ENOSYS;
    }
}

static int close_it(struct fid *fid)
{
    struct endpoint *ep = (struct endpoint *)fid;
    port_lock();
    port_drop(ep);
    match_drop(ep, 0);
    port.endpoint[ep->number] = NULL;
    free(ep);
    port_unlock();
    return 0;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_it, .bind = bind_one, .control = control};
static struct fi_ops_ep ops = {sizeof ops, cancel, get_option, set_option, no_send_context, no_receive_context,
                               size_left, size_left};
static struct fi_ops_cm name_ops = {.size = sizeof name_ops, .getname = get_name};

int endpoint_make(struct fid_domain *domain, struct fi_info *info, struct fid_ep **made, void *context)
{
    struct endpoint *ep = calloc(1, sizeof *ep);
    if (ep == NULL) {
        return -FI_ENOMEM;
    }
    port_lock();
    unsigned number = 0;
    while (number < ENDPOINTS && port.endpoint[number] != NULL) {
        number++;
    }
    if (number == ENDPOINTS) {
        port_unlock();
        free(ep);
        return -FI_ENOSPC;
    }
    ep->number = (uint8_t)number;
    ep->domain = (struct domain *)domain;
    ep->posted_end = &ep->posted;
    ep->arrived_end = &ep->arrived;
    ep->least = 64;
    ep->send_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
    ep->receive_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
    ep->fid.fid = (struct fid){FI_CLASS_EP, context, &fid_ops};
    ep->fid.ops = &ops;
    ep->fid.cm = &name_ops;
    ep->fid.msg = &plain_ops;
    ep->fid.tagged = &tagged_ops;
    ep->fid.rma = &rma_ops;
    ep->fid.atomic = &atomic_ops;
    port.endpoint[number] = ep;
    port_unlock();
    *made = &ep->fid;
    return 0;
}
