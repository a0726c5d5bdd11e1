/* Counters of completions. */
#include "../fi.h"

static uint64_t read_value(struct fid_cntr *fid)
{
    port_lock();
    port_progress();
    uint64_t value = ((struct counter *)fid)->value;
    port_unlock();
    return value;
}

static uint64_t read_errors(struct fid_cntr *fid)
{
    port_lock();
    uint64_t errors = ((struct counter *)fid)->errors;
    port_unlock();
    return errors;
}

static int change(uint64_t *of, bool add, uint64_t value)
{
    port_lock();
    *of = add ? *of + value : value;
    port_unlock();
    return 0;
}

static int add(struct fid_cntr *fid, uint64_t value)
{
    return change(&((struct counter *)fid)->value, true, value);
}

static int set(struct fid_cntr *fid, uint64_t value)
{
    return change(&((struct counter *)fid)->value, false, value);
}

static int add_error(struct fid_cntr *fid, uint64_t value)
{
    return change(&((struct counter *)fid)->errors, true, value);
}

static int set_error(struct fid_cntr *fid, uint64_t value)
{
    return change(&((struct counter *)fid)->errors, false, value);
}

static int wait_for(struct fid_cntr *fid, uint64_t value, int timeout)
{
    uint64_t end_ms = port_ms() + (uint64_t)timeout, errors = read_errors(fid);
    while (read_value(fid) < value) {
        if (read_errors(fid) != errors) {
            return -FI_EAVAIL;
        }
        if (port_over() != 0) {
            return -port_over();
        }
        if (timeout >= 0 && port_ms() >= end_ms) {
            return -FI_ETIMEDOUT;
        }
    }
    return 0;
}

static int close_it(struct fid *fid)
{
    free(fid);
    return 0;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_it, .bind = fi_refuse};
static struct fi_ops_cntr ops = {sizeof ops, read_value, read_errors, add, set, wait_for, add_error, set_error};

int counter_make(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context)
{
    (void)domain;
    if (attr != NULL && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC) {
        return -FI_ENOSYS;
    }
    struct counter *counter = calloc(1, sizeof *counter);
    if (counter == NULL) {
        return -FI_ENOMEM;
    }
    counter->fid.fid = (struct fid){FI_CLASS_CNTR, context, &fid_ops};
    counter->fid.ops = &ops;
    *cntr = &counter->fid;
    return 0;
}
