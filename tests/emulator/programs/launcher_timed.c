/* What the coordinator of a timed job does with news, arrivals and ends, what it says, and what it does when memory ends. */
#include "launcher_timed.h"

static void news(void)
{
    struct coordinator *coord = open_all(ALL);
    struct side *side = &coord->side[0];
    struct timed_card *shared = side->shared;
    news_add(side, 5, DVSIM_VIC_COUNTER, 3, 7); /* it is not open: its host sees it when it will be */
    CHECK(shared->view.counter[3] == 7 && shared->news_tail == 0);
    atomic_store(&shared->state, CARD_STOPPED);
    side->next_ps = coord->bound_ps = NEVER;
    shared->watches = WATCHED_MOST + 1; /* any news wake it */
    news_add(side, 5, DVSIM_VIC_COUNTER, 3, 8);
    CHECK(shared->news_tail == 1 && side->next_ps == 5 && coord->bound_ps == 5 + coord->ahead_ps && !side->wake);
    for (uint32_t i = 1; i < NEWS_ROOM; i++) {
        news_add(side, 6, DVSIM_VIC_COUNTER, 3, 9);
    }
    CHECK(side->wake && coord->pause && shared->news_tail == NEWS_ROOM); /* it has to take them first */
    news_add(side, 6, DVSIM_VIC_COUNTER, 4, 1); /* there is no room: it is seen at once */
    CHECK(shared->news_tail == NEWS_ROOM && shared->view.counter[4] == 1);
    shared->news_tail += 5; /* as a card says that is broken */
    news_apply_all(side);
    CHECK(shared->view.counter[3] == 9 && shared->news_head == 0 && shared->news_tail == 0);
    side->end_ps = 9;
    news_add(side, 10, DVSIM_VIC_COUNTER, 5, 2);
    CHECK(shared->view.counter[5] == 2 && shared->news_tail == 0);
    close_all(coord);
}

/* What a person is told of a deadlock. */
static void texts(void)
{
    struct coordinator *coord = open_all(ALL);
    struct side *side = &coord->side[0];
    struct timed_card *shared = side->shared;
    const uint32_t whats[] = {DVSIM_VIC_COUNTER, DVSIM_VIC_FIFO, DVSIM_VIC_TAKEN, DVSIM_VIC_LOADED,
                              DVSIM_VIC_MOVED, DVSIM_VIC_DONE, WATCH_THREAD, WATCH_SLOT, WATCH_BARRIER,
                              DVSIM_VIC_PRESET};
    atomic_store(&shared->state, CARD_STOPPED);
    listen_to_stderr();
    report_deadlock(coord);
    CHECK(was_heard("  card 0 waits for nothing\n"));
    shared->watches = sizeof whats / sizeof *whats;
    for (uint32_t i = 0; i < shared->watches; i++) {
        shared->watched[i] = (struct watched){whats[i], 70, 4}; /* counters are counted modulo 64 */
    }
    dvsim_vic_send(side->vic, 0, UINT64_C(1) << 32 | DVSIM_OP_FIFO << 28, 0);
    dvsim_vic_send(coord->side[1].vic, 0, DVSIM_OP_WRITE << 28, 0);
    listen_to_stderr();
    report_deadlock(coord);
    CHECK(was_heard("  card 0 waits for counter 6 to read 0 (it reads 0), 4 words in its FIFO, room for its packets, a "
                    "read of SRAM, a transfer, a transfer, a thread to end, another thread (a lock, a condition), the "
                    "barrier, counter 6 to read 0 (it reads 0); its packets wait for room in the FIFO of card 1\n"));
    CHECK(was_heard("  card 1 waits for nothing\n"));
    shared->watches = WATCHED_MOST + 9; /* more than can be told */
    atomic_store(&coord->side[1].shared->state, CARD_CLOSED);
    coord->side[1].shared->watches = 1;
    listen_to_stderr();
    report_deadlock(coord);
    CHECK(was_heard("  card 1 waits for nothing, it is closed\n"));
    atomic_store(&coord->side[1].shared->state, CARD_AWAY);
    listen_to_stderr();
    report_deadlock(coord);
    CHECK(was_heard("  card 1 waits for nothing, its threads do something else\n"));
    coord->side[1].end_ps = 0;
    listen_to_stderr();
    report_deadlock(coord);
    CHECK(was_heard("  card 1 waits for nothing, its program has ended\n"));
    close_all(coord);
}

/* A program computes for long in its turn: that is said, once; then it dies in it. */
static void one_who_computes(void)
{
    struct coordinator *coord = open_all(ALL);
    atomic_store(&coord->side[0].shared->state, CARD_RUNNING);
    clock_step_ns = UINT64_C(3000000000);
    looks_left = 7;
    atomic_store(&timed_shared_of(launch->job)->bell, 1);
    listen_to_stderr();
    await_cards(coord);
    const char *said = strstr(heard(), "the program of card 0 has not called the library for 5 s");
    CHECK(said != NULL && strstr(said, "vicrun:") == NULL);
    CHECK(state_of(&coord->side[0]) == CARD_CLOSED);
    clock_step_ns = 0;
    look_at(&coord->side[0]);
    CHECK(coord->side[0].end_ps == coord->side[0].shared->next_ps && coord->side[0].next_ps == NEVER);
    close_all(coord);
}

/* A broken program writes times that nothing can be added to. */
static void times_of_a_broken_card(void)
{
    const int64_t written[] = {NEVER - 1, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        struct coordinator *coord = open_all(ALL);
        struct side *side = &coord->side[0], *other = &coord->side[1];
        coord->sim_ps = coord->last_ps = 1000;
        atomic_store(&other->shared->state, CARD_STOPPED);
        other->ran = true;
        other->shared->next_ps = other->shared->now_ps = written[i];
        look_at(other);
        CHECK(other->next_ps == NEVER);
        atomic_store(&side->shared->state, CARD_CLOSED);
        side->shared->next_ps = written[i];
        atomic_store(&coord->job->card[0].end, CARD_DIED);
        look_at(side);
        CHECK(side->end_ps == 1000);
        ends_announce_deaths(coord);
        CHECK(other->shared->stop_ps == 1000 + 2 * coord->pcie.crossing_ps);
        other->shared->stop_ps = NEVER;
        other->shared->watches = 1;
        other->shared->news[0] = (struct news){.at_ps = written[i]};
        other->shared->news_tail = 1;
        ends_when_idle(coord);
        CHECK(other->shared->stop_ps == 1000 + coord->pcie.crossing_ps && coord->sim_ps == 1000);
        close_all(coord);
    }
}

/* A packet reaches a counter that was not preset; the trace of who sent it. */
static void arrivals(void)
{
    struct coordinator *coord = open_all(ALL);
    dvsim_vic_packet packet = {.header = UINT64_C(7) << 22, .payload = 5};
    coord->check = true;
    listen_to_stderr();
    fabric_arrive(coord, 0, 1, &packet);
    fabric_arrive(coord, 0, 1, &packet);
    const char *said = strstr(heard(), "vic: check: card 0: counter 7 read 0 when a packet of card 1 came");
    CHECK(said != NULL && strstr(said + 1, "vic:") == NULL && coord->deliveries == 2);
    packet.header = (uint64_t)DVSIM_OP_SET << 28 | UINT64_C(8) << 22; /* not one that counts */
    fabric_arrive(coord, 0, 1, &packet);
    packet.header = UINT64_C(62) << 22; /* of the barrier */
    fabric_arrive(coord, 0, 1, &packet);
    packet.header = UINT64_C(8) << 22;
    dvsim_vic_preset(coord->side[0].vic, 0, 8, 1);
    fabric_arrive(coord, 0, 1, &packet);
    CHECK(strstr(heard(), "counter 8") == NULL);
    packet.header = (uint64_t)DVSIM_OP_FIFO << 28;
    fabric_arrive(coord, 0, 1, &packet);
    const struct trace_head *trace = job_trace(launch->job, 1);
    CHECK(trace->count == 7 && trace->record[5].kind == TRACE_PACKETS && trace->record[6].kind == TRACE_FIFO);
    CHECK(trace->record[6].value == 1 && job_trace(launch->job, 0)->count == 0);
    CHECK(!fabric_chance(coord, 0) && fabric_chance(coord, 1));
    close_all(coord);
}

/* Packets on their way when memory ends. */
static void slots_without_memory(void)
{
    int failures = 0;
    for (int left = 0;; left++) {
        struct coordinator *coord = open_all(ALL);
        dvsim_vic_send(coord->side[0].vic, 0, UINT64_C(1) << 32 | UINT64_C(63) << 22, 5);
        memory_left = left;
        for (int i = 0; i < 1000 && !coord->failed && fabric_landed_ps(coord) == NEVER; i++) {
            fabric_slot(coord, fabric_next_ps(coord));
        }
        memory_left = -1;
        bool failed = coord->failed;
        CHECK(failed || coord->landed_count - coord->landed_done == 1);
        failures += failed;
        close_all(coord);
        if (!failed) {
            break;
        }
    }
    CHECK(failures > 1);
}

/* Memory ends in the middle: all waits end, and so does the coordinator. */
static void an_end_without_memory(void)
{
    struct coordinator *coord = open_all(ALL);
    const struct post store = {.kind = POST_STORE, .words = 1};
    for (uint32_t i = 0; i < ALL; i++) {
        atomic_store(&coord->side[i].shared->state, CARD_STOPPED);
        coord->side[i].shared->next_ps = NEVER;
    }
    write_post(&coord->side[0], store, (const uint64_t[]){1});
    listen_to_stderr();
    memory_left = 0;
    coordinate(coord);
    memory_left = -1;
    CHECK(was_heard("vicrun: timed: no memory\n") && coord->failed);
    CHECK(atomic_load(&timed_shared_of(launch->job)->coordinated) == 2);
    for (uint32_t i = 0; i < ALL; i++) {
        CHECK(state_of(&coord->side[i]) == CARD_RUNNING && coord->side[i].shared->stop_status == VIC_ECLOSED);
    }
    close_all(coord);
}

/* All have ended: what is on its way arrives. */
static void last_packets(void)
{
    setenv("VIC_CHECK", "1", 1);
    struct coordinator *coord = open_all(ALL);
    unsetenv("VIC_CHECK");
    CHECK(coord->check);
    coord->side[0].end_ps = coord->side[1].end_ps = 0;
    atomic_store(&coord->stop, true);
    dvsim_vic_send(coord->side[0].vic, 0, UINT64_C(1) << 32 | UINT64_C(63) << 22 | 5, 77);
    coordinate(coord);
    CHECK(coord->deliveries == 1 && sram_of(coord, 1)[5] == 77);
    close_all(coord);
}

/* The fault `kill`: nobody goes on before the program has ended. */
static void kills(void)
{
    struct coordinator *coord = open_all(ALL);
    struct job_config *config = &launch->job->config;
    config->kills = 2;
    config->kill[0] = (struct job_event){.card = 1, .at_ns = INT64_MAX};
    config->kill[1] = (struct job_event){.card = 0, .at_ns = 5};
    CHECK(ends_kill_due(coord, 0) == 5000 && coord->kill_pending && coord->kills == 0);
    coord->sim_ps = 5000;
    looks_left = 3;
    CHECK(ends_kill_due(coord, NEVER) == NEVER / 2 && coord->kills == 2 && looks_left == -1);
    CHECK(coord->side[0].end_ps == 5000 && state_of(&coord->side[0]) == CARD_CLOSED);
    CHECK(coord->side[1].shared->stop_status == VIC_EPEER && coord->side[1].end_ps == NEVER);
    coord->side[1].end_ps = 6000; /* it has ended by itself */
    CHECK(ends_kill_due(coord, NEVER) == NEVER && !coord->kill_pending);
    close_all(coord);
}

/* What the launcher says at the end that model time does not know of. */
static void unsaid(void)
{
    const char *infos[] = {"1", "", "0"};
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        struct coordinator *coord = open_all(ALL);
        setenv("VIC_INFO", infos[i], 1);
        timed_card_of(launch->job, 1)->lost_threads = 3;
        timed_card_of(launch->job, 0)->unstated_ns = 10000000;
        /* a header in SRAM that was overwritten before its packet left */
        sram_of(coord, 0)[0] = ~UINT64_C(0);
        dvsim_vic_send_cached(coord->side[0].vic, 0, 0, 1);
        CHECK(fabric_next_ps(coord) == NEVER);
        coord->deadlock = true;
        launch->coordinator = coord;
        launch->code = i == 1 ? 7 : 0;
        listen_to_stderr();
        timed_finish(launch);
        CHECK(launch->coordinator == NULL && launch->code == (i == 1 ? 7 : 1));
        CHECK(was_heard("card 0 computed for 10.0 ms between its calls") && was_heard("card 1: 3 times a thread slept"));
        bool reported = strstr(heard(), "; headers in SRAM were overwritten before they were used") != NULL;
        CHECK(reported == (i == 0));
        end_launch(launch);
    }
}


int main(void)
{
    news();
    texts();
    one_who_computes();
    times_of_a_broken_card();
    arrivals();
    slots_without_memory();
    an_end_without_memory();
    last_packets();
    kills();
    unsaid();
    puts("checks passed");
    return 0;
}
