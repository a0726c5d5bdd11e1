/* Does each call say what vic_collective.h promises when something is wrong, and go on when it was repeated? */
#include "collective.h"

static void bad_list(const struct self *self, const uint32_t *cards, uint32_t n, int status, const char *reason)
{
    vic_team_t *team = (vic_team_t *)&n;
    IS(vic_team_open(self->card, cards, n, &team, VIC_FOREVER), status);
    CHECK(team == NULL);
    if (strstr(vic_error_detail(), reason) == NULL) {
        fprintf(stderr, "FAILED: '%s' does not have '%s'\n", vic_error_detail(), reason);
        _Exit(1);
    }
}

static void bad_lists(const struct self *self)
{
    char text[80];
    uint32_t me = self->me, twice[] = {me, me}, beyond[] = {me, self->cards}, without[] = {(me + 1) % self->cards};
    vic_team_t *team;
    IS(vic_team_open(NULL, NULL, 0, &team, 0), VIC_EINVAL);
    IS(vic_team_open(self->card, NULL, 0, NULL, 0), VIC_EINVAL);
    bad_list(self, twice, 0, VIC_EINVAL, "has no cards");
    snprintf(text, sizeof text, "places 0 and 1 of the list both have card %u", me);
    bad_list(self, twice, 2, VIC_EINVAL, text);
    snprintf(text, sizeof text, "place 1 of the list has card %u; this job has cards 0 .. %u", self->cards,
             self->cards - 1);
    bad_list(self, beyond, 2, VIC_ERANGE, text);
    if (self->cards > 1) {
        snprintf(text, sizeof text, "has not this card, %u", me);
        bad_list(self, without, 1, VIC_EINVAL, text);
    }
}

static void no_room(const struct self *self)
{
    unsigned counter[64], count = 0;
    while (vic_counter_alloc(self->card, &counter[count]) == VIC_OK) {
        count++;
    }
    bad_list(self, &self->me, 1, VIC_ENOSPC, "counter");
    for (unsigned free = 1; free <= 2; free++) { /* one is for the card, two for the team */
        OK(vic_counter_free(self->card, counter[--count]));
        bad_list(self, &self->me, 1, VIC_ENOSPC, "counter");
    }
    OK(vic_counter_free(self->card, counter[--count]));
    struct list alone = {1, {self->me}};
    OK(vic_team_close(open_team(self, &alone)));
    while (count > 0) {
        OK(vic_counter_free(self->card, counter[--count]));
    }
    vic_addr_t addr;
    size_t words = self->attr.sram_words;
    while (vic_alloc(self->card, words, &addr) == VIC_ENOSPC) {
        words -= 8;
    }
    bad_list(self, &self->me, 1, VIC_ENOSPC, "32 words of SRAM"); /* all of it is taken, */
    OK(vic_free(self->card, addr));
    OK(vic_alloc(self->card, words - 64, &addr)); /* or but for less than a team's usual buffers */
    vic_team_t *team = open_team(self, &alone);
    OK(vic_team_close(team));
    OK(vic_free(self->card, addr));
}

static void bad_arguments(const struct self *self)
{
    struct list alone = {1, {self->me}};
    vic_team_t *team = open_team(self, &alone);
    uint64_t word[2] = {5, 6};
    enum vic_reduction none = (enum vic_reduction)6;
    IS(vic_team_barrier(NULL, 0), VIC_EINVAL);
    IS(vic_broadcast(NULL, 0, word, 1, 0), VIC_EINVAL);
    IS(vic_broadcast(team, 0, NULL, 1, 0), VIC_EINVAL);
    IS(vic_broadcast(team, 1, word, 1, 0), VIC_ERANGE);
    IS(vic_reduce(team, 1, VIC_SUM, word, word, 1, 0), VIC_ERANGE);
    IS(vic_reduce(team, 0, VIC_SUM, word, NULL, 1, 0), VIC_EINVAL);
    IS(vic_reduce(team, 0, none, word, word, 1, 0), VIC_EINVAL);
    IS(vic_allreduce(team, none, word, word, 1, 0), VIC_EINVAL);
    IS(vic_allreduce(team, VIC_MIN, NULL, word, 1, 0), VIC_EINVAL);
    IS(vic_allreduce(team, VIC_MIN, word, NULL, 1, 0), VIC_EINVAL);
    IS(vic_gather(team, 1, word, 1, word, 0), VIC_ERANGE);
    IS(vic_gather(team, 0, word, 1, NULL, 0), VIC_EINVAL);
    IS(vic_gather(team, 0, word, SIZE_MAX / 8 + 1, word, 0), VIC_EINVAL);
    IS(vic_alltoall(team, NULL, word, 1, 0), VIC_EINVAL);
    IS(vic_team_close(NULL), VIC_EINVAL);
    OK(vic_broadcast(team, 0, NULL, 0, 0)); /* nothing of all this has hurt */
    OK(vic_alltoall(team, word, word, 2, 0));
    CHECK(word[0] == 5 && word[1] == 6);
    OK(vic_team_close(team));
    IS(vic_team_close(team), VIC_ECLOSED);
    IS(vic_team_barrier(team, 0), VIC_ECLOSED);
    IS(vic_allreduce(team, none, NULL, NULL, 1, 0), VIC_ECLOSED);
}

/* The list of one card differs from those of the others: all are told, and the right ones work then. */
static void lists_that_differ(const struct self *self)
{
    struct list all = {.n = self->cards}, other = {.n = self->cards}, fewer = {.n = self->cards - 1};
    for (uint32_t i = 0; i < self->cards; i++) {
        all.card[i] = other.card[self->cards - 1 - i] = i;
        fewer.card[i] = i + 1; /* all but card 0 */
    }
    for (int times = 0; times < 3; times++) {
        bool odd = self->me == self->cards - 1;
        bad_list(self, odd ? other.card : all.card, all.n, VIC_EINVAL, "differ");
        OK(vic_barrier(self->card, VIC_FOREVER));
        OK(vic_team_close(open_team(self, &all)));
        if (self->cards > 2 && self->me != 0) {
            bad_list(self, odd ? fewer.card : all.card, odd ? fewer.n : all.n, VIC_EINVAL, "differ");
        } else if (self->cards > 2) { /* not in the other list: somebody may tell it */
            vic_team_t *team;
            int status = vic_team_open(self->card, NULL, 0, &team, 20 * 1000 * 1000);
            CHECK(status == VIC_ETIMEDOUT || status == VIC_EINVAL);
        }
        OK(vic_barrier(self->card, VIC_FOREVER));
        int status = VIC_EINVAL;
        vic_team_t *team;
        /* card 0 may go on with what the others have refused, refuse it, and so give up what others go on with */
        for (int tries = 0; tries < 1000 && (status == VIC_EINVAL || status == VIC_EPEER); tries++) {
            status = vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER);
        }
        OK(status);
        OK(vic_team_close(team));
    }
}

/* An opening that timed out goes on, or is given up for another one. */
static void late_cards(const struct self *self)
{
    vic_team_t *team;
    struct list all = {.n = self->cards}, alone = {1, {self->me}};
    for (uint32_t i = 0; i < self->cards; i++) {
        all.card[i] = i;
    }
    for (int give_up = 0; give_up < 2; give_up++) {
        if (self->me == 0) {
            for (int times = 0; times < 3; times++) {
                IS(vic_team_open(self->card, NULL, 0, &team, times * 1000 * 1000), VIC_ETIMEDOUT);
                CHECK(strstr(vic_error_detail(), "not all cards") != NULL && team == NULL);
            }
            if (give_up) {
                OK(vic_team_close(open_team(self, &alone)));
            }
        }
        OK(vic_barrier(self->card, VIC_FOREVER));
        team = open_team(self, &all);
        OK(vic_team_barrier(team, VIC_FOREVER));
        OK(vic_team_close(team));
    }
}

/* A call that timed out is finished when it is repeated, whatever it is. */
static void late_calls(const struct self *self)
{
    enum { N = 3000 };
    vic_team_t *team;
    uint64_t *in = calloc(N * self->cards, sizeof *in), *out = calloc(N * self->cards, sizeof *out), word = 0;
    CHECK(in != NULL && out != NULL);
    OK(vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER));
    for (size_t i = 0; i < N * self->cards; i++) {
        in[i] = word_of(1, self->me, i);
    }
    if (self->me == 0) {
        for (int times = 0; times < 3; times++) {
            IS(vic_alltoall(team, in, out, N, times * 1000 * 1000), VIC_ETIMEDOUT);
            IS(vic_alltoall(team, in, out, N - 1, VIC_FOREVER), VIC_EBUSY);
            IS(vic_team_barrier(team, VIC_FOREVER), VIC_EBUSY);
            IS(vic_broadcast(team, 0, &word, 1, VIC_FOREVER), VIC_EBUSY);
        }
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
    int status;
    do {
        status = vic_alltoall(team, in, out, N, 1000);
    } while (status == VIC_ETIMEDOUT);
    OK(status);
    for (size_t i = 0; i < N * self->cards; i++) {
        CHECK(out[i] == word_of(1, (uint32_t)(i / N), self->me * N + i % N));
    }
    OK(vic_team_barrier(team, VIC_FOREVER));
    OK(vic_team_close(team));
    free(in);
    free(out);
}

/* Other calls than those of the others are noticed by who waits for words. */
static void other_calls(const struct self *self)
{
    vic_team_t *team;
    uint64_t word[200] = {0};
    OK(vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER));
    if (self->me == 0) {
        uint64_t *rows = calloc(5 * self->cards, sizeof *rows);
        IS(vic_gather(team, 0, word, 5, rows, VIC_FOREVER), VIC_EINVAL);
        free(rows);
    } else {
        IS(vic_broadcast(team, 0, word, 200, VIC_FOREVER), VIC_EINVAL);
    }
    IS(vic_team_barrier(team, VIC_FOREVER), VIC_EINVAL); /* for good */
    OK(vic_barrier(self->card, VIC_FOREVER));
    OK(vic_team_close(team));
}

/* A card that has closed the team is missed by the next call, not by that which it was in. */
static void closed_by_one(const struct self *self)
{
    vic_team_t *team;
    uint64_t word = 1;
    OK(vic_team_open(self->card, NULL, 0, &team, VIC_FOREVER));
    if (self->me == 0) { /* the others wait for long in the call that this one has left */
        OK(vic_team_barrier(team, VIC_FOREVER));
        OK(vic_team_close(team));
    } else {
        OK(vic_team_barrier(team, VIC_FOREVER));
        IS(vic_allreduce(team, VIC_SUM, &word, &word, 1, VIC_FOREVER), VIC_EPEER);
        IS(vic_team_barrier(team, 0), VIC_EPEER);
        OK(vic_team_close(team));
    }
    OK(vic_barrier(self->card, VIC_FOREVER));
}

void run(const struct self *self)
{
    bad_lists(self);
    OK(vic_barrier(self->card, VIC_FOREVER));
    no_room(self);
    bad_arguments(self);
    if (self->cards > 1) {
        lists_that_differ(self);
        late_cards(self);
        late_calls(self);
        closed_by_one(self);
        other_calls(self);
    }
}
