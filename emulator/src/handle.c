/* Handles: claiming a card, giving it back. */
#define _GNU_SOURCE
#include "handle.h"

#include <inttypes.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cancel.h"
#include "functional/claims.h"
#include "fork.h"
#include "race.h"
#include "seat.h"
#include "slab.h"
#include "timed/timed.h"
#include "wait.h"
#include "watch.h"

enum { SPINS = 150, REPAIR_NS = 1000 * 1000 * 1000 };

static struct slab slab = SLAB_OF(struct vic);
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vic *handles;                          /* that are open */
static struct vic *closed;  /* with all that calls of other threads may still use */

_Thread_local struct call_mark call_mark = {.in = CALL_NONE};
static bool call_fences; /* the kernel has no membarrier for this process */
static _Atomic bool keeps_closed; /* for good */
static pthread_mutex_t marks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct call_mark *marks; /* of all threads that have called */
static pthread_key_t at_thread_end;

/* The hooks of timed mode write marks themselves: a thread that waits here is not for them. */
static void lock_marks(void)
{
    timed_come();
    pthread_mutex_lock(&marks_lock);
}

static void unlock_marks(void)
{
    pthread_mutex_unlock(&marks_lock);
    timed_go();
}

static void unlink_mark(void *mark)
{
    lock_marks();
    struct call_mark **at = &marks;
    while (*at != mark) {
        at = &(*at)->next;
    }
    *at = call_mark.next;
    call_mark.linked = false; /* a destructor that is called after this one may call again, and links it anew */
    atomic_store(&call_mark.in, CALL_NONE);
    unlock_marks();
}

static void prepare_marks(void)
{
    pthread_key_create(&at_thread_end, unlink_mark);
    call_fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
}

static void link_mark(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int before = cancel_off();
    pthread_once(&once, prepare_marks);
    lock_marks();
    race_point(1, 1000000);
    if (!call_mark.linked) { /* GCOVR_EXCL_BR_LINE a signal handler has called since this was asked */
        call_mark.next = marks;
        call_mark.linked = true;
        marks = &call_mark;
    }
    unlock_marks();
    if (pthread_setspecific(at_thread_end, &call_mark) != 0) { /* no memory: nobody will say that this thread has ended */
        keeps_closed = true;
        unlink_mark(&call_mark);
        call_mark.linked = true;
    }
    cancel_back(before);
}

void call_mark_write(const void *card)
{
    if (!call_mark.linked) {
        link_mark();
    }
    card = card == NULL ? CALL_NONE : card; /* NULL is never the card of the mark: calls need not look for it */
    if (call_fences) {
        atomic_exchange(&call_mark.in, card);
    } else {
        atomic_store_explicit(&call_mark.in, card, memory_order_release);
    }
    atomic_signal_fence(memory_order_seq_cst);
}

/* Is no other thread in a call of the card, which has been closed? Calls that begin now find it closed. */
static bool is_unused(const struct vic *card)
{
    bool unused = !keeps_closed;
    lock_marks();
    for (struct call_mark *mark = marks; mark != NULL && unused; mark = mark->next) {
        const void *in = atomic_load_explicit(&mark->in, memory_order_acquire);
        unused = mark == &call_mark || (in != card && in != CALL_ANY);
    }
    unlock_marks();
    return unused;
}

static void free_handle(struct vic *card)
{
    pthread_mutex_destroy(&card->lock);
    pthread_mutex_destroy(&card->trace_lock);
    free(card->table.block);
    free(card->dma.entry);
    slab_give(&slab, card);
}

/* Free the closed cards that no call of another thread uses any more. Needs the lock. */
static void free_closed(void)
{
    if (closed == NULL || (!call_fences && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)) {
        return;
    }
    for (struct vic **at = &closed; *at != NULL;) {
        struct vic *card = *at;
        if (!is_unused(card)) {
            at = &card->next;
            continue;
        }
        *at = card->next;
        card->ops->dispose(card);
        free_handle(card);
    }
}

/* A handle for a card that is not open in this process: VIC_OK, VIC_EBUSY, VIC_ESYS. */
static int new_handle(struct job *job, uint32_t number, struct vic **handle)
{
    static uint32_t openings;
    pthread_mutex_lock(&handles_lock);
    free_closed();
    struct vic *card = handles;
    while (card != NULL && card->me != &job->card[number]) {
        card = card->next;
    }
    int status = card != NULL ? VIC_EBUSY : VIC_ESYS;
    if (card == NULL && (card = slab_take(&slab)) != NULL) {
        pthread_mutex_init(&card->lock, NULL);
        pthread_mutex_init(&card->trace_lock, NULL);
        card->dma.opening = ++openings;
        card->me = &job->card[number];
        card->next = handles;
        handles = *handle = card;
        status = VIC_OK;
    }
    pthread_mutex_unlock(&handles_lock);
    return status;
}

/* With the lock. */
static void unlink_handle(struct vic *card)
{
    struct vic **at = &handles;
    while (*at != card) {
        at = &(*at)->next;
    }
    *at = card->next;
}

/* Without a core for every card a spinning wait keeps the one that it waits for from running. */
static uint32_t spins_for(uint32_t cards)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set); /* if it fails the set stays empty */
    return cards <= (uint32_t)CPU_COUNT(&set) ? SPINS : 0;
}

/* Take the seat of a card that no handle of this process has: if this process is the owner, that was before execve. If
 * the owner has died without the launcher seeing it, undo what that left half done. `before` is the seat as it was.
 * VIC_EBUSY: another process, that still lives, has the card. VIC_ENOSPC: there is no room for that. VIC_ENOJOB: the
 * place is lost. The launcher first counts the place, then looks at the seat; this process does it the other way round, so
 * that one of them sees the other. */
static int claim(struct job *job, uint32_t number, uint32_t place, uint64_t *before)
{
    struct card_shared *card = &job->card[number];
    uint32_t me = (uint32_t)getpid(), repairs = (uint32_t)job->shared->launcher;
    uint64_t seat = atomic_load(&card->seat), begin_ns = job_clock_ns();
    do {
        for (; seat_owner(seat) == repairs && repairs != me && job_clock_ns() - begin_ns < REPAIR_NS; seat = atomic_load(&card->seat)) {
            sched_yield();
        }
        if (atomic_load(&card->place) != place) {
            return VIC_ENOJOB;
        }
        if (seat_is_held(job, number, seat)) {
            return VIC_EBUSY;
        }
    } while (!atomic_compare_exchange_weak(&card->seat, &seat, seat_taken(seat, me)));
    STEP();
    if (atomic_load(&card->place) != place) {
        uint64_t taken = seat_taken(seat, me);
        atomic_compare_exchange_strong(&card->seat, &taken, seat);
        return VIC_ENOJOB;
    }
    atomic_store(&card->closing, 0);
    seat_lock(job, number, seat_taken(seat, me));
    STEP();
    *before = seat;
    return seat_owner(seat) == 0 || claims_undo(job, number) ? VIC_OK : VIC_ENOSPC;
}

static void fill(struct vic *card, struct job *job, uint32_t number)
{
    card->job = job;
    card->ops = provider_of(job->config.mode);
    card->sram = job_sram(job, number);
    card->counters = job_counters(&job->config);
    card->number = number;
    card->cards = job->config.cards;
    card->sram_words = job->config.sram_words;
    card->watch = watch_of(&job->config, number);
    card->check = job->config.check || job_asked("VIC_CHECK");
    card->spins = spins_for(job->here + (job->config.hosts > 1)); /* the agent needs one, too */
    card->process = getpid();
    card->allocated = ~job_counters(&job->config) | UINT64_C(7) << FIRST_RESERVED;
}

/* A failed opening does not count: a process that exits now has never had the card (vic.h, VIC_EPEER). */
static void unclaim(struct job *job, uint32_t number, uint64_t before)
{
    uint64_t taken = seat_taken(before, (uint32_t)getpid());
    seat_unlock(job, number);
    atomic_compare_exchange_strong(&job->card[number].seat, &taken, before);
}

/* ---- VIC_INFO=1: every setting in force, a line each on stderr */

static void line(const struct vic *card, const char *name, uint64_t value, const char *what)
{
    fprintf(stderr, "vic: card %u: %-16s %12" PRIu64 "  %s\n", card->number, name, value, what);
}

static void print_model(const struct vic *card, const struct job_model *m)
{
    line(card, "pio_write", (uint64_t)m->crossing_ps, "ps, one crossing of PCIe");
    line(card, "pio_read", (uint64_t)m->load_ps, "ps, to read a word of the card");
    line(card, "pio_rate", (uint64_t)m->store_rate, "B/s of stores into the card");
    line(card, "poll_mirror", (uint64_t)m->look_ps, "ps, a look at the mirror in host memory");
    line(card, "fifo_pop", (uint64_t)m->pop_ps, "ps, a word out of the FIFO's mirror");
    line(card, "dma_setup", (uint64_t)m->setup_ps, "ps, to load an entry of the DMA table");
    line(card, "pcie_rate", card->job->config.pcie_rate, "B/s of the DMA engines");
    line(card, "send_words", m->send_words, "packets that wait in the card, stored or fetched");
    line(card, "port_rate", (uint64_t)m->port_rate, "B/s of a card into all planes");
    line(card, "planes", m->planes, "parallel networks");
    line(card, "switch_angles", m->angles, "of every switch");
    line(card, "link", (uint64_t)m->link_ps, "ps");
    line(card, "spread", m->spread, "1: the programs run on all cores");
}

static void info_print(const struct vic *card)
{
    const struct job_config *c = &card->job->config;
    fprintf(stderr, "vic: card %u: libvic %s, %s mode\n", card->number, VIC_VERSION, card->ops->name);
    line(card, "VIC_CARD", card->number, "this card");
    line(card, "VIC_CARDS", c->cards, "cards of the job");
    line(card, "sram_words", c->sram_words, "64-bit words of SRAM");
    line(card, "counters", c->counters, "group counters, three of them the barrier's and the scratch counter");
    line(card, "fifo_words", c->fifo_words, "depth of the surprise FIFO");
    line(card, "dma_entries", c->dma_entries, "transfers in flight");
    line(card, "spins", card->spins, "looks of a wait before it lets others run; 0: more cards than cores");
    line(card, "seed", c->seed, "of the faults' chances");
    line(card, "reorder", c->reorder, "1: packets arrive in any order");
    line(card, "reorder_seed", c->reorder_seed, "of that order");
    line(card, "VIC_CHECK", card->check, "1: report packets that a counter did not expect");
    line(card, "VIC_DEBUG", (card->watch & WATCH_DEBUG) != 0, "1: a line on stderr for every call");
    line(card, "stats", c->stats, "1: count calls, words and waits");
    line(card, "trace_records", c->trace_records, "events of this card that a trace has room for");
    fprintf(stderr, "vic: card %u: %-16s %12g  probability that a FIFO word is lost\n", card->number,
            "fifo_drop", c->fifo_drop);
    fprintf(stderr, "vic: card %u: %-16s %12g  probability that a look does not see what is there\n",
            card->number, "extra_polls", c->extra_polls);
    fprintf(stderr, "vic: card %u: %-16s %12g  factor on the time of a transfer\n", card->number, "dma_slow",
            c->dma_slow);
    for (uint32_t i = 0; i < c->stalls; i++) {
        line(card, "stall at", c->stall[i].at_ns, "ns; the card that does not answer then:");
        line(card, "stall card", c->stall[i].card, "");
        line(card, "stall for", c->stall[i].for_ns, "ns");
    }
    if (c->mode == 1) {
        print_model(card, &c->model);
    }
}

/* ---- opening and closing */

static uint32_t exit_code; /* of this process, which ends by exit(3) */

static void note_exit(int code, void *nothing)
{
    (void)nothing;
    exit_code = (uint32_t)code & 0xff;
}

/* Without memory for it only who has started the process knows how it ended. */
static void note_exits(void)
{
    on_exit(note_exit, NULL);
}

int handle_open(struct job *job, uint32_t number, uint32_t place, struct vic **handle)
{
    uint64_t before;
    struct vic *card;
    int status = new_handle(job, number, &card);
    if (status != VIC_OK) {
        return status;
    }
    status = claim(job, number, place, &before);
    if (status == VIC_OK || status == VIC_ENOSPC) {
        fill(card, job, number);
        status = status == VIC_OK ? card->ops->open(card) : status;
        if (status != VIC_OK) {
            unclaim(job, number, before);
        }
    }
    if (status != VIC_OK) {
        pthread_mutex_lock(&handles_lock);
        unlink_handle(card);
        pthread_mutex_unlock(&handles_lock);
        free_handle(card);
        return status;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, note_exits);
    atomic_store(&card->state, HANDLE_OPEN);
    if (job_asked("VIC_INFO")) {
        info_print(card);
    }
    *handle = card;
    return VIC_OK;
}

/* From now on calls return VIC_ECLOSED and waits end. Packets that were sent are delivered, or VIC_ETIMEDOUT, see
 * provider.h. VIC_ECLOSED: another thread closes it. */
static int finish(struct vic *card)
{
    uint32_t open = HANDLE_OPEN;
    if (!atomic_compare_exchange_strong(&card->state, &open, HANDLE_CLOSES)) {
        return VIC_ECLOSED;
    }
    atomic_store(&card->me->closing, exit_code == 0 ? 1 : CLOSING_FAILS + exit_code);
    STEP();
    bell_ring(&card->me->arrival);
    bell_ring(&card->job->shared->released);
    for (uint32_t i = 0; i < card->cards; i++) {
        bell_ring(&card->job->card[i].space); /* a thread of this process may be blocked there */
    }
    return card->ops->close(card);
}

int handle_close(struct vic *card)
{
    int status = finish(card);
    if (status == VIC_ECLOSED) {
        return status;
    }
    STEP();
    pthread_mutex_lock(&handles_lock); /* over both: the seat is this process's as long as there is a handle */
    seat_unlock(card->job, card->number);
    seat_leave(card->me, (uint32_t)card->process);
    atomic_store(&card->state, HANDLE_CLOSED);
    unlink_handle(card);
    card->next = closed;
    closed = card;
    free_closed();
    pthread_mutex_unlock(&handles_lock);
    return status;
}

/* A program that ends without closing: what it sent arrives all the same. The card stays its own, so that
 * the launcher sees how it ended. */
__attribute__((destructor)) static void finish_all(void)
{
    if (pthread_mutex_trylock(&handles_lock) != 0) { /* GCOVR_EXCL_BR_LINE a thread just opens a card */
        return; /* GCOVR_EXCL_LINE likewise */
    }
    for (struct vic *card = handles; card != NULL; card = card->next) {
        if (card->process == getpid()) {
            finish(card);
        }
    }
    pthread_mutex_unlock(&handles_lock);
}

static void before_fork(void)
{
    pthread_mutex_lock(&handles_lock);
    slab_hold(&slab);
    lock_marks();
}

static void after_fork(void)
{
    unlock_marks();
    slab_release(&slab);
    pthread_mutex_unlock(&handles_lock);
}

/* The child has none of these cards, whatever becomes of them. */
static void in_child(void)
{
    handles = closed = NULL;
    wait_forked();
    marks = call_mark.linked ? &call_mark : NULL; /* of the other threads nothing is left */
    call_mark.next = NULL;
    slab_forget(&slab);
    after_fork();
}

const struct fork_part fork_handles = {before_fork, after_fork, in_child};
