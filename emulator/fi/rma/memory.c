/* Memory of this process that others reach. It is host memory: this host does what they ask for. */
#include "../fi.h"

struct memory *memory_find(uint64_t key)
{
    struct memory *memory = port.memory;
    while (memory != NULL && memory->fid.key != key) {
        memory = memory->next;
    }
    return memory;
}

uint8_t *memory_at(const struct head *head, size_t bytes, uint64_t access, struct memory **memory, uint16_t *error)
{
    *memory = memory_find(head->key);
    if (*memory == NULL || ((*memory)->access & access) == 0) {
        *error = FI_EACCES;
        return NULL;
    }
    uint64_t at = (*memory)->absolute ? head->tag - (*memory)->base : head->tag;
    if (at > (*memory)->bytes || bytes > (*memory)->bytes - at) {
        *error = FI_EINVAL;
        return NULL;
    }
    return (uint8_t *)((*memory)->base + at);
}

static int close_it(struct fid *fid)
{
    port_lock();
    struct memory **at = &port.memory;
    while (*at != NULL && *at != (struct memory *)fid) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = (*at)->next;
    }
    free(fid);
    port_unlock();
    return 0;
}

static int bind_one(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)flags;
    if (other->fclass == FI_CLASS_CNTR) {
        ((struct memory *)fid)->counter = (struct counter *)other;
        return 0;
    }
    return other->fclass == FI_CLASS_EP ? 0 : -FI_EINVAL;
}

static int control(struct fid *fid, int command, void *what)
{
    (void)fid, (void)what;
    return command == FI_ENABLE || command == FI_REFRESH ? 0 : -FI_ENOSYS;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_it, .bind = bind_one, .control = control};

static int reg_attr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **made)
{
    const struct domain *domain = (struct domain *)fid;
    (void)flags;
    if (attr->iov_count != 1) {
        return -FI_EINVAL;
    }
    struct memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        return -FI_ENOMEM;
    }
    bool basic = (domain->mr_mode & FI_MR_BASIC) != 0, chosen = basic || (domain->mr_mode & FI_MR_PROV_KEY) != 0;
    port_lock();
    memory->base = (uintptr_t)attr->mr_iov[0].iov_base;
    memory->bytes = attr->mr_iov[0].iov_len;
    memory->access = attr->access;
    memory->absolute = basic || (domain->mr_mode & FI_MR_VIRT_ADDR) != 0;
    memory->fid.fid = (struct fid){FI_CLASS_MR, attr->context, &fid_ops};
    memory->fid.key = chosen ? ++port.next_key : attr->requested_key;
    memory->fid.mem_desc = memory;
    if (memory_find(memory->fid.key) != NULL) {
        port_unlock();
        free(memory);
        return -FI_ENOKEY;
    }
    memory->next = port.memory;
    port.memory = memory;
    *made = &memory->fid;
    port_unlock();
    return 0;
}

static int reg_parts(struct fid *fid, const struct iovec *part, size_t parts, uint64_t access, uint64_t offset,
                     uint64_t key, uint64_t flags, struct fid_mr **made, void *context)
{
    struct fi_mr_attr attr = {.mr_iov = part, .iov_count = parts, .access = access, .offset = offset,
                              .requested_key = key, .context = context};
    return reg_attr(fid, &attr, flags, made);
}

static int reg(struct fid *fid, const void *buffer, size_t bytes, uint64_t access, uint64_t offset, uint64_t key,
               uint64_t flags, struct fid_mr **made, void *context)
{
    struct iovec one = {(void *)(uintptr_t)buffer, bytes};
    return reg_parts(fid, &one, 1, access, offset, key, flags, made, context);
}

struct fi_ops_mr memory_ops = {sizeof memory_ops, reg, reg_parts, reg_attr};
