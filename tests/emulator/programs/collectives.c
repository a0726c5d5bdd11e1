/* Does every call give what plain C gives, for all sizes round the boundaries, in teams of all shapes? */
#include "collective.h"

struct work {
    vic_team_t *team;
    const struct list *list;
    uint32_t me, card;
    uint64_t round, *in, *out;
};

static void fill(struct work *work, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        work->in[i] = word_of(work->round, work->card, i);
        work->out[i] = 4711;
    }
}

static void try_broadcast(struct work *work, size_t n, uint32_t root)
{
    fill(work, n);
    OK(vic_broadcast(work->team, root, work->in, n, VIC_FOREVER));
    for (size_t i = 0; i < n; i++) {
        CHECK(work->in[i] == word_of(work->round, work->list->card[root], i));
    }
}

static void check_reduced(const struct work *work, enum vic_reduction op, const uint64_t *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t all = word_of(work->round, work->list->card[0], i);
        for (uint32_t k = 1; k < work->list->n; k++) {
            all = reduced(op, all, word_of(work->round, work->list->card[k], i));
        }
        CHECK(found[i] == all);
    }
}

static void try_reduce(struct work *work, size_t n, uint32_t root)
{
    enum vic_reduction op = (enum vic_reduction)(work->round % 6);
    bool mine = work->me == root, in_place = work->round % 2 == 0;
    fill(work, n);
    uint64_t *out = !mine ? NULL : in_place ? work->in : work->out;
    OK(vic_reduce(work->team, root, op, work->in, out, n, VIC_FOREVER));
    if (mine) {
        check_reduced(work, op, out, n);
    }
}

static void try_allreduce(struct work *work, size_t n)
{
    enum vic_reduction op = (enum vic_reduction)(work->round % 6);
    uint64_t *out = work->round % 2 == 0 ? work->in : work->out;
    fill(work, n);
    OK(vic_allreduce(work->team, op, work->in, out, n, VIC_FOREVER));
    check_reduced(work, op, out, n);
}

static void try_gather(struct work *work, size_t n, uint32_t root)
{
    bool mine = work->me == root;
    fill(work, n);
    OK(vic_gather(work->team, root, work->in, n, mine ? work->out : NULL, VIC_FOREVER));
    for (size_t i = 0; mine && i < n * work->list->n; i++) {
        CHECK(work->out[i] == word_of(work->round, work->list->card[i / n], i % n));
    }
}

static void try_alltoall(struct work *work, size_t n)
{
    uint64_t *out = work->round % 2 == 0 ? work->in : work->out;
    fill(work, n * work->list->n);
    OK(vic_alltoall(work->team, work->in, out, n, VIC_FOREVER));
    for (size_t i = 0; i < n * work->list->n; i++) {
        CHECK(out[i] == word_of(work->round, work->list->card[i / n], work->me * n + i % n));
    }
}

static void try_size(struct work *work, size_t n)
{
    uint32_t root = (uint32_t)(work->round * 5 % work->list->n);
    OK(vic_team_barrier(work->team, VIC_FOREVER));
    work->round++;
    try_broadcast(work, n, root);
    work->round++;
    try_reduce(work, n, root);
    work->round++;
    try_allreduce(work, n);
    work->round++;
    try_gather(work, n, root);
    work->round++;
    try_alltoall(work, n);
    work->round++;
}

/* All sizes at which something changes: rows, shares and buffers that are full. */
static void try_team(const struct self *self, const struct list *list, uint64_t round)
{
    if (!in_list(list, self->me)) {
        return;
    }
    size_t buffer = self->attr.sram_words / 64, row = buffer / list->n;
    const size_t size[] = {0, 1, 7, row - 1, row, row + 1, buffer - 1, buffer, buffer + 1, 3 * buffer + 5};
    size_t most = (3 * buffer + 5) * list->n;
    struct work work = {open_team(self, list), list, index_of(list, self->me), self->me, round, NULL, NULL};
    work.in = malloc(most * sizeof *work.in);
    work.out = malloc(most * sizeof *work.out);
    CHECK(work.in != NULL && work.out != NULL);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        try_size(&work, size[i]);
    }
    OK(vic_team_close(work.team));
    free(work.in);
    free(work.out);
}

void run(const struct self *self)
{
    struct list all = {.n = self->cards}, reversed = {.n = self->cards}, alone = {1, {self->me}};
    struct list even = {0}, low = {0};
    for (uint32_t card = 0; card < self->cards; card++) {
        all.card[card] = card;
        reversed.card[self->cards - 1 - card] = card;
        if (card % 2 == 0) {
            even.card[even.n++] = card;
        }
        if (card <= self->cards / 2) {
            low.card[low.n++] = card;
        }
    }
    vic_addr_t before, after;
    unsigned counter_before, counter_after;
    try_team(self, &all, 1);
    OK(vic_alloc(self->card, 8 + 8 * self->me, &before)); /* from now on cards differ */
    OK(vic_counter_alloc(self->card, &counter_before));
    try_team(self, &even, 2);
    try_team(self, &low, 3);
    try_team(self, &reversed, 4);
    try_team(self, &alone, 5);
    for (int times = 0; times < 100; times++) { /* more than there are counters, and rows */
        OK(vic_team_close(open_team(self, &all)));
    }
    OK(vic_free(self->card, before)); /* all was given back */
    OK(vic_counter_free(self->card, counter_before));
    OK(vic_alloc(self->card, 8 + 8 * self->me, &after));
    OK(vic_counter_alloc(self->card, &counter_after));
    CHECK(before == after && counter_before == counter_after);
}
