/* The thread behind vic_event_fd, and what it writes for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "functional.h"
#include "thread.h"

enum { SLICE_NS = 100 * 1000 * 1000 }; /* after which to look whether the launcher lives, though no bell rings */

struct event {
    struct event *next;
    uint64_t counters;
    size_t fifo_min;
    int fd, own; /* the program's, which it may close by mistake, and ours, of the same eventfd */
    bool is_there; /* at the last look */
};

static void make_readable(const struct event *event)
{
    uint64_t one = 1;
    ssize_t written = write(event->own, &one, sizeof one);
    (void)written; /* EAGAIN after 2^64 - 2 of them: it is readable all the same */
}

/* Makes the descriptor readable if there is something. A counter that was 0 at the last look and is 0 again counts if the
 * bell was rung: it may have been counted down anew. When waits end, each look makes it readable: a packet that is on its
 * way just when the program looks hides the end from it. */
static void look(struct vic *card, struct event *event, bool rung, bool ends, bool *filling)
{
    bell_await(card->me, event->counters, event->fifo_min != 0);
    *filling |= event->fifo_min != 0 && fifo_filling(card);
    bool is_there = any_ready(card, event->counters, event->fifo_min) != 0;
    if ((is_there && (rung || !event->is_there)) || ends) {
        make_readable(event);
    }
    event->is_there = is_there;
}

static void *write_always(void *what)
{
    struct vic *card = what;
    struct events *events = &functional_of(card)->events;
    struct bell *bell = &card->me->arrival;
    const struct wait any = {.bell = bell, .progress = pending_progress, .coming = pending_coming};
    uint32_t before = atomic_load(&bell->rung) - 1;
    bool filled = false;
    for (;;) {
        uint32_t seen = bell_enter(bell);
        bool ends = wait_ends(card, &any) != VIC_OK, filling = false;
        pthread_mutex_lock(&events->lock);
        for (struct event *event = events->first; event != NULL; event = event->next) {
            look(card, event, seen != before || filled, ends, &filling);
        }
        bool stop = events->stop;
        pthread_mutex_unlock(&events->lock);
        if (stop) {
            return NULL;
        }
        before = seen;
        filled = filling; /* counts as a bell: the FIFO may have been emptied and filled anew since the last look */
        bell_sleep(bell, seen, filling ? FILLING_NS : SLICE_NS);
    }
}

/* The number may be that of another file by now. What is set in one is seen in the other only if both are the same eventfd; a
 * signal that nobody is sent is as good as anything. */
static bool is_ours(const struct event *event)
{
    bool same = true;
    for (int number = SIGIO; number >= 0 && same; number -= SIGIO) {
        same = fcntl(event->own, F_SETSIG, number) == 0 && fcntl(event->fd, F_GETSIG) == number;
    }
    return same;
}

static void end_event(struct event *event)
{
    if (is_ours(event)) {
        close(event->fd);
    }
    close(event->own);
    free(event);
}

/* The event of this descriptor, out of the list; NULL: there is none. With the lock. */
static struct event *take_event(struct events *events, int fd, bool ours)
{
    struct event **at = &events->first;
    while (*at != NULL && ((*at)->fd != fd || is_ours(*at) != ours)) {
        at = &(*at)->next;
    }
    struct event *found = *at;
    if (found != NULL) {
        *at = found->next;
    }
    return found;
}

/* With the lock. */
static int add(struct vic *card, struct events *events, struct event *event)
{
    if (events->stop) {
        return fail_as(VIC_ECLOSED);
    }
    event->own = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    event->fd = event->own < 0 ? -1 : fcntl(event->own, F_DUPFD_CLOEXEC, 0);
    if (event->fd < 0) {
        int error = errno;
        if (event->own >= 0) {
            close(event->own);
        }
        return fail(VIC_ESYS, "no descriptor: %s; vic_event_fd_close gives one back", strerror(error));
    }
    events->runs = events->runs || thread_start(&events->thread, write_always, card);
    if (!events->runs) {
        close(event->fd);
        close(event->own);
        return fail(VIC_ESYS, "no thread that would write to the descriptor");
    }
    struct event *closed = take_event(events, event->fd, false); /* by mistake, as its number was free */
    if (closed != NULL) {
        end_event(closed);
    }
    event->next = events->first;
    events->first = event;
    return VIC_OK;
}

int functional_event_fd(struct vic *card, uint64_t counters, size_t fifo_min, int *fd)
{
    struct events *events = &functional_of(card)->events;
    struct event *event = malloc(sizeof *event);
    *fd = -1;
    if (event == NULL) {
        return fail_as(VIC_ESYS);
    }
    *event = (struct event){.counters = counters, .fifo_min = fifo_min};
    pthread_mutex_lock(&events->lock);
    int status = add(card, events, event);
    int made = event->fd; /* with the lock: a thread that closes the card frees it */
    pthread_mutex_unlock(&events->lock);
    if (status != VIC_OK) {
        free(event);
        return status;
    }
    *fd = made;
    bell_ring(&card->me->arrival); /* what is there already */
    return VIC_OK;
}

int functional_event_fd_close(struct vic *card, int fd)
{
    struct events *events = &functional_of(card)->events;
    pthread_mutex_lock(&events->lock);
    struct event *event = events->stop ? NULL : take_event(events, fd, true);
    bool stopped = events->stop;
    pthread_mutex_unlock(&events->lock);
    if (event == NULL) {
        return stopped ? fail_as(VIC_ECLOSED) : fail(VIC_EINVAL, "descriptor %d is none of vic_event_fd, or is closed", fd);
    }
    end_event(event);
    return VIC_OK;
}

void events_open(struct events *events)
{
    pthread_mutex_init(&events->lock, NULL);
}

void events_close(struct vic *card)
{
    struct events *events = &functional_of(card)->events;
    pthread_mutex_lock(&events->lock);
    events->stop = true;
    struct event *event = events->first;
    bool runs = events->runs;
    pthread_mutex_unlock(&events->lock);
    if (runs) {
        bell_wake(&card->me->arrival);
        pthread_join(events->thread, NULL);
    }
    while (event != NULL) {
        struct event *next = event->next;
        make_readable(event); /* a program that polls it looks, and finds the card closed */
        end_event(event);
        event = next;
    }
    events->first = NULL;
}

void events_dispose(struct events *events)
{
    pthread_mutex_destroy(&events->lock);
}
