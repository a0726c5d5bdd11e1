#define _GNU_SOURCE
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "timed/shared.h"
#include "vic.h"

#define MAGIC UINT64_C(0x31626f6a63697600) /* "\0vicjob1" */
enum { PAGE = 4096, SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

const struct job_config job_usual = {
    .cards = 1,
    .sram_words = MOST_SRAM,
    .counters = COUNTERS,
    .fifo_words = 4096,
    .dma_entries = 8192,
    .dma_setup_ns = 1000,
    .pcie_rate = UINT64_C(7880000000),
    .dma_slow = 1,
    .seed = 1,
    .model = {.crossing_ps = 400000,
              .load_ps = 1000000,
              .look_ps = 50000,
              .pop_ps = 10000,
              .setup_ps = 1000000,
              .store_rate = 500000000,
              .port_rate = INT64_C(4400000000),
              .link_ps = 20000,
              .send_words = 4096,
              .planes = 16,
              .angles = 6},
};

struct offsets {
    uint64_t cards, slots, traces, sram, timed, bytes;
};

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint32_t ring_slots(const struct job_config *config)
{
    uint32_t slots = 1;
    while (slots < config->fifo_words) {
        slots *= 2;
    }
    return slots;
}

static uint64_t trace_bytes(const struct job_config *config)
{
    uint64_t records = (uint64_t)config->trace_records * sizeof(struct trace_record);
    return records ? pages(sizeof(struct trace_head) + records) : 0;
}

static struct offsets lay_out(const struct job_config *config)
{
    uint64_t cards = config->cards;
    struct offsets at;
    at.cards = pages(sizeof(struct job_shared));
    at.slots = at.cards + pages(cards * sizeof(struct card_shared));
    at.traces = at.slots + pages(cards * ring_slots(config) * sizeof(struct fifo_slot));
    at.sram = at.traces + cards * trace_bytes(config);
    at.timed = at.sram + cards * pages((uint64_t)config->sram_words * 8);
    at.bytes = at.timed + (config->mode == 1 ? PAGE + cards * timed_card_bytes(ring_slots(config)) : 0);
    return at;
}

static bool is_share(double value)
{
    return value >= 0 && value <= 1; /* not for NaN */
}

static bool within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* What models/ refuses, in the words of a card. */
static const char *model_fault(const struct job_model *m)
{
    const int64_t second = INT64_C(1000000000000), rate = INT64_C(1000000000000000);
    if (!within(m->crossing_ps, 1, second) || !within(m->look_ps, 1, second)) {
        return "pio_write and poll_mirror must be 1 ps .. 1 s";
    }
    if (!within(m->load_ps, 2 * m->crossing_ps, second)) {
        return "pio_read crosses PCIe twice: it must be at least 2 pio_write, and at most 1 s";
    }
    if (!within(m->pop_ps, 0, second) || !within(m->setup_ps, 0, second) || !within(m->link_ps, 0, second)) {
        return "fifo_pop, dma_setup and link must be 0 .. 1 s";
    }
    if (!within(m->store_rate, 1000, rate) || !within(m->port_rate, 1000, rate)) {
        return "pio_rate and port_rate must be 1 kB/s .. 1e15 B/s";
    }
    if (m->send_words < 1 || m->send_words > 1u << 24) {
        return "send_words must be 1 .. 2^24";
    }
    if (m->planes < 1 || m->planes > 64 || m->angles < 1 || m->angles > 4096) {
        return "planes must be 1 .. 64 and switch_angles 1 .. 4096";
    }
    return NULL;
}

static bool are_events(const struct job_event *event, uint32_t count, uint32_t cards)
{
    for (uint32_t i = 0; i < count && i < JOB_FAULTS; i++) {
        if (event[i].card >= cards) {
            return false;
        }
    }
    return count <= JOB_FAULTS;
}

const char *job_config_fault(const struct job_config *c)
{
    if (c->cards < 1 || c->cards > MOST_CARDS) {
        return "cards must be 1 .. 65536";
    }
    if (c->sram_words < 1 || c->sram_words > MOST_SRAM) {
        return "sram must be 8 B .. 32 MiB: a header addresses 2^22 words";
    }
    if (c->counters < 4 || c->counters > COUNTERS) {
        return "group_counters must be 4 .. 64: three are the barrier's and the scratch counter";
    }
    if (c->fifo_words < 1 || c->fifo_words > 1u << 24) {
        return "fifo_words must be 1 .. 2^24";
    }
    if (c->dma_entries < 1 || c->dma_entries > 1u << 20) {
        return "dma_entries must be 1 .. 2^20";
    }
    if (c->trace_records > 1u << 24) {
        return "a trace has at most 2^24 records per card";
    }
    if (!is_share(c->fifo_drop) || !is_share(c->extra_polls) || c->extra_polls > 0.999) {
        return "fifo-drop is a probability, 0 .. 1, and extra-polls one of at most 0.999";
    }
    if (!(c->dma_slow >= 1 && c->dma_slow <= 1e6)) {
        return "dma-slow is a factor, 1 .. 1e6";
    }
    if (c->pcie_rate < 1) {
        return "pcie_rate must be at least 1 B/s";
    }
    if (!are_events(c->stall, c->stalls, c->cards) || !are_events(c->kill, c->kills, c->cards)) {
        return "a fault names a card that the job does not have, or there are more than 16 of a kind";
    }
    return c->mode == 1 ? model_fault(&c->model) : NULL;
}

uint64_t job_bytes(const struct job_config *config)
{
    return lay_out(config).bytes;
}

uint64_t job_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fill_head(struct job_shared *head, const struct job_config *config, uint64_t nonce)
{
    head->magic = MAGIC;
    head->layout = JOB_LAYOUT;
    memcpy(head->version, VIC_VERSION, sizeof VIC_VERSION);
    head->nonce = nonce;
    head->bytes = job_bytes(config);
    head->start_ns = job_clock_ns();
    head->launcher = getpid();
    head->config = *config;
}

int job_create(const struct job_config *config, uint64_t nonce)
{
    struct job_shared head;
    memset(&head, 0, sizeof head);
    fill_head(&head, config, nonce);
    int fd = memfd_create("vic-job", MFD_ALLOW_SEALING);
    if (fd < 0) {
        return -1;
    }
    if (ftruncate(fd, (off_t)head.bytes) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0 ||
        pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* What is wrong with the head of a file that claims to be a job, or NULL. */
static const char *head_fault(int fd, uint64_t nonce, struct job_shared *head)
{
    struct stat file;
    if (fstat(fd, &file) != 0) {
        return "VIC_JOB names a descriptor that is not open: something between the launcher and this program "
               "closed it";
    }
    int seals = fcntl(fd, F_GET_SEALS);
    if (!S_ISREG(file.st_mode) || seals < 0 || !(seals & F_SEAL_SHRINK)) {
        return "the descriptor in VIC_JOB is not the memory of a job";
    }
    if (pread(fd, head, sizeof *head, 0) != (ssize_t)sizeof *head || head->magic != MAGIC) {
        return "the descriptor in VIC_JOB is not the memory of a job";
    }
    head->version[sizeof head->version - 1] = 0;
    if (head->layout != JOB_LAYOUT || strcmp(head->version, VIC_VERSION) != 0) {
        return "the launcher and this program's libvic are of different versions";
    }
    if (head->nonce != nonce) {
        return "VIC_JOB is of another job";
    }
    if (job_config_fault(&head->config) || head->bytes != job_bytes(&head->config) ||
        file.st_size < 0 || (uint64_t)file.st_size < head->bytes) {
        return "the memory of the job is damaged";
    }
    return NULL;
}

static struct job *map(int fd, const struct job_shared *head)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *base = mmap(NULL, head->bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        free(job);
        return NULL;
    }
    unsigned char *at = base;
    struct offsets offset = lay_out(&head->config);
    job->shared = base;
    job->config = head->config;
    job->nonce = head->nonce;
    job->bytes = head->bytes;
    job->start_ns = head->start_ns;
    job->launcher = head->launcher == getpid() ? -1 : (int)syscall(SYS_pidfd_open, head->launcher, 0);
    job->ring = ring_slots(&head->config);
    job->card = (void *)(at + offset.cards);
    job->slots = (void *)(at + offset.slots);
    job->traces = at + offset.traces;
    job->trace_bytes = trace_bytes(&head->config);
    job->sram = (void *)(at + offset.sram);
    job->sram_stride = pages((uint64_t)head->config.sram_words * 8) / 8;
    job->timed = at + offset.timed;
    return job;
}

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *known;

struct job *job_attach(int fd, uint64_t nonce, const char **reason)
{
    struct job_shared head;
    *reason = head_fault(fd, nonce, &head);
    if (*reason != NULL) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&known_lock);
    struct job *job = known;
    while (job != NULL && job->nonce != nonce) {
        job = job->next;
    }
    if (job == NULL) {
        job = map(fd, &head);
        if (job == NULL) {
            *reason = "no memory for the job";
            errno = ENOMEM;
        }
        if (job != NULL) {
            job->next = known;
            known = job;
        }
    }
    pthread_mutex_unlock(&known_lock);
    return job;
}

struct job *job_loopback(void)
{
    static struct job *loopback;
    pthread_mutex_lock(&known_lock);
    if (loopback == NULL) {
        struct job_shared head;
        memset(&head, 0, sizeof head);
        fill_head(&head, &job_usual, 0);
        loopback = map(-1, &head);
        if (loopback != NULL) {
            memcpy((void *)loopback->shared, &head, sizeof head);
        }
    }
    struct job *job = loopback;
    pthread_mutex_unlock(&known_lock);
    return job;
}
