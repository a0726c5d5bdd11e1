/* soak.h: what the programs of the soak share: messages that prove themselves, and journals that outlive them.
 *
 * A message: publisher, session, number, bytes in all (a word each), a fill, CRC-32 of all before (4 bytes).
 * A journal is appended to, whole lines at a time, before what it says is made true: a line is in the kernel when
 * write() returns, so who is killed afterwards has said it. A line ends with " .": one that does not was cut short
 * by a kill, and what it says was not done yet. */
#ifndef SOAK_H
#define SOAK_H

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vic_client.h"

enum { HEAD_BYTES = 32, LEAST_BYTES = HEAD_BYTES + 4, MOST_BYTES = 48 << 10, LINES = 16 << 10 };

struct head {
    uint64_t publisher, session, number, bytes;
};

struct journal {
    int fd;
    size_t used;
    char text[LINES];
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = number;
}

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* splitmix64 */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* That of zlib, so that Python can check it. */
static inline uint32_t crc32_of(const unsigned char *data, size_t bytes)
{
    static uint32_t table[256];
    for (uint32_t i = 1; table[255] == 0 && i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
        }
    }
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes; i++) {
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    }
    return ~crc;
}

static inline void say(struct journal *journal, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void say(struct journal *journal, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(journal->text + journal->used, LINES - journal->used, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= LINES - journal->used) {
        fputs("soak: a journal's line is too long\n", stderr);
        abort();
    }
    journal->used += (size_t)n;
}

static inline void keep(struct journal *journal)
{
    if (write(journal->fd, journal->text, journal->used) != (ssize_t)journal->used) {
        perror("soak: journal");
        abort();
    }
    journal->used = 0;
}

static inline void begin(struct journal *journal, const char *path)
{
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    journal->used = 0;
    journal->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal->fd < 0) {
        perror(path);
        exit(2);
    }
    say(journal, "\n"); /* behind what an earlier life could not finish */
    keep(journal);
}

static inline int failed(const char *what, int status)
{
    fprintf(stderr, "soak: %s: %s\n", what, vic_strerror(status));
    return 1;
}

#endif
