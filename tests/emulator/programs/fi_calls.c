/* The provider of libfabric by its own calls, on a ring of cards: each sends to the next, and reaches its memory. The card that
 * an argument names stays when all others have ended. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 100 * 1024 + 3, KEY = 7 };
#define OK(call) good((call) == 0, #call)
#define IS(condition) good(condition, #condition)

static uint32_t me, all, next, before;
static struct fid_ep *ep;
static struct fid_cq *cq;
static fi_addr_t *to;
static uint64_t window[64];
static unsigned char big[BIG], got[BIG];

static void good(int is, const char *what)
{
    if (!is) {
        fprintf(stderr, "card %u: %s\n", me, what);
        exit(1);
    }
}

static struct fi_cq_tagged_entry done(void)
{
    struct fi_cq_tagged_entry entry;
    ssize_t n;
    while ((n = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
    }
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(cq, &error, 0);
        fprintf(stderr, "card %u: %s\n", me, fi_strerror(error.err));
    }
    IS(n == 1);
    return entry;
}

static struct fi_cq_err_entry failed(void)
{
    struct fi_cq_err_entry error = {0};
    struct fi_cq_tagged_entry entry;
    ssize_t n;
    while ((n = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
    }
    IS(n == -FI_EAVAIL);
    IS(fi_cq_readerr(cq, &error, 0) == 1);
    return error;
}

/* Of two completions, in any order, that of a receive. */
static struct fi_cq_tagged_entry both(void)
{
    struct fi_cq_tagged_entry a = done(), b = done();
    IS(((a.flags & FI_RECV) != 0) != ((b.flags & FI_RECV) != 0));
    return (a.flags & FI_RECV) != 0 ? a : b;
}

static void barrier(void)
{
    for (uint32_t step = 1; step < all; step *= 2) {
        char byte;
        OK(fi_trecv(ep, &byte, 1, NULL, FI_ADDR_UNSPEC, 1000 + step, 0, NULL));
        OK(fi_tsend(ep, "", 1, NULL, to[(me + step) % all], 1000 + step, NULL));
        both();
    }
}

static void messages(void)
{
    struct fi_cq_tagged_entry e;
    const size_t sizes[] = {0, 1, 8, 4096, BIG};
    for (size_t i = 0; i < 5; i++) { /* the receive comes first, then second */
        for (int late = 0; late < 2; late++) {
            memset(got, 0, sizeof got);
            if (!late) {
                OK(fi_trecv(ep, got, BIG, NULL, to[before], 5, 0, got));
            }
            OK(fi_tsend(ep, big, sizes[i], NULL, to[next], 5, NULL));
            if (late) {
                OK(fi_trecv(ep, got, BIG, NULL, FI_ADDR_UNSPEC, 5, 0, got));
            }
            e = both();
            IS(e.len == sizes[i] && e.op_context == got && memcmp(got, big, sizes[i]) == 0);
            barrier();
        }
    }
    uint64_t data = me + 1;
    OK(fi_recv(ep, got, 8, NULL, FI_ADDR_UNSPEC, NULL)); /* no tag: the tagged one waits */
    OK(fi_tinject(ep, &data, 8, to[next], 9));
    OK(fi_injectdata(ep, &data, 8, 77, to[next]));
    e = done();
    IS((e.flags & FI_REMOTE_CQ_DATA) != 0 && e.data == 77);
    struct iovec part[2] = {{got, 3}, {got + 100, 5}};
    OK(fi_trecvv(ep, part, NULL, 2, to[before], 0, ~UINT64_C(0), NULL));
    e = done();
    data = before + 1;
    IS(e.tag == 9 && memcmp(got, &data, 3) == 0 && memcmp(got + 100, (char *)&data + 3, 5) == 0);
    OK(fi_trecv(ep, got, 4, NULL, FI_ADDR_UNSPEC, 11, 0, NULL)); /* too small */
    OK(fi_tinject(ep, big, 64, to[next], 11));
    struct fi_cq_err_entry error = failed();
    IS(error.err == FI_ETRUNC && error.olen == 60 && error.len == 4);
    OK(fi_trecv(ep, got, 4, NULL, FI_ADDR_UNSPEC, 12, 0, &data));
    OK(fi_cancel(&ep->fid, &data));
    error = failed();
    IS(error.err == FI_ECANCELED && error.op_context == &data);
    barrier();
}

static void peeks(void)
{
    struct fi_context context;
    struct fi_msg_tagged m = {.addr = FI_ADDR_UNSPEC, .tag = 20, .context = &context};
    OK(fi_trecvmsg(ep, &m, FI_PEEK));
    IS(failed().err == FI_ENOMSG);
    barrier();
    OK(fi_tinject(ep, big, 40, to[next], 20));
    barrier();
    struct fi_cq_tagged_entry e;
    for (ssize_t n = 0; n != 1;) { /* until it has come */
        OK(fi_trecvmsg(ep, &m, FI_PEEK));
        n = fi_cq_read(cq, &e, 1);
        if (n == -FI_EAVAIL) {
            IS(failed().err == FI_ENOMSG);
        }
    }
    IS(e.len == 40);
    OK(fi_trecvmsg(ep, &m, FI_PEEK | FI_CLAIM));
    IS(done().len == 40);
    OK(fi_trecvmsg(ep, &m, FI_PEEK));
    IS(failed().err == FI_ENOMSG); /* claimed */
    struct iovec part = {got, 40};
    m.msg_iov = &part;
    m.iov_count = 1;
    OK(fi_trecvmsg(ep, &m, FI_CLAIM));
    IS(done().len == 40 && memcmp(got, big, 40) == 0);
    barrier();
    struct iovec room = {got, 300};
    struct fi_msg several = {.msg_iov = &room, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &context};
    OK(fi_recvmsg(ep, &several, FI_MULTI_RECV));
    for (int i = 0; i < 3; i++) {
        OK(fi_inject(ep, big + i, 90, to[next]));
    }
    for (int i = 0; i < 3; i++) {
        e = done();
        IS(e.buf == got + 90 * i && memcmp(e.buf, big + i, 90) == 0 && ((e.flags & FI_MULTI_RECV) != 0) == (i == 2));
    }
    barrier();
}

static void memory(struct fid_domain *domain)
{
    struct fid_mr *mr;
    OK(fi_mr_reg(domain, window, sizeof window, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL));
    uint64_t value = me + 1, sum = 0, old = 99;
    barrier();
    OK(fi_write(ep, &value, 8, NULL, to[next], 8, KEY, NULL));
    IS((done().flags & FI_WRITE) != 0);
    OK(fi_read(ep, &sum, 8, NULL, to[next], 8, KEY, NULL));
    done();
    IS(sum == value);
    for (int i = 0; i < 10; i++) { /* all at card 0 */
        value = 1;
        OK(fi_fetch_atomic(ep, &value, 1, NULL, &old, NULL, to[0], 16, KEY, FI_UINT64, FI_SUM, NULL));
        done();
    }
    barrier();
    OK(fi_read(ep, &sum, 8, NULL, to[0], 16, KEY, NULL));
    done();
    IS(sum == 10 * all && old < sum);
    uint64_t with = me, mine = 1000 + me;
    barrier();
    OK(fi_write(ep, &with, 8, NULL, to[next], 24, KEY, NULL));
    done();
    OK(fi_compare_atomic(ep, &mine, 1, NULL, &with, NULL, &old, NULL, to[next], 24, KEY, FI_UINT64, FI_CSWAP, NULL));
    done();
    IS(old == me);
    OK(fi_read(ep, &sum, 8, NULL, to[next], 24, KEY, NULL));
    done();
    IS(sum == mine);
    OK(fi_write(ep, &value, 8, NULL, to[next], sizeof window - 4, KEY, NULL)); /* beyond its end */
    IS(failed().err == FI_EINVAL);
    OK(fi_read(ep, &value, 8, NULL, to[next], 0, KEY + 1, NULL));
    IS(failed().err == FI_EACCES);
    barrier();
    fi_close(&mr->fid);
}

/* The end of the others fails what waits for them, and nothing else: buffers that are there for anybody, and what a card sends
 * to itself. */
static void alone(void)
{
    struct iovec room = {got, 300};
    struct fi_msg several = {.msg_iov = &room, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &room};
    OK(fi_recvmsg(ep, &several, FI_MULTI_RECV));
    OK(fi_trecv(ep, got + 300, 1, NULL, to[me], 30, 0, &several));
    OK(fi_trecv(ep, got + 400, 1, NULL, to[next], 31, 0, to));
    struct fi_cq_err_entry error = failed();
    IS(error.err == FI_ECONNABORTED && error.op_context == to);
    struct fi_cq_tagged_entry e;
    for (int i = 0; i < 1000; i++) {
        IS(fi_cq_read(cq, &e, 1) == -FI_EAGAIN);
    }
    OK(fi_tinject(ep, "x", 1, to[me], 30));
    e = done();
    IS(e.op_context == &several && got[300] == 'x');
    OK(fi_inject(ep, "y", 1, to[me]));
    e = done();
    IS(e.op_context == &room && got[0] == 'y');
    OK(fi_trecv(ep, got, 1, NULL, to[next], 31, 0, to)); /* one that begins to wait then */
    IS(failed().op_context == to);
    OK(fi_cancel(&ep->fid, &room));
    IS(failed().err == FI_ECANCELED);
}

int main(int argc, char **argv)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    uint32_t name[2];
    size_t bytes = sizeof name;
    me = (uint32_t)atoi(getenv("VIC_CARD"));
    all = (uint32_t)atoi(getenv("VIC_CARDS"));
    next = (me + 1) % all;
    before = (me + all - 1) % all;
    hints->fabric_attr->prov_name = strdup("vic");
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO; /* there is none */
    IS(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) == -FI_ENODATA);
    hints->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
    hints->ep_attr->type = FI_EP_MSG;
    IS(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) == -FI_ENODATA);
    hints->ep_attr->type = FI_EP_RDM;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    OK(fi_fabric(info->fabric_attr, &fabric, NULL));
    OK(fi_domain(fabric, info, &domain, NULL));
    OK(fi_cq_open(domain, &cq_attr, &cq, NULL));
    OK(fi_av_open(domain, &av_attr, &av, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL));
    OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    OK(fi_ep_bind(ep, &av->fid, 0));
    OK(fi_enable(ep));
    OK(fi_getname(&ep->fid, name, &bytes));
    IS(bytes == sizeof name && name[0] == me);
    to = calloc(all, sizeof *to);
    for (uint32_t card = 0; card < all; card++) {
        uint32_t its[2] = {card, name[1]};
        IS(fi_av_insert(av, its, 1, &to[card], 0, NULL) == 1);
    }
    for (size_t i = 0; i < BIG; i++) {
        big[i] = (unsigned char)(i * 7 + i / 256);
    }
    messages();
    peeks();
    memory(domain);
    if (argc > 1 && (uint32_t)atoi(argv[1]) == me) {
        alone();
    }
    fi_close(&ep->fid);
    fi_close(&av->fid);
    fi_close(&cq->fid);
    fi_close(&domain->fid);
    fi_close(&fabric->fid);
    fi_freeinfo(info);
    fi_freeinfo(hints);
    free(to);
    return 0;
}
