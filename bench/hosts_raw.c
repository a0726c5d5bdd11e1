/* The rival of bench/hosts.py: two processes on two hosts and libfabric over tcp, nothing else, as fast as they can.
 *
 *     hosts_raw SIDE ADDRESS FOLDER TEST COUNT      one figure on the stdout of side 1
 *
 * SIDE is 0 or 1, ADDRESS its own; both find each other's address in FOLDER, which both see. The memory of each can be written by RMA, and
 * its counters by atomics, which the provider carries out when the target looks.
 */
#include "emulator_pair.h"

#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define MUST(call)                                                                                          \
    do {                                                                                                    \
        ssize_t status_ = (call);                                                                           \
        if (status_ != 0) {                                                                                 \
            fprintf(stderr, "hosts_raw: %s: %s\n", #call, fi_strerror((int)-status_));                      \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

/* As `call`, as soon as there is room for it. */
#define SOON(call)                                                                                          \
    do {                                                                                                    \
        ssize_t soon_;                                                                                      \
        while ((soon_ = (call)) == -FI_EAGAIN) {                                                            \
            look();                                                                                         \
        }                                                                                                   \
        MUST(soon_);                                                                                        \
    } while (0)

struct memory {
    volatile uint64_t counter[64]; /* 0: of puts; from 8 on: of blocks, sent and taken */
    uint64_t sram[SRAM];
};

/* What one side tells the other. */
struct card {
    unsigned char name[64];
    uint64_t base, key;
};

static struct fid_ep *end;
static struct fid_cq *done;
static fi_addr_t other;
static struct card theirs;
static struct memory *mine;
static uint64_t completed;

static void look(void)
{
    struct fi_cq_entry entries[16];
    ssize_t n = fi_cq_read(done, entries, 16);
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(done, &error, 0);
        fprintf(stderr, "hosts_raw: %s\n", fi_strerror(error.err));
        exit(1);
    }
    completed += n > 0 ? (uint64_t)n : 0;
}

static void await(unsigned counter, uint64_t at_least)
{
    while (mine->counter[counter] < at_least) {
        look();
    }
}

static uint64_t there(const volatile void *of_mine)
{
    return theirs.base + (uint64_t)((const volatile char *)of_mine - (const volatile char *)mine);
}

static void write_word(size_t at, uint64_t word)
{
    SOON(fi_inject_write(end, &word, sizeof word, other, there(&mine->sram[at]), theirs.key));
}

static void count(unsigned counter)
{
    uint64_t one = 1;
    SOON(fi_inject_atomic(end, &one, 1, other, there(&mine->counter[counter]), theirs.key, FI_UINT64, FI_SUM));
}

/* A write and an atomic, and the same back. ns one way. */
static double put(unsigned me, uint64_t n)
{
    uint64_t start = now_ns();
    for (uint64_t i = 1; i <= n; i++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            if (turn == me) {
                write_word(0, i);
                count(0);
            } else {
                await(0, i);
                if (*(volatile uint64_t *)&mine->sram[0] != i) {
                    abort();
                }
            }
        }
    }
    return (double)(now_ns() - start) / 2 / (double)n;
}

/* Writes of a word to random places, counted once at the end. M/s. */
static double single(unsigned me, uint64_t n)
{
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < n && me == 0; i++) {
        write_word(place_of(i % PLACES) % SRAM, i);
    }
    if (me == 0) {
        count(0);
    }
    await(me == 0 ? 1 : 0, 1);
    if (me == 1) {
        count(1);
    }
    return (double)n * 1e3 / (double)(now_ns() - start);
}

/* Blocks, read out by the other side, who says so. GB/s. */
static double copy(unsigned me, uint64_t n, void *local)
{
    uint64_t *block = malloc(BLOCK * sizeof *block), start = now_ns();
    memset(mine->sram, me == 0, BLOCKS * BLOCK * sizeof *mine->sram);
    for (uint64_t i = 0; i < n; i++) {
        size_t at = i % BLOCKS * BLOCK;
        if (me == 0) {
            await(8, i < BLOCKS ? 0 : i + 1 - BLOCKS);
            SOON(fi_write(end, mine->sram + at, BLOCK * sizeof *block, local, other, there(mine->sram + at), theirs.key, NULL));
            count(8);
        } else {
            await(8, i + 1);
            memcpy(block, mine->sram + at, BLOCK * sizeof *block);
            count(8);
        }
    }
    double rate = (double)n * BLOCK * 8 / (double)(now_ns() - start);
    if (me == 1 && block[BLOCK - 1] != UINT64_C(0x0101010101010101)) {
        abort();
    }
    free(block);
    return rate;
}

static void path_of(char path[512], const char *folder, unsigned side, const char *more)
{
    snprintf(path, 512, "%s/%u%s", folder, side, more);
}

static void meet(const char *folder, unsigned me, const struct card *own)
{
    char path[512], made[512];
    path_of(made, folder, me, "-made");
    path_of(path, folder, me, "");
    FILE *file = fopen(made, "w");
    if (file == NULL || fwrite(own, sizeof *own, 1, file) != 1 || fclose(file) != 0 || rename(made, path) != 0) {
        perror(path);
        exit(1);
    }
    path_of(path, folder, 1 - me, "");
    while ((file = fopen(path, "r")) == NULL) {
        struct timespec a_moment = {0, 1000 * 1000};
        nanosleep(&a_moment, NULL);
    }
    if (fread(&theirs, sizeof theirs, 1, file) != 1) {
        perror(path);
        exit(1);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "hosts_raw SIDE ADDRESS FOLDER TEST COUNT\n");
        return 2;
    }
    unsigned me = argv[1][0] == '1';
    const char *test = argv[4];
    uint64_t n = strtoull(argv[5], NULL, 10);
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    MUST(fi_getinfo(FI_VERSION(1, 9), argv[2], NULL, FI_SOURCE, hints, &info));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *addresses;
    struct fid_mr *region;
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    struct fi_cq_attr completions = {.format = FI_CQ_FORMAT_CONTEXT};
    struct card own = {{0}, 0, 0};
    size_t bytes = sizeof own.name;
    mine = aligned_alloc(4096, sizeof *mine);
    memset(mine, 0, sizeof *mine);
    MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, info, &domain, NULL));
    MUST(fi_av_open(domain, &table, &addresses, NULL));
    MUST(fi_cq_open(domain, &completions, &done, NULL));
    MUST(fi_endpoint(domain, info, &end, NULL));
    MUST(fi_ep_bind(end, &addresses->fid, 0));
    MUST(fi_ep_bind(end, &done->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(end));
    MUST(fi_mr_reg(domain, mine, sizeof *mine, FI_REMOTE_READ | FI_REMOTE_WRITE | FI_WRITE, 0, me, 0, &region, NULL));
    MUST(fi_getname(&end->fid, own.name, &bytes));
    own.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)mine : 0;
    own.key = fi_mr_key(region);
    meet(argv[3], me, &own);
    if (fi_av_insert(addresses, theirs.name, 1, &other, 0, NULL) != 1) {
        return 1;
    }
    take_core(me);
    count(63); /* connects */
    await(63, 1);
    double figure = strcmp(test, "put") == 0      ? put(me, n)
                    : strcmp(test, "single") == 0 ? single(me, n)
                                                  : copy(me, n, fi_mr_desc(region));
    count(62);
    await(62, 1);
    for (int i = 0; i < 1000; i++) { /* what the other waits for goes */
        look();
    }
    if (me == 1) {
        printf("%.6g\n", figure); /* the side that receives has seen the end */
    }
    return 0;
}
