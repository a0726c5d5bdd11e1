/* Does the job fit? Asked before anything is made, for the case that every word of it is used. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "launcher.h"

/* A number behind a word at the start of a line. */
static uint64_t number_after(const char *path, const char *word)
{
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t value = UINT64_MAX;
    if (file == NULL) {
        return value;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%" SCNu64, &value) == 1) {
            break;
        }
    }
    fclose(file);
    return value;
}

/* What the control group of this process may still take; version 2 only. */
static uint64_t group_available(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[512], path[700];
    uint64_t left = UINT64_MAX;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::", 3) != 0) {
            continue;
        }
        line[strcspn(line, "\n")] = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        uint64_t most = number_after(path, "");
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", line + 3);
        uint64_t used = number_after(path, "");
        left = most == UINT64_MAX || used == UINT64_MAX ? UINT64_MAX : most > used ? most - used : 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return left;
}

int memory_check(const struct job_config *job, const char *where)
{
    uint64_t kib = number_after("/proc/meminfo", "MemAvailable:"), group = group_available();
    uint64_t available = kib == UINT64_MAX ? UINT64_MAX : kib * 1024, needed = job_bytes(job);
    available = group < available ? group : available;
    if (needed <= available) {
        return -1;
    }
    struct job_config one = *job;
    one.cards = 1;
    fprintf(stderr,
            "vicrun: %s-n: %u cards need %" PRIu64 " bytes of memory, %" PRIu64 " are available: enough for %" PRIu64
            " cards of this size\n",
            where != NULL ? where : "", job->cards, needed, available, available / job_bytes(&one));
    return 2;
}
