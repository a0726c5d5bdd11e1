/* Which messages were there before: a hash table of their ids, at most half full. */
#include <stdlib.h>

#include "engine/random.h"
#include "load.h"

struct name {
    uint64_t session, id; /* session 0: empty */
};

struct seen {
    struct name *names;
    size_t capacity, count;
};

struct seen *seen_new(void)
{
    struct seen *seen = malloc(sizeof *seen);
    if (seen != NULL) {
        *seen = (struct seen){calloc(1024, sizeof(struct name)), 1024, 0};
        if (seen->names == NULL) {
            free(seen);
            seen = NULL;
        }
    }
    return seen;
}

void seen_free(struct seen *seen)
{
    if (seen != NULL) {
        free(seen->names);
        free(seen);
    }
}

/* Where it is, or would be. */
static struct name *slot_of(struct name *names, size_t capacity, const struct name *name)
{
    size_t at = (size_t)dvsim_mix(name->session ^ name->id) & (capacity - 1);
    while (names[at].session != 0 && (names[at].session != name->session || names[at].id != name->id)) {
        at = (at + 1) & (capacity - 1);
    }
    return &names[at];
}

static bool grow(struct seen *seen)
{
    struct name *names = calloc(2 * seen->capacity, sizeof *names);
    for (size_t i = 0; names != NULL && i < seen->capacity; i++) {
        if (seen->names[i].session != 0) {
            *slot_of(names, 2 * seen->capacity, &seen->names[i]) = seen->names[i];
        }
    }
    if (names != NULL) {
        free(seen->names);
        seen->names = names;
        seen->capacity *= 2;
    }
    return names != NULL;
}

bool seen_add(struct seen *seen, uint64_t session, uint64_t id, bool *again)
{
    struct name name = {session, id};
    if (2 * seen->count >= seen->capacity && !grow(seen)) {
        return false;
    }
    struct name *slot = slot_of(seen->names, seen->capacity, &name);
    *again = slot->session != 0;
    seen->count += !*again;
    *slot = name;
    return true;
}
