/* Addresses: a card and the number of an endpoint of its process. */
#include <stdio.h>

#include "../fi.h"

enum { BYTES = 8 };

fi_addr_t address_of(const struct endpoint *ep, uint32_t card, uint8_t number)
{
    return ep->addresses != NULL ? ep->addresses->back[card * ENDPOINTS + number] : FI_ADDR_NOTAVAIL;
}

static int insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *to, uint64_t flags, void *context)
{
    struct addresses *av = (struct addresses *)fid;
    int good = 0;
    port_lock();
    for (size_t i = 0; i < count; i++) {
        uint32_t a[2];
        memcpy(a, (const char *)addr + i * BYTES, BYTES);
        int error = a[0] >= port.attr.cards || a[1] >= ENDPOINTS ? FI_EINVAL : 0;
        if (error == 0 && av->count == av->room) {
            size_t room = 2 * av->room + 64;
            uint64_t *of = realloc(av->of, room * sizeof *of);
            av->of = of != NULL ? of : av->of;
            av->room = of != NULL ? room : av->room;
            error = of != NULL ? 0 : FI_ENOMEM;
        }
        fi_addr_t index = error == 0 ? av->count++ : FI_ADDR_NOTAVAIL;
        if (error == 0) {
            av->of[index] = (uint64_t)a[0] << 32 | a[1];
            av->back[a[0] * ENDPOINTS + a[1]] = index;
            good++;
        }
        if (to != NULL) {
            to[i] = index;
        }
        if ((flags & FI_SYNC_ERR) != 0) {
            ((int *)context)[i] = error;
        }
    }
    port_unlock();
    return good;
}

static int by_name(struct fid_av *fid, const char *node, const char *service, fi_addr_t *to, uint64_t flags, void *context)
{
    (void)fid, (void)node, (void)service, (void)to, (void)flags, (void)context;
    return -FI_ENOSYS;
}

static int by_names(struct fid_av *fid, const char *node, size_t nodes, const char *service, size_t services,
                    fi_addr_t *to, uint64_t flags, void *context)
{
    (void)nodes, (void)services;
    return by_name(fid, node, service, to, flags, context);
}

static int remove_all(struct fid_av *fid, fi_addr_t *addr, size_t count, uint64_t flags)
{
    struct addresses *av = (struct addresses *)fid;
    int result = 0;
    (void)flags;
    port_lock();
    for (size_t i = 0; i < count; i++) {
        if (addr[i] >= av->count || av->of[addr[i]] == GONE) {
            result = -FI_EINVAL;
            continue;
        }
        fi_addr_t *back = &av->back[(av->of[addr[i]] >> 32) * ENDPOINTS + (uint32_t)av->of[addr[i]]];
        *back = *back == addr[i] ? FI_ADDR_NOTAVAIL : *back;
        av->of[addr[i]] = GONE;
    }
    port_unlock();
    return result;
}

static int look_up(struct fid_av *fid, fi_addr_t addr, void *to, size_t *bytes)
{
    const struct addresses *av = (struct addresses *)fid;
    if (addr >= av->count || av->of[addr] == GONE) {
        return -FI_EINVAL;
    }
    uint32_t a[2] = {(uint32_t)(av->of[addr] >> 32), (uint32_t)av->of[addr]};
    memcpy(to, a, *bytes < BYTES ? *bytes : BYTES);
    *bytes = BYTES;
    return 0;
}

static const char *text_of(struct fid_av *fid, const void *addr, char *text, size_t *bytes)
{
    uint32_t a[2];
    (void)fid;
    memcpy(a, addr, BYTES);
    *bytes = (size_t)snprintf(text, *bytes, "vic://%u/%u", a[0], a[1]) + 1;
    return text;
}

static int close_it(struct fid *fid)
{
    struct addresses *av = (struct addresses *)fid;
    free(av->of);
    free(av->back);
    free(av);
    return 0;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = close_it, .bind = fi_refuse};
static struct fi_ops_av ops = {.size = sizeof ops, .insert = insert, .insertsvc = by_name, .insertsym = by_names,
                               .remove = remove_all, .lookup = look_up, .straddr = text_of};

int addresses_make(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context)
{
    (void)domain;
    if (attr != NULL && (attr->name != NULL || (attr->flags & FI_EVENT) != 0 || attr->rx_ctx_bits != 0)) {
        return -FI_ENOSYS;
    }
    size_t places = (size_t)port.attr.cards * ENDPOINTS;
    struct addresses *made = calloc(1, sizeof *made);
    fi_addr_t *back = malloc(places * sizeof *back);
    if (made == NULL || back == NULL) {
        free(made);
        free(back);
        return -FI_ENOMEM;
    }
    for (size_t i = 0; i < places; i++) {
        back[i] = FI_ADDR_NOTAVAIL;
    }
    made->fid.fid = (struct fid){FI_CLASS_AV, context, &fid_ops};
    made->fid.ops = &ops;
    made->back = back;
    if (attr != NULL && attr->type == FI_AV_UNSPEC) {
        attr->type = FI_AV_TABLE;
    }
    *av = &made->fid;
    return 0;
}
