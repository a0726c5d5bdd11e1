/* Lines on stderr: "vicbridge[3]: warning: ...". Nothing secret is ever given to these.
 *
 * A thread of its own writes them, as a write may wait for ever: nobody reads the pipe, or ^S has stopped the terminal.
 * The threads that serve the broker only put them into a ring; what does not fit is dropped and counted. Standard error
 * itself stays as it is: O_NONBLOCK would hold for every process that has it. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bridge.h"
#include "clock.h"
#include "thread.h"

enum { LINE = 1024, RING = 128 };
static const uint64_t LAST_NS = 500000000; /* at the end: so long without a line taken, and the rest is given up */

static char name[32] = "vicbridge";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, taken;
static char ring[RING][LINE];
static uint64_t put, written, dropped; /* lines */
static bool runs;

void log_card(uint32_t card)
{
    snprintf(name, sizeof name, "vicbridge[%u]", card);
}

/* False: nobody has it. */
static bool write_line(const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t done = write(STDERR_FILENO, text, left);
        if (done < 0 && errno == EAGAIN) { /* another process has made it one that does not wait */
            poll(&(struct pollfd){STDERR_FILENO, POLLOUT, 0}, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return false;
        }
        text += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static void *run(void *nothing)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (written == put) {
            pthread_cond_wait(&some, &lock);
        }
        char text[LINE], missing[LINE] = "";
        uint64_t lost = dropped;
        memcpy(text, ring[written % RING], LINE);
        if (lost > 0) {
            snprintf(missing, sizeof missing, "%s: warning: %llu lines were dropped here: nobody took them\n", name,
                     (unsigned long long)lost);
        }
        pthread_mutex_unlock(&lock);
        bool told = write_line(missing), whole = told && write_line(text);
        pthread_mutex_lock(&lock);
        dropped += (uint64_t)!whole - (told ? lost : 0);
        written++;
        pthread_cond_signal(&taken);
    }
    return nothing;
}

void log_start(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    if (!runs) {
        condition_make(&taken);
        runs = thread_start(&thread, run, NULL) && pthread_detach(thread) == 0;
    }
    pthread_mutex_unlock(&lock);
}

void log_stop(void)
{
    pthread_mutex_lock(&lock);
    while (runs && written < put) {
        uint64_t before = written;
        struct timespec until = timespec_in(LAST_NS);
        if (pthread_cond_timedwait(&taken, &lock, &until) == ETIMEDOUT && written == before) {
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void line(const char *level, const char *format, va_list arguments)
{
    char text[LINE];
    int head = snprintf(text, sizeof text, "%s: %s: ", name, level);
    int rest = vsnprintf(text + head, sizeof text - (size_t)head - 1, format, arguments);
    size_t most = sizeof text - 2, bytes = (size_t)(head + rest);
    bytes = bytes < most ? bytes : most;
    for (size_t i = 0; i < bytes; i++) {
        if ((unsigned char)text[i] < ' ') {
            text[i] = '?'; /* a text of a peer stays on one line */
        }
    }
    text[bytes] = '\n';
    text[bytes + 1] = 0;
    pthread_mutex_lock(&lock);
    if (!runs) {
        write_line(text);
    } else if (put - written < RING) {
        memcpy(ring[put++ % RING], text, bytes + 2);
        pthread_cond_signal(&some);
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
}

#define LEVEL(function, level)                                                                                 \
    void function(const char *format, ...)                                                                     \
    {                                                                                                          \
        va_list arguments;                                                                                     \
        va_start(arguments, format);                                                                           \
        line(level, format, arguments);                                                                        \
        va_end(arguments);                                                                                     \
    }

LEVEL(log_error, "error")
LEVEL(log_warning, "warning")
LEVEL(log_info, "info")
