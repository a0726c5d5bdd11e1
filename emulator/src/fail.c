/* vic_error_detail, and the texts that several calls have in common. */
#include "fail.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "packet.h"
#include "watch.h"

enum { STATUSES = 1 - VIC_EAGAIN };

/* Not in the thread's own memory, of which a library that is loaded late, as by Python, gets little. NULL: nothing has
 * failed, or there is no memory; then the text is that of the status. */
static _Thread_local char (*detail)[200];
_Thread_local struct fail_state fail_state;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void free_detail(void *texts)
{
    free(texts);
    detail = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, free_detail);
}

static bool has_detail(void)
{
    if (detail == NULL) {
        pthread_once(&once, make_key);
        detail = calloc(STATUSES, sizeof *detail);
        if (detail != NULL && pthread_setspecific(at_thread_end, detail) != 0) {
            free_detail(detail);
        }
    }
    return detail != NULL;
}

static unsigned place_of(int status)
{
    return status <= 0 && status > -STATUSES ? (unsigned)-status : 0;
}

static uint16_t bit_of(int status)
{
    return (uint16_t)(1u << place_of(status));
}

static int failed(int status)
{
    fail_state.last = status;
    fail_state.given |= bit_of(status);
    return status;
}

static bool is_held(int status)
{
    return (fail_state.held & bit_of(status)) != 0;
}

int fail(int status, const char *format, ...)
{
    if (!is_held(status) && has_detail()) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(detail[place_of(status)], sizeof *detail, format, arguments);
        va_end(arguments);
    }
    return failed(status);
}

int fail_as(int status)
{
    if (status != VIC_OK) {
        if (!is_held(status) && detail != NULL) {
            detail[place_of(status)][0] = 0;
        }
        failed(status);
    }
    return status;
}

int fail_leave_with(struct fail_state outer, int status)
{
    bool given = (fail_state.given & bit_of(status)) != 0;
    fail_state = outer;
    return given ? failed(status) : fail_as(status);
}

void fail_hold(int status)
{
    fail_state.held |= bit_of(status);
}

const char *vic_error_detail(void)
{
    const char *text = detail != NULL ? detail[place_of(fail_state.last)] : "";
    return fail_state.last == VIC_OK || text[0] != 0 ? text : vic_strerror(fail_state.last);
}

int fail_closed(void)
{
    return fail(VIC_ECLOSED, "this was closed: by this program, or by a fork, which closes all in the child");
}

int fail_ended(const struct vic *card, int64_t counter, int64_t reads)
{
    if (handle_closed(card)) {
        return fail(VIC_ECLOSED, "another thread has closed the card meanwhile");
    }
    if (job_orphaned(card->job)) {
        return fail(VIC_ECLOSED, "the job has ended: its launcher is gone");
    }
    if (counter < 0) {
        return fail(VIC_ECLOSED, "the job has ended: the programs of all other cards have");
    }
    return fail(VIC_ECLOSED, "the job has ended: the programs of all other cards have. Counter %" PRId64 " reads %" PRId64
                             " and counts down no more%s",
                counter, reads, reads > 0 ? ": packets are missing, or came before it was preset" : "");
}

int fail_dead(uint32_t card)
{
    return fail(VIC_EPEER, "card %" PRIu32 " died: its program was killed, or ended with an error", card);
}

int fail_null(int card_is_null, const char *needed)
{
    return card_is_null ? fail(VIC_EINVAL, "the first argument is NULL: nothing that is open")
                        : fail(VIC_EINVAL, "NULL where it must not be; this is not so: %s", needed);
}

static void describe_counter(const struct vic *card, char *text, size_t size, const char *before, unsigned counter)
{
    snprintf(text, size, "%scounter %u does not exist (0 .. %u and 61 .. 63)", before, counter,
             card->job->config.counters - 4);
}

static void describe_words(const struct vic *card, char *text, size_t size, const char *name, uint64_t addr, uint64_t n)
{
    char last_word[32] = "";
    if (n > 1) {
        snprintf(last_word, sizeof last_word, " .. %" PRIu64, addr + n - 1 < addr ? addr : addr + n - 1);
    }
    snprintf(text, size, "%s %" PRIu64 "%s is not in SRAM (%" PRIu32 " words)", name, addr, last_word, card->sram_words);
}

/* Empty: none of them is wrong. */
static void describe_range(const struct vic *card, char *text, size_t size, const char *before, uint32_t dest, uint64_t addr,
                      uint64_t n, unsigned counter)
{
    uint64_t all = card->sram_words;
    text[0] = 0;
    if (dest >= card->cards) {
        snprintf(text, size, "%scard %" PRIu32 " does not exist (0 .. %" PRIu32 ")", before, dest, card->cards - 1);
    } else if (addr > all || n > all - addr) {
        char name[100];
        snprintf(name, sizeof name, "%saddr", before);
        describe_words(card, text, size, name, addr, n);
    } else if (!counter_exists(card, counter)) {
        describe_counter(card, text, size, before, counter);
    }
}

int fail_range(const struct vic *card, uint32_t dest, uint64_t addr, uint64_t n, unsigned counter)
{
    char text[160];
    describe_range(card, text, sizeof text, "", dest, addr, n, counter);
    fail(VIC_ERANGE, "%s", text);
    return watch_refused(card, VIC_ERANGE);
}

int fail_words(const struct vic *card, const char *name, uint64_t addr, uint64_t n)
{
    char text[160];
    describe_words(card, text, sizeof text, name, addr, n);
    fail(VIC_ERANGE, "%s", text);
    return watch_refused(card, VIC_ERANGE);
}

int fail_packet(const struct vic *card, int status, size_t which, uint64_t header, uint64_t payload)
{
    bool reply = header_check(card, header) == VIC_OK;
    uint64_t wrong = reply ? payload : header;
    struct packet packet = packet_of(wrong);
    char before[80], text[160];
    snprintf(before, sizeof before, "packet %zu%s: ", which, reply ? ", the reply that it asks for" : "");
    if (wrong == HEADER_ERANGE) {
        return fail(status, "%svic_header was given a card, addr or counter that fits in no header", before);
    }
    if (wrong >> VIC_HEADER_END_AT != 0) {
        return fail(status, "%s0x%" PRIx64 " is no header of vic_header", before, wrong);
    }
    if (packet.op > VIC_COUNTER_ADD) {
        return fail(status, "%soperation %u does not exist (0 .. %d)", before, packet.op, (int)VIC_COUNTER_ADD);
    }
    if (reply && packet.op == VIC_QUERY) {
        return fail(status, "%sit is a query itself", before);
    }
    bool uses_addr = packet.op == VIC_WRITE || packet.op == VIC_QUERY;
    describe_range(card, text, sizeof text, before, packet.dest, packet.addr, uses_addr ? 1 : 0, packet.counter);
    return fail(status, "%s", text);
}
