/* Handles at addresses that are given once: pages that are filled one after another, and emptied when all of their
 * handles have been given back. The address space stays taken, which costs less than a byte for each of them. */
#define _GNU_SOURCE
#include "slab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64 }; /* of a chunk */

/* Of the heap, so that tools that look for leaks see what handles point to. Never freed. */
struct slab_chunk {
    struct slab_chunk *next;
    unsigned char *pages;
};

/* At the begin of a page. */
struct page {
    _Alignas(SLAB_LINE) size_t given; /* back */
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t handles_of_page(const struct slab *slab)
{
    return (page_bytes() - sizeof(struct page)) / slab->bytes;
}

static bool begin_chunk(struct slab *slab)
{
    struct slab_chunk *chunk = malloc(sizeof *chunk);
    unsigned char *pages = chunk != NULL ? aligned_alloc(page_bytes(), PAGES * page_bytes()) : NULL;
    if (pages == NULL) {
        free(chunk);
        return false;
    }
    *chunk = (struct slab_chunk){slab->chunks, pages};
    slab->chunks = chunk;
    slab->page_end = pages;
    slab->chunk_end = pages + PAGES * page_bytes();
    return true;
}

static bool begin_page(struct slab *slab)
{
    if (slab->page_end == slab->chunk_end && !begin_chunk(slab)) {
        return false;
    }
    struct page *page = (void *)slab->page_end;
    page->given = 0;
    slab->next = slab->page_end + sizeof *page;
    slab->page_end += page_bytes();
    return true;
}

void *slab_take(struct slab *slab)
{
    void *handle = NULL;
    pthread_mutex_lock(&slab->lock);
    bool fits = (size_t)(slab->page_end - slab->next) >= slab->bytes;
    if (fits || begin_page(slab)) {
        handle = slab->next;
        slab->next += slab->bytes;
        memset(handle, 0, slab->bytes);
    }
    pthread_mutex_unlock(&slab->lock);
    return handle;
}

void slab_give(struct slab *slab, void *handle)
{
    struct page *page = (void *)((uintptr_t)handle & ~(uintptr_t)(page_bytes() - 1));
    pthread_mutex_lock(&slab->lock);
    if (++page->given == handles_of_page(slab)) {
        madvise(page, page_bytes(), MADV_DONTNEED); /* if it refuses, the memory is kept */
    }
    pthread_mutex_unlock(&slab->lock);
}

void slab_hold(struct slab *slab)
{
    pthread_mutex_lock(&slab->lock);
}

void slab_release(struct slab *slab)
{
    pthread_mutex_unlock(&slab->lock);
}

void slab_forget(struct slab *slab)
{
    size_t bytes = PAGES * page_bytes();
    for (const struct slab_chunk *chunk = slab->chunks; chunk != NULL; chunk = chunk->next) {
        if (madvise(chunk->pages, bytes, MADV_DONTNEED) != 0) {
            memset(chunk->pages, 0, bytes);
        }
    }
}
