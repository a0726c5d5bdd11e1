/* What libfabric sees: the provider, its fabric, its domains, and what they can do. */
#define _POSIX_C_SOURCE 200809L
#include <rdma/providers/fi_prov.h>

#include "../fi.h"

#define VERSION FI_VERSION(0, 1)
#define BYTES_MOST ((size_t)1 << 40)

static const uint64_t message_caps = FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV;
static const uint64_t memory_caps = FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA_EVENT | FI_FENCE;
static const uint64_t domain_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
static const uint64_t send_only = FI_SEND | FI_READ | FI_WRITE | FI_FENCE;
static const uint64_t receive_only = FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_RMA_EVENT;
static const uint64_t orders = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAR |
                               FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW |
                               FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
static const uint64_t op_flags = FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |
                                 FI_MATCH_COMPLETE | FI_MULTI_RECV | FI_FENCE;

static bool other_name(const char *asked)
{
    return asked != NULL && strcmp(asked, "vic") != 0;
}

/* Does it ask for something that there is not? */
static bool asks_too_much(const struct fi_info *h)
{
    const struct fi_ep_attr *ep = h->ep_attr;
    const struct fi_domain_attr *domain = h->domain_attr;
    const struct fi_tx_attr *tx = h->tx_attr;
    const struct fi_rx_attr *rx = h->rx_attr;
    if ((h->caps & ~(message_caps | memory_caps | domain_caps)) != 0 || h->addr_format != FI_FORMAT_UNSPEC) {
        return true;
    }
    if (ep != NULL && ((ep->type != FI_EP_UNSPEC && ep->type != FI_EP_RDM) || ep->max_msg_size > BYTES_MOST ||
                       (ep->tx_ctx_cnt > 1 && ep->tx_ctx_cnt != FI_SHARED_CONTEXT) || ep->rx_ctx_cnt > 1)) {
        return true;
    }
    if (tx != NULL && ((tx->msg_order & ~orders) != 0 || tx->inject_size > INJECT_MOST || tx->iov_limit > PARTS ||
                       tx->rma_iov_limit > 1 || (tx->op_flags & ~op_flags) != 0 || (tx->comp_order & FI_ORDER_STRICT) != 0)) {
        return true;
    }
    if (rx != NULL && ((rx->msg_order & ~orders) != 0 || rx->iov_limit > PARTS || (rx->op_flags & ~op_flags) != 0 ||
                       rx->total_buffered_recv > BYTES_MOST)) {
        return true;
    }
    return (h->fabric_attr != NULL && other_name(h->fabric_attr->name)) ||
           (domain != NULL && (other_name(domain->name) || domain->data_progress == FI_PROGRESS_AUTO ||
                               domain->cq_data_size > 8 || domain->mr_key_size > 8));
}

static int memory_mode(uint32_t version, const struct fi_domain_attr *asked)
{
    if (asked == NULL || asked->mr_mode == FI_MR_UNSPEC) {
        return 0;
    }
    if (asked->mr_mode == FI_MR_SCALABLE) {
        return FI_VERSION_LT(version, FI_VERSION(1, 5)) ? FI_MR_SCALABLE : 0;
    }
    return asked->mr_mode == FI_MR_BASIC ? FI_MR_BASIC : asked->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED);
}

static uint64_t caps_of(const struct fi_info *h)
{
    if (h == NULL || h->caps == 0) {
        return message_caps | memory_caps | domain_caps;
    }
    uint64_t caps = h->caps | domain_caps;
    if ((caps & (FI_MSG | FI_TAGGED)) != 0 && (caps & (FI_SEND | FI_RECV)) == 0) {
        caps |= FI_SEND | FI_RECV;
    }
    if ((caps & (FI_RMA | FI_ATOMIC)) != 0 && (caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0) {
        caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    }
    return caps;
}

static int get_info(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *h,
                    struct fi_info **made)
{
    (void)node, (void)service, (void)flags;
    *made = NULL;
    if (h != NULL && asks_too_much(h)) {
        return -FI_ENODATA;
    }
    struct fi_info *info = fi_allocinfo();
    if (info == NULL) {
        return -FI_ENOMEM;
    }
    const struct fi_domain_attr *asked = h != NULL ? h->domain_attr : NULL;
    bool shares = h != NULL && h->ep_attr != NULL && h->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT;
    info->caps = caps_of(h);
    info->addr_format = FI_FORMAT_UNSPEC;
    *info->ep_attr = (struct fi_ep_attr){
        .type = FI_EP_RDM, .protocol = FI_PROV_SPECIFIC | 0x766963, .protocol_version = 1, .max_msg_size = BYTES_MOST,
        .max_order_raw_size = SIZE_MAX, .max_order_war_size = SIZE_MAX, .max_order_waw_size = SIZE_MAX,
        .mem_tag_format = UINT64_MAX, .tx_ctx_cnt = shares ? FI_SHARED_CONTEXT : 1, .rx_ctx_cnt = 1};
    *info->tx_attr = (struct fi_tx_attr){
        .caps = info->caps & ~(receive_only | domain_caps), .op_flags = h != NULL && h->tx_attr != NULL ? h->tx_attr->op_flags : 0,
        .msg_order = orders, .inject_size = INJECT_MOST, .size = 1024, .iov_limit = PARTS, .rma_iov_limit = 1};
    *info->rx_attr = (struct fi_rx_attr){
        .caps = info->caps & ~(send_only | domain_caps), .op_flags = h != NULL && h->rx_attr != NULL ? h->rx_attr->op_flags : 0,
        .msg_order = orders, .size = 1024, .iov_limit = PARTS};
    *info->domain_attr = (struct fi_domain_attr){
        .name = strdup("vic"), .threading = asked != NULL && asked->threading != FI_THREAD_UNSPEC ? asked->threading : FI_THREAD_SAFE,
        .control_progress = asked != NULL && asked->control_progress != FI_PROGRESS_UNSPEC ? asked->control_progress : FI_PROGRESS_MANUAL,
        .data_progress = FI_PROGRESS_MANUAL, .resource_mgmt = FI_RM_ENABLED,
        .av_type = asked != NULL ? asked->av_type : FI_AV_UNSPEC, .mr_mode = memory_mode(version, asked), .mr_key_size = 8,
        .cq_data_size = 8, .cq_cnt = 1024, .ep_cnt = ENDPOINTS, .tx_ctx_cnt = ENDPOINTS, .rx_ctx_cnt = ENDPOINTS, .max_ep_tx_ctx = 1,
        .max_ep_rx_ctx = 1, .max_ep_stx_ctx = ENDPOINTS, .cntr_cnt = 1024, .mr_iov_limit = 1, .mr_cnt = 65536, .caps = domain_caps};
    info->fabric_attr->name = strdup("vic");
    info->fabric_attr->prov_version = VERSION;
    info->fabric_attr->api_version = version;
    *made = info;
    return 0;
}

/* ---- objects that have nothing to do */

static int close_plain(struct fid *fid)
{
    free(fid);
    return 0;
}

static int control_plain(struct fid *fid, int command, void *what)
{
    (void)fid, (void)command, (void)what;
    return -FI_ENOSYS;
}

static struct fi_ops plain = {.size = sizeof plain, .close = close_plain, .bind = fi_refuse, .control = control_plain};

static int make_shared_context(struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **made, void *context)
{
    struct fid_stx *stx = calloc(1, sizeof *stx);
    (void)domain, (void)attr;
    if (stx == NULL) {
        return -FI_ENOMEM;
    }
    stx->fid = (struct fid){FI_CLASS_STX_CTX, context, &plain};
    *made = stx;
    return 0;
}

static ssize_t no_event(struct fid_eq *eq, uint32_t *event, void *to, size_t bytes, uint64_t flags)
{
    (void)eq, (void)event, (void)to, (void)bytes, (void)flags;
    return -FI_EAGAIN;
}

static ssize_t no_event_error(struct fid_eq *eq, struct fi_eq_err_entry *to, uint64_t flags)
{
    (void)eq, (void)to, (void)flags;
    return -FI_EAGAIN;
}

static struct fi_ops_eq event_ops = {.size = sizeof event_ops, .read = no_event, .readerr = no_event_error};

static int make_events(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **made, void *context)
{
    struct fid_eq *eq = calloc(1, sizeof *eq);
    (void)fabric, (void)attr;
    if (eq == NULL) {
        return -FI_ENOMEM;
    }
    eq->fid = (struct fid){FI_CLASS_EQ, context, &plain};
    eq->ops = &event_ops;
    *made = eq;
    return 0;
}

/* ---- what there is not */

static int no_scalable(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    (void)domain, (void)info, (void)ep, (void)context;
    return -FI_ENOSYS;
}

static int no_poll(struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **poll)
{
    (void)domain, (void)attr, (void)poll;
    return -FI_ENOSYS;
}

static int no_shared_receive(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep, void *context)
{
    (void)domain, (void)attr, (void)ep, (void)context;
    return -FI_ENOSYS;
}

static int no_passive(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep, void *context)
{
    (void)fabric, (void)info, (void)pep, (void)context;
    return -FI_ENOSYS;
}

static int no_wait(struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **wait)
{
    (void)fabric, (void)attr, (void)wait;
    return -FI_ENOSYS;
}

static int no_try(struct fid_fabric *fabric, struct fid **fids, int count)
{
    (void)fabric, (void)fids, (void)count;
    return -FI_ENOSYS;
}

/* ---- domain and fabric */

static struct fi_ops_domain domain_ops = {
    .size = sizeof domain_ops, .av_open = addresses_make, .cq_open = queue_make, .endpoint = endpoint_make,
    .scalable_ep = no_scalable, .cntr_open = counter_make, .poll_open = no_poll, .stx_ctx = make_shared_context,
    .srx_ctx = no_shared_receive, .query_atomic = atomic_query};

static int close_domain(struct fid *fid)
{
    port_lock();
    port_leave();
    port_unlock();
    free(fid);
    return 0;
}

static struct fi_ops domain_fid = {.size = sizeof domain_fid, .close = close_domain, .bind = fi_refuse, .control = control_plain};

static int make_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **made, void *context)
{
    struct domain *domain = calloc(1, sizeof *domain);
    (void)fabric;
    if (domain == NULL) {
        return -FI_ENOMEM;
    }
    port_lock();
    int status = port_join();
    port_unlock();
    if (status != 0) {
        free(domain);
        return status;
    }
    domain->fid.fid = (struct fid){FI_CLASS_DOMAIN, context, &domain_fid};
    domain->fid.ops = &domain_ops;
    domain->fid.mr = &memory_ops;
    domain->mr_mode = info->domain_attr != NULL ? info->domain_attr->mr_mode : 0;
    *made = &domain->fid;
    return 0;
}

static struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops, .domain = make_domain, .passive_ep = no_passive,
                                          .eq_open = make_events, .wait_open = no_wait, .trywait = no_try};

static int make_fabric(struct fi_fabric_attr *attr, struct fid_fabric **made, void *context)
{
    struct fid_fabric *fabric = other_name(attr->name) ? NULL : calloc(1, sizeof *fabric);
    if (fabric == NULL) {
        return other_name(attr->name) ? -FI_ENODATA : -FI_ENOMEM;
    }
    fabric->fid = (struct fid){FI_CLASS_FABRIC, context, &plain};
    fabric->ops = &fabric_ops;
    fabric->api_version = attr->api_version;
    *made = fabric;
    return 0;
}

static void cleanup(void)
{
}

static struct fi_provider provider = {.version = VERSION, .name = "vic", .getinfo = get_info, .fabric = make_fabric,
                                      .cleanup = cleanup};

/* Any libfabric from 1.17 on: the provider states the version of the one that loads it. */
VIC_API struct fi_provider *fi_prov_ini(void);

VIC_API struct fi_provider *fi_prov_ini(void)
{
    provider.fi_version = fi_version();
    return &provider;
}
