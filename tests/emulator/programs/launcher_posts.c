/* What the coordinator of a timed job makes of posts that no program of ours sends, and of posts when memory ends. */
#include "launcher_timed.h"

static void without_memory(void)
{
    struct coordinator *all = NULL;
    struct job *job;
    int missing = 0;
    close_all(open_all(ALL));
    all = open_all(ALL);
    job = launch->job;
    coordinator_free(all);
    do {
        memory_left = missing++;
        all = coordinator_make(job, no_kill, NULL);
    } while (all == NULL);
    CHECK(missing > 5 && atomic_load(&timed_shared_of(job)->coordinated) == 1);
    memory_left = -1;
    coordinator_free(all);
    memory_left = 0;
    listen_to_stderr();
    CHECK(!timed_make(launch) && launch->coordinator == NULL);
    CHECK(was_heard("vicrun: timed: no memory for a network of 2 cards, or the card's parameters are out of range"));
    memory_left = -1;
    end_launch(launch);
}

/* One card alone, and more than a network has on its first level. */
static void sizes(void)
{
    struct coordinator *all = open_all(1);
    CHECK(all->hop_ps == 0);
    close_all(all);
    all = open_all(2);
    int64_t hop = all->hop_ps;
    CHECK(hop > 2 * all->pcie.crossing_ps);
    close_all(all);
    all = open_all(65);
    CHECK(all->hop_ps > hop); /* two levels take longer */
    close_all(all);
}

static void posts_that_are_none(void)
{
    struct coordinator *all = open_all(ALL);
    const struct post store = {.at_ps = 5, .kind = POST_STORE, .words = 1};
    struct post bad[] = {store, store, store, store, store, store, store, store, store, store, store, store};
    CHECK(events_of(all, store) == 1);
    bad[0].kind = POST_KINDS;
    bad[1].at_ps = -1;
    bad[2].at_ps = NEVER / 2;
    bad[3].step_ps = -1;
    bad[4].step_ps = INT64_C(1000000000001); /* more than 1 s */
    bad[5].count = MOST_SRAM + 1;
    bad[6].words = 0;
    bad[7].kind = POST_SEND; /* of one word */
    bad[8].kind = POST_LOAD; /* of nothing */
    bad[9] = (struct post){.kind = POST_ENGINE_PUT};
    bad[10] = (struct post){.kind = POST_ENGINE_SEND, .count = 3}; /* nothing is staged */
    bad[11] = (struct post){.kind = POST_PRESET};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(events_of(all, bad[i]) == 0);
    }
    CHECK(!all->failed);
    /* a ring that says it holds more than it has */
    all->side[0].shared->post_tail = POST_WORDS + 1;
    events_read_posts(&all->side[0]);
    CHECK(all->events == 1 && all->side[0].shared->post_tail == 0);
    /* a post that goes on beyond the end */
    write_post(&all->side[0], store, (const uint64_t[]){1});
    all->side[0].shared->post_tail--;
    events_read_posts(&all->side[0]);
    CHECK(all->events == 1);
    CHECK(all->late == 0);
    all->sim_ps = 6;
    CHECK(events_of(all, store) == 1 && all->late == 1 && events_next_ps(all) == 5);
    listen_to_stderr();
    coordinator_report(all, stderr);
    CHECK(was_heard("vicrun: timed: 1 calls came after their time: this run is not exact"));
    close_all(all);
}

static void posts_without_memory(void)
{
    const struct post store = {.kind = POST_STORE, .words = 1}, staged = {.kind = POST_STAGE, .words = 2};
    for (int left = 0; left < 3; left++) {
        struct coordinator *all = open_all(ALL);
        memory_left = left;
        CHECK(events_of(all, store) == (left == 2) && all->failed == (left < 2));
        memory_left = -1;
        close_all(all);
    }
    struct coordinator *all = open_all(ALL);
    CHECK(events_of(all, staged) == 0 && all->side[0].staged_words == 2 && !all->failed);
    CHECK(events_of(all, staged) == 0 && all->side[0].staged_words == 4); /* there was room */
    memory_left = 0;
    CHECK(events_of(all, staged) == 0 && all->failed);
    memory_left = -1;
    all->failed = false;
    memory_left = 0;
    listen_to_stderr();
    all->side[0].in_barrier = true;
    barrier_enter(&all->side[1], 0, 1);
    CHECK(all->failed);
    memory_left = -1;
    close_all(all);
}

/* Headers that are checked before they are sent: of words that are there, and that are not. */
static void headers(void)
{
    struct coordinator *all = open_all(ALL);
    struct side *side = &all->side[0];
    const uint64_t staged[2] = {0};
    for (uint32_t at = 62; at < 64; at++) {
        write_post(side, (struct post){.kind = POST_STAGE, .words = 2}, staged);
        write_post(side, (struct post){.kind = POST_CHECK, .a = at, .count = 2}, NULL);
        events_read_posts(side);
        events_do(all);
        CHECK((side->shared->answer == VIC_OK) == (at == 62) && side->wake && all->pause);
    }
    CHECK(side->shared->answers == 2);
    close_all(all);
}

/* More events than there is room for at first come out in their order. */
static void many_events(void)
{
    struct coordinator *all = open_all(ALL);
    for (int64_t i = 0; i < 1500; i++) {
        CHECK(events_of(all, (struct post){.at_ps = i * 7919 % 1500, .kind = POST_STORE, .words = 1}) == 1);
    }
    for (int64_t i = 0; i < 1500; i++) {
        CHECK(events_next_ps(all) == i);
        events_do(all);
    }
    CHECK(events_next_ps(all) == NEVER);
    close_all(all);
}

int main(void)
{
    without_memory();
    sizes();
    posts_that_are_none();
    posts_without_memory();
    headers();
    many_events();
    puts("checks passed");
    return 0;
}
