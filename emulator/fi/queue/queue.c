/* Completion queues: they grow, so none overruns. */
#include <stdio.h>

#include "../fi.h"

void queue_add(struct queue *queue, const struct fi_cq_tagged_entry *entry, fi_addr_t from)
{
    if (queue == NULL) {
        return;
    }
    if (queue->tail - queue->head == queue->room) {
        size_t room = queue->room == 0 ? 256 : 2 * queue->room;
        struct completion *ring = malloc(room * sizeof *ring);
        if (ring == NULL) {
            abort(); /* a completion that is lost would never be missed but for a program that hangs */
        }
        for (size_t i = queue->head; i < queue->tail; i++) {
            ring[i % room] = queue->ring[i % queue->room];
        }
        free(queue->ring);
        queue->ring = ring;
        queue->room = room;
    }
    queue->ring[queue->tail++ % queue->room] = (struct completion){*entry, from};
}

void queue_fail(struct queue *queue, const struct fi_cq_err_entry *entry)
{
    if (queue == NULL) {
        return;
    }
    if (queue->errors == queue->error_room) {
        size_t room = 2 * queue->error_room + 8;
        struct fi_cq_err_entry *error = realloc(queue->error, room * sizeof *error);
        if (error == NULL) {
            abort();
        }
        queue->error = error;
        queue->error_room = room;
    }
    queue->error[queue->errors++] = *entry;
}

static ssize_t take(struct queue *queue, char *to, size_t count, fi_addr_t *from)
{
    size_t n = 0;
    if (queue->head == queue->tail && queue->errors == 0) {
        port_progress();
    }
    if (queue->errors > 0 && queue->head == queue->tail) {
        return -FI_EAVAIL;
    }
    for (; n < count && queue->head < queue->tail; n++, queue->head++) {
        const struct completion *c = &queue->ring[queue->head % queue->room];
        memcpy(to + n * queue->entry, &c->e, queue->entry);
        if (from != NULL) {
            from[n] = c->from;
        }
    }
    return n > 0 ? (ssize_t)n : -FI_EAGAIN;
}

static ssize_t read_from(struct fid_cq *fid, void *to, size_t count, fi_addr_t *from)
{
    port_lock();
    ssize_t n = take((struct queue *)fid, to, count, from);
    port_unlock();
    return n;
}

static ssize_t read_some(struct fid_cq *fid, void *to, size_t count)
{
    return read_from(fid, to, count, NULL);
}

static ssize_t read_error(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
    struct queue *queue = (struct queue *)fid;
    (void)flags;
    port_lock();
    ssize_t n = queue->errors > 0 ? 1 : -FI_EAGAIN;
    if (n == 1) {
        *entry = queue->error[0];
        memmove(queue->error, queue->error + 1, --queue->errors * sizeof *queue->error);
    }
    port_unlock();
    return n;
}

static ssize_t wait_from(struct fid_cq *fid, void *to, size_t count, fi_addr_t *from, const void *condition, int timeout)
{
    struct queue *queue = (struct queue *)fid;
    uint64_t end_ms = port_ms() + (uint64_t)timeout;
    (void)condition;
    for (;;) {
        ssize_t n = read_from(fid, to, count, from);
        if (n != -FI_EAGAIN || queue->signalled || port_over() != 0 || (timeout >= 0 && port_ms() >= end_ms)) {
            queue->signalled = false;
            return n;
        }
    }
}

static ssize_t wait_some(struct fid_cq *fid, void *to, size_t count, const void *condition, int timeout)
{
    return wait_from(fid, to, count, NULL, condition, timeout);
}

static int signal_it(struct fid_cq *fid)
{
    ((struct queue *)fid)->signalled = true;
    return 0;
}

static const char *error_text(struct fid_cq *fid, int error, const void *data, char *text, size_t bytes)
{
    const char *known = fi_strerror(error);
    (void)fid, (void)data;
    if (text != NULL && bytes > 0) {
        snprintf(text, bytes, "%s", known);
    }
    return known;
}

static int close_it(struct fid *fid)
{
    struct queue *queue = (struct queue *)fid;
    free(queue->ring);
    free(queue->error);
    free(queue);
    return 0;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_it, .bind = fi_refuse};
static struct fi_ops_cq ops = {sizeof ops, read_some, read_from, read_error, wait_some, wait_from, signal_it, error_text};

int queue_make(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    static const size_t entries[] = {
        [FI_CQ_FORMAT_UNSPEC] = sizeof(struct fi_cq_tagged_entry), [FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
        [FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry), [FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
        [FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry)};
    (void)domain;
    if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC) {
        return -FI_ENOSYS;
    }
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        return -FI_ENOMEM;
    }
    if (attr->format == FI_CQ_FORMAT_UNSPEC) {
        attr->format = FI_CQ_FORMAT_TAGGED;
    }
    queue->entry = entries[attr->format];
    queue->fid.fid = (struct fid){FI_CLASS_CQ, context, &fid_ops};
    queue->fid.ops = &ops;
    *cq = &queue->fid;
    return 0;
}

int fi_refuse(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid, (void)other, (void)flags;
    return -FI_ENOSYS;
}
