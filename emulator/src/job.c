/* The memory that the cards of a job share: made, joined, checked. */
#define _GNU_SOURCE
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "fork.h"
#include "timed/shared.h"
#include "vic.h"

#define MAGIC UINT64_C(0x31626f6a63697600) /* "\0vicjob1" */
enum { PAGE = 4096, SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, LOOK_NS = 20 * 1000 * 1000 };

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

struct offsets {
    uint64_t cards, slots, traces, sram, timed, rings, bytes;
};

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint32_t ring_slots(const struct job_config *config)
{
    bool others = config->outlives || (config->mode == 0 && config->cards > 1);
    uint32_t slots = 1, least = config->fifo_words * (others ? 2 : 1);
    while (slots < least) {
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
    at.rings = at.timed + (config->mode == 1 ? PAGE + cards * timed_card_bytes(ring_slots(config)) : 0);
    at.bytes = at.rings + (config->hosts > 0 ? config->here * pages(sizeof(struct ring)) : 0);
    return at;
}

uint64_t job_bytes(const struct job_config *config)
{
    return lay_out(config).bytes;
}

uint64_t job_clock_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

bool job_asked(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, "") != 0 && strcmp(value, "0") != 0;
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

/* Where the rule vm.memfd_noexec demands it, a memfd must state that it is never executed. */
static int new_memory(void)
{
    int fd = memfd_create("vic-job", MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) { /* a kernel before Linux 6.3 */
        fd = memfd_create("vic-job", MFD_ALLOW_SEALING);
    }
    return fd;
}

/* Of the launcher; those of the cards are behind it, see seat.h. */
static struct flock first_byte(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
}

/* Nobody has the lock of the job; the process that made it does not see its own. */
static bool lock_is_free(int fd)
{
    struct flock lock = first_byte();
    return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

int job_create(const struct job_config *config, uint64_t nonce)
{
    struct job_shared head;
    memset(&head, 0, sizeof head);
    fill_head(&head, config, nonce);
    struct flock lock = first_byte();
    int fd = new_memory();
    if (fd < 0) {
        return -1;
    }
    if (fcntl(fd, F_SETLK, &lock) != 0 || ftruncate(fd, (off_t)head.bytes) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0 ||
        pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Up to the second dot: a patch repairs, and works with what is installed. */
bool job_version_fits(const char *version)
{
    const char *own = VIC_VERSION;
    size_t same = 0;
    const int parts = VIC_VERSION_MAJOR == 0 ? 2 : 1; /* the rule that vic_version has in vic.h */
    for (int dots = 0; own[same] != 0 && dots < parts; same++) {
        dots += own[same] == '.';
    }
    return strncmp(version, own, same) == 0;
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
    if (head->layout != JOB_LAYOUT || !job_version_fits(head->version)) {
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

/* By a pidfd; without one by the lock, as long as the program leaves the descriptor of the job alone. */
static void watch_launcher(struct job *job, int fd, const struct job_shared *head)
{
    struct stat file;
    job->launcher = job->fd = -1;
    if (fd >= 0 && fstat(fd, &file) == 0) {
        job->device = file.st_dev;
        job->inode = file.st_ino;
    }
    job->is_launcher = fd < 0 || head->launcher == getpid();
    if (!job->is_launcher) {
        job->launcher = (int)syscall(SYS_pidfd_open, head->launcher, 0);
    }
}

int job_descriptor(const struct job *job)
{
    struct stat file;
    int fd = atomic_load(&job->fd);
    return fd >= 0 && fstat(fd, &file) == 0 && file.st_dev == job->device && file.st_ino == job->inode ? fd : -1;
}

bool job_launcher_has_ended(const struct job *job)
{
    if (job->launcher >= 0) {
        struct pollfd look = {.fd = job->launcher, .events = POLLIN};
        int before = cancel_off(), ready = poll(&look, 1, 0);
        cancel_back(before);
        if (ready <= 0 || (look.revents & POLLIN) == 0) {
            return false;
        }
        /* the program may have closed this descriptor, and its number may be that of another file */
        return syscall(SYS_pidfd_send_signal, job->launcher, 0, NULL, 0) == 0 || errno != EBADF;
    }
    int fd = job->is_launcher ? -1 : job_descriptor(job);
    return fd >= 0 && lock_is_free(fd);
}

bool job_orphaned(struct job *job)
{
    if (atomic_load_explicit(&job->orphaned, memory_order_relaxed)) {
        return true;
    }
    if (atomic_load(&job->shared->poison) == JOB_OVER) {
        atomic_store_explicit(&job->orphaned, true, memory_order_relaxed);
        return true;
    }
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC_COARSE); /* of the last tick: a quarter of the price */
    if (now_ns - atomic_load_explicit(&job->looked_ns, memory_order_relaxed) < LOOK_NS) {
        return false;
    }
    atomic_store_explicit(&job->looked_ns, now_ns, memory_order_relaxed);
    if (job_launcher_has_ended(job)) {
        atomic_store_explicit(&job->orphaned, true, memory_order_relaxed);
        return true;
    }
    return false;
}

static struct job *map(int fd, const struct job_shared *head)
{
    struct job *job = calloc(1, sizeof *job);
    _Atomic uint64_t *fifo_known = calloc(head->config.cards, sizeof *fifo_known);
    int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *base = job == NULL || fifo_known == NULL
                     ? MAP_FAILED
                     : mmap(NULL, head->bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        free(job);
        free(fifo_known);
        return NULL;
    }
    unsigned char *at = base;
    struct offsets offset = lay_out(&head->config);
    job->shared = base;
    job->fifo_known = fifo_known;
    job->config = head->config;
    job->nonce = head->nonce;
    job->bytes = head->bytes;
    job->start_ns = head->start_ns;
    watch_launcher(job, fd, head);
    job->ring = ring_slots(&head->config);
    job->card = (void *)(at + offset.cards);
    job->slots = (void *)(at + offset.slots);
    job->traces = at + offset.traces;
    job->trace_bytes = trace_bytes(&head->config);
    job->sram = (void *)(at + offset.sram);
    job->sram_stride = pages((uint64_t)head->config.sram_words * 8) / 8;
    job->timed = at + offset.timed;
    job->rings = (void *)(at + offset.rings);
    job->first = head->config.hosts > 1 ? head->config.first : 0;
    job->here = head->config.hosts > 1 ? head->config.here : head->config.cards;
    job->straight = head->config.reorder == 0 ? job->here : 0;
    return job;
}

static void unmap(struct job *job)
{
    if (job->launcher >= 0) {
        close(job->launcher);
    }
    munmap(job->shared, job->bytes);
    free(job->fifo_known);
    free(job);
}

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *known;
static struct job *loopback;

struct job *job_attach(int fd, uint64_t nonce, const char **reason)
{
    struct job_shared head;
    *reason = head_fault(fd, nonce, &head);
    if (*reason != NULL) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&known_lock);
    struct job *job = known, *made = NULL;
    while (job != NULL && job->nonce != nonce) {
        job = job->next;
    }
    if (job == NULL) {
        job = made = map(fd, &head);
    }
    if (job == NULL) {
        *reason = "no memory for the job";
        errno = ENOMEM;
    } else if (head.launcher != getpid() && lock_is_free(fd)) { /* who has it now had it when the pidfd was opened */
        *reason = "the launcher of the job was killed, or has ended";
        if (made != NULL) {
            unmap(made);
        }
        job = made = NULL;
        errno = EINVAL;
    }
    if (job != NULL) {
        job->fd = fd;
    }
    if (made != NULL) {
        made->next = known;
        known = made;
    }
    pthread_mutex_unlock(&known_lock);
    return job;
}

struct job *job_loopback(void)
{
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

static void before_fork(void)
{
    pthread_mutex_lock(&known_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&known_lock);
}

/* The child is in the same jobs. The card in loopback is its parent's: it has another one. */
static void in_child(void)
{
    loopback = NULL;
    pthread_mutex_unlock(&known_lock);
}

const struct fork_part fork_jobs = {before_fork, after_fork, in_child};

/* ---- --check: a packet came to a counter before that was preset, or to one that is not for programs */

void check_report(const struct job *job, uint32_t card, unsigned counter, int64_t read, uint32_t from)
{
    if (counter == SCRATCH || atomic_exchange(&job->card[card].counter[counter].reported, 1) != 0) {
        return;
    }
    int before = cancel_off(); /* the thread may hold a lock */
    if (counter < FIRST_RESERVED) {
        fprintf(stderr,
                "vic: check: card %u: counter %u read %lld when a packet of card %u came: it was not preset "
                "yet, or is preset to less than what is sent\n",
                card, counter, (long long)read, from);
    } else {
        fprintf(stderr,
                "vic: check: card %u: counter %u belongs to vic_barrier, and card %u uses it: on hardware a barrier "
                "would break; vic_counter_alloc gives others\n",
                card, counter, from);
    }
    cancel_back(before);
}
