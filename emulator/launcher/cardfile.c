/* --card-file: parameters of a card, one key=value per line, in base units (bytes, bytes/s, ps). `dvsim
 * emulate --card NAME` makes it from a card of models/cards. */
#include <stdio.h>
#include <string.h>

#include "options.h"

static const char *const keys[] = {"sram",       "group_counters", "fifo_words",  "dma_entries", "dma_setup",
                                   "pcie_rate",  "pio_write",      "pio_read",    "pio_rate",    "poll_mirror",
                                   "fifo_pop",   "send_words",     "port_rate",   "planes",      "switch_angles",
                                   "link"};

enum { KEYS = sizeof keys / sizeof *keys };

/* The sizes are held against the limits by job_config_fault. */
static void set(struct job_config *job, size_t key, uint64_t value)
{
    uint32_t small = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    int64_t large = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    struct job_model *model = &job->model;
    switch (key) {
    case 0: job->sram_words = value / 8 > UINT32_MAX ? UINT32_MAX : (uint32_t)(value / 8); break;
    case 1: job->counters = small; break;
    case 2: job->fifo_words = small; break;
    case 3: job->dma_entries = small; break;
    case 4:
        job->dma_setup_ns = value / 1000;
        model->setup_ps = large;
        break;
    case 5: job->pcie_rate = value; break;
    case 6: model->crossing_ps = large; break;
    case 7: model->load_ps = large; break;
    case 8: model->store_rate = large; break;
    case 9: model->look_ps = large; break;
    case 10: model->pop_ps = large; break;
    case 11: model->send_words = small; break;
    case 12: model->port_rate = large; break;
    case 13: model->planes = small; break;
    case 14: model->angles = small; break;
    default: model->link_ps = large; break;
    }
}

static const char *read_line(char *line, void *to)
{
    struct job_config *job = to;
    char *key = line + strspn(line, " \t");
    key[strcspn(key, "#\n")] = 0;
    size_t length = strlen(key);
    while (length > 0 && strchr(" \t\r", key[length - 1]) != NULL) {
        key[--length] = 0;
    }
    if (length == 0) {
        return NULL;
    }
    char *value = strchr(key, '=');
    if (value == NULL) {
        return "is not key=value";
    }
    *value++ = 0;
    value += strspn(value, " \t");
    key[strcspn(key, " \t")] = 0;
    static char message[200];
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t number;
        if (strcmp(key, keys[i]) != 0) {
            continue;
        }
        if (!read_whole(value, 0, UINT64_MAX, &number)) {
            snprintf(message, sizeof message, "%s: '%.60s' is not a whole number of base units", key, value);
            return message;
        }
        set(job, i, number);
        return NULL;
    }
    snprintf(message, sizeof message, "'%.60s' is not a parameter that vicrun knows%s", key,
             did_you_mean(key, keys, KEYS));
    return message;
}

const char *card_line_read(const char *text, struct job_config *job)
{
    char line[300];
    return snprintf(line, sizeof line, "%s", text) < (int)sizeof line ? read_line(line, job) : "is too long";
}

const char *card_file_read(const char *path, struct job_config *job)
{
    return lines_read(path, "%s: %s", 299, "is longer than any parameter", read_line, job);
}
