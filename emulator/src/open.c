/* vic_open: finding the job and the card, or the reason why there is none. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "debug.h"
#include "fork.h"
#include "handle.h"

static _Thread_local char reason[200];

/* Indexed by mode. Another provider is another line. */
static const struct provider *const providers[] = {
    &functional_provider,
    &timed_provider,
};

const struct provider *provider_of(uint32_t mode)
{
    return mode < sizeof providers / sizeof *providers ? providers[mode] : NULL;
}

static int refuse(int status, const char *why)
{
    snprintf(reason, sizeof reason, "%s", why);
    return fail(status, "%s", why);
}

/* A whole number without anything behind it. */
static bool number(const char *text, int base, uint64_t most, uint64_t *value)
{
    char *end;
    if (text == NULL || text[0] < '0') { /* nor blanks or a sign before it */
        return false;
    }
    errno = 0;
    *value = strtoull(text, &end, base);
    return errno == 0 && *end == 0 && *value <= most;
}

/* "descriptor:nonce" or "descriptor:nonce:place" */
static bool parse_job(const char *text, uint64_t *fd, uint64_t *nonce, uint64_t *place)
{
    char copy[64], *rest = copy;
    if (strlen(text) >= sizeof copy) {
        return false;
    }
    strcpy(copy, text);
    const char *first = strsep(&rest, ":"), *second = strsep(&rest, ":");
    *place = 0;
    return strlen(first) < 16 && number(first, 10, INT32_MAX, fd) && number(second, 16, UINT64_MAX, nonce) &&
           (rest == NULL || number(rest, 10, UINT32_MAX, place));
}

static int open_card(struct job *job, uint32_t card, uint32_t place, vic_t **handle)
{
    int status = handle_open(job, card, place, handle);
    if (status == VIC_ENOJOB) {
        return refuse(status, "the place of this program in the job is lost: the vicrun --join that brought it was killed, or "
                              "another program has joined since");
    }
    if (status == VIC_EBUSY) {
        return refuse(status, "the card is open, here or in another process");
    }
    if (status == VIC_ECLOSED) {
        return refuse(VIC_ENOJOB, "the launcher of the job was killed, or has ended");
    }
    if (status == VIC_ENOSPC) {
        return refuse(VIC_ESYS, "too much of what the last owner of the card sent is left half done in FIFOs");
    }
    return status == VIC_OK ? status : refuse(status, "no memory");
}

int open_named(const char *job_text, const char *card_text, const char *cards_text, vic_t **handle)
{
    uint64_t fd, nonce, place, card, cards;
    const char *why;
    if (!parse_job(job_text, &fd, &nonce, &place)) {
        return refuse(VIC_ENOJOB, "VIC_JOB is not 'descriptor:nonce' as the launcher sets it");
    }
    errno = 0;
    struct job *job = job_attach((int)fd, nonce, &why);
    if (job == NULL) {
        return refuse(errno == ENOMEM ? VIC_ESYS : VIC_ENOJOB, why);
    }
    if (provider_of(job->config.mode) == NULL) {
        return refuse(VIC_ENOJOB, "the job is of a mode that this libvic does not have");
    }
    if (cards_text != NULL && (!number(cards_text, 10, MOST_CARDS, &cards) || cards != job->config.cards)) {
        return refuse(VIC_ENOJOB, "VIC_CARDS is not what the job says");
    }
    if (!number(card_text, 10, job->config.cards - 1, &card)) {
        return refuse(VIC_ENOJOB, "VIC_CARD is not the number of a card of the job");
    }
    if (!job_is_here(job, (uint32_t)card)) {
        return refuse(VIC_ENOJOB, "VIC_CARD is the number of a card of another host");
    }
    return open_card(job, (uint32_t)card, (uint32_t)place, handle);
}

/* Did this program begin with VIC_JOB in its environment? Then it has removed it, to have a card of its own. */
static bool began_with_job(void)
{
    FILE *file = fopen("/proc/self/environ", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (file != NULL && !found && getdelim(&line, &room, 0, file) > 0) {
        found = strncmp(line, "VIC_JOB=", 8) == 0;
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* Has a launcher started this program, or one of those that started it? */
static bool is_launched(void)
{
    int process = getppid();
    while (process > 1) {
        char path[40], text[512] = ")"; /* so that there is one */
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", process);
        FILE *file = fopen(path, "re");
        if (file == NULL) {
            return false;
        }
        text[1 + fread(text + 1, 1, sizeof text - 2, file)] = 0;
        fclose(file);
        if (strstr(text, "(vicrun)") != NULL || strstr(text, "(vichost)") != NULL) {
            return true;
        }
        sscanf(strrchr(text, ')'), ") %*c %d", &parent); /* its name, before that, may have others in it */
        process = parent;
    }
    return false;
}

static int open_usual(vic_t **card)
{
    reason[0] = 0;
    if (card == NULL) {
        return refuse(VIC_EINVAL, "the argument is NULL");
    }
    *card = NULL;
    atomic_store(&debug_on, job_asked("VIC_DEBUG"));
    fork_watch();
    const char *job = getenv("VIC_JOB");
    if (job != NULL) {
        return open_named(job, getenv("VIC_CARD"), getenv("VIC_CARDS"), card);
    }
    static _Atomic bool alone; /* once: it is asked in the first opening only */
    if (!atomic_load(&alone) && !began_with_job() && is_launched()) {
        return refuse(VIC_ENOJOB, "VIC_JOB did not reach this program of a job (env -i, sudo): VIC_JOB, VIC_CARD, VIC_CARDS and, "
                                  "in timed mode, LD_PRELOAD must");
    }
    atomic_store(&alone, true);
    struct job *loopback = job_loopback();
    return loopback != NULL ? open_card(loopback, 0, 0, card) : refuse(VIC_ESYS, "no memory for the card");
}

int vic_open(vic_t **card)
{
    int before = cancel_off(), status = open_usual(card);
    if (card != NULL && atomic_load(&debug_on)) {
        struct debug_call call; /* its card was not open when it began: without how long it took */
        debug_capture(&call, "vic_open", NULL, "", NULL);
        call.card = *card;
        debug_log(&call, status, "", NULL);
    }
    cancel_back(before);
    return status;
}

const char *vic_open_reason(void)
{
    return reason;
}
