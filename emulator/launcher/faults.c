/* --fault: what goes wrong on purpose, read from the command line. loop.c kills, src/watch.c stalls; the providers do
 * the rest. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "options.h"

static char wrong[600];

static const char *const kinds[] = {"fifo-depth", "fifo-drop", "dma-slow", "extra-polls", "stall", "kill"};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *bad(const char *name, const char *value, const char *allowed)
{
    snprintf(wrong, sizeof wrong, "%s: '%.60s' is not %s", name, value, allowed);
    return wrong;
}

static const char *read_value(const char *name, const char *value, struct job_config *job)
{
    uint64_t whole;
    if (strcmp(name, "fifo-depth") == 0) {
        if (!read_whole(value, 1, 1u << 24, &whole)) {
            return bad(name, value, "a number of words, 1 .. 2^24");
        }
        job->fifo_depth = (uint32_t)whole;
    } else if (strcmp(name, "fifo-drop") == 0) {
        if (!read_real(value, 0, 1, &job->fifo_drop)) {
            return bad(name, value, "a probability, 0 .. 1");
        }
    } else if (strcmp(name, "dma-slow") == 0) {
        if (!read_real(value, 1, 1e6, &job->dma_slow)) {
            return bad(name, value, "a factor, 1 .. 1e6");
        }
    } else if (!read_real(value, 0, 0.999, &job->extra_polls)) {
        return bad(name, value, "a probability, 0 .. 0.999");
    }
    return NULL;
}

/* card=K at=TIME for=TIME, in any order, each once. */
static const char *read_event(const char *kind, char *words, struct job_config *job)
{
    bool stall = strcmp(kind, "stall") == 0;
    static const char *const keys[] = {"card", "at", "for"};
    struct job_event event = {0};
    unsigned said = 0, needed = stall ? 7 : 3;
    for (char *save, *word = strtok_r(words, " ,", &save); word != NULL; word = strtok_r(NULL, " ,", &save)) {
        char *value = strchr(word, '=');
        unsigned key = 0;
        if (value != NULL) {
            *value++ = 0;
        }
        while (key < 3 && strcmp(word, keys[key]) != 0) {
            key++;
        }
        if (key == 3 || value == NULL || !(needed >> key & 1) || said >> key & 1) {
            snprintf(wrong, sizeof wrong, "%s: '%.60s' is not one of %s, each once%s", kind, word,
                     stall ? "card=K at=TIME for=TIME" : "card=K at=TIME", did_you_mean(word, keys, stall ? 3 : 2));
            return wrong;
        }
        said |= 1u << key;
        uint64_t card = 0;
        bool good = key == 0 ? read_whole(value, 0, MOST_CARDS - 1, &card)
                             : read_time_ns(value, key == 1 ? &event.at_ns : &event.for_ns);
        if (!good) {
            return bad(keys[key], value, key == 0 ? "the number of a card" : "a time such as 5ms (ns, us, ms, s)");
        }
        event.card = key == 0 ? (uint32_t)card : event.card;
    }
    if (said != needed) {
        snprintf(wrong, sizeof wrong, "%s needs %s", kind, stall ? "card=K at=TIME for=TIME" : "card=K at=TIME");
        return wrong;
    }
    uint32_t *count = stall ? &job->stalls : &job->kills;
    if (*count == JOB_FAULTS) {
        snprintf(wrong, sizeof wrong, "%s: at most %d of a kind", kind, JOB_FAULTS);
        return wrong;
    }
    (stall ? job->stall : job->kill)[(*count)++] = event;
    return NULL;
}

const char *fault_read(const char *text, struct job_config *job)
{
    char copy[200];
    if (strlen(text) >= sizeof copy) {
        return "is too long";
    }
    strcpy(copy, text);
    size_t head = strcspn(copy, "= ,");
    char end = copy[head];
    copy[head] = 0;
    size_t kind = 0;
    while (kind < KINDS && strcmp(copy, kinds[kind]) != 0) {
        kind++;
    }
    bool event = kind >= 4;
    if (kind == KINDS) {
        snprintf(wrong, sizeof wrong, "'%.60s' is not one of fifo-depth=N, fifo-drop=P, dma-slow=F, extra-polls=P, "
                 "'stall card=K at=TIME for=TIME', 'kill card=K at=TIME'%s", copy, did_you_mean(copy, kinds, KINDS));
        return wrong;
    }
    if (!event && end != '=') {
        return bad(copy, end ? copy + head + 1 : "", "a value after '='");
    }
    if (event && end == '=') {
        return bad(copy, copy + head + 1, "card=K at=TIME after a space");
    }
    char *rest = end ? copy + head + 1 : copy + head;
    return event ? read_event(copy, rest, job) : read_value(copy, rest, job);
}
