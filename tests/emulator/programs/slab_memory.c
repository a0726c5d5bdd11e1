/* Handles at addresses that are given once: is their memory given back, do closed ones read as 0? */
#define _GNU_SOURCE
#include "slab.c"

#include "harness.h"

struct handle {
    uint64_t open, words[40];
};

enum { OPENINGS = 300 * 1000, KEPT = 100 };

static size_t resident_bytes(void)
{
    long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return (size_t)resident * page_bytes();
}

static struct handle *take(struct slab *slab)
{
    struct handle *handle = slab_take(slab);
    CHECK(handle != NULL && (uintptr_t)handle % SLAB_LINE == 0 && handle->open == 0);
    for (size_t i = 0; i < 40; i++) {
        CHECK(handle->words[i] == 0);
    }
    memset(handle, -1, sizeof *handle);
    return handle;
}

int main(void)
{
    static struct slab slab = SLAB_OF(struct handle);
    static struct handle *kept[KEPT];
    struct handle *before = NULL, *first = NULL;
    CHECK(slab.bytes >= sizeof(struct handle));
    for (int i = 0; i < KEPT; i++) { /* some stay open for all of the time */
        kept[i] = take(&slab);
    }
    size_t bytes = resident_bytes();
    for (int i = 0; i < OPENINGS; i++) {
        struct handle *handle = take(&slab);
        CHECK(handle != before);
        first = first != NULL ? first : handle;
        handle->open = 0;
        slab_give(&slab, handle);
        before = handle;
    }
    size_t grown = resident_bytes() - bytes;
    CHECK(grown < 4 << 20); /* of a hundred MB */
    CHECK(first->open == 0 && before->open == 0);
    first->open++; /* as a late call does */
    CHECK(--first->open == 0);
    for (int i = 0; i < KEPT; i++) {
        CHECK(kept[i]->open == UINT64_MAX && kept[i]->words[39] == UINT64_MAX);
        kept[i]->open = 0;
        slab_give(&slab, kept[i]);
    }
    puts("checks passed");
    return 0;
}
