/* The memory of a job, in which a peer may have written anything: seats, FIFOs, barrier and traces while other cards
 * call, and all of it when the launcher reads it afterwards. */
#define _GNU_SOURCE
#include "../cards.h"
#include "functional/claims.h"
#include "launcher.h"

#include <fcntl.h>
#include <unistd.h>

#include "../../../emulator/launcher/perfetto.c"

enum { ALL = 3, LEAST = 16 };

static const struct job_config size = {
    .cards = ALL, .sram_words = 64, .counters = 12, .fifo_words = 6, .dma_entries = 4,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1, .trace_records = LEAST, .stats = 1, .outlives = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};

static struct job *job;
static vic_t *card[ALL];

/* What somebody who has the memory writes there. */
static void write_somewhere(struct input *in)
{
    unsigned where = take_byte(in);
    uint32_t at = where / 16 % ALL;
    struct card_shared *shared = &job->card[at];
    switch (where % 16) {
    case 0: case 1: scribble(in, shared, offsetof(struct card_shared, counter) + 64); break;
    case 2: scribble(in, job_slots(job, at), job->ring * sizeof(struct fifo_slot)); break;
    case 3: scribble(in, job_trace(job, at), job->trace_bytes); break;
    case 4: scribble(in, (void *)&job->shared->poison, sizeof *job->shared - offsetof(struct job_shared, poison)); break;
    case 5: scribble(in, (void *)job->shared, sizeof *job->shared); break;
    case 6: atomic_store(&shared->fifo_head, take_word(in)); break;
    case 7: atomic_store(&shared->fifo_tail, take_word(in) | (uint64_t)take_byte(in) << 40); break;
    case 8: atomic_store(&shared->fifo_voids, take_word(in)); break;
    case 9: atomic_store(&job->shared->barrier, take_word(in)); break;
    case 10: job_trace(job, at)->count = (uint32_t)take_word(in); break;
    case 11: job_trace(job, at)->stride = (uint32_t)take_word(in); break;
    default: scribble(in, job->slots, (size_t)(job->traces - (unsigned char *)job->slots)); break;
    }
}

/* Nothing here waits: it would for ever. */
static void call(struct input *in)
{
    unsigned what = take_byte(in);
    vic_t *me = card[what / 16 % ALL];
    uint32_t to = what / 64;
    uint64_t words[8] = {1, 2, 3}, headers[8], ready, opens;
    size_t n = 0;
    vic_dma_t *dma = NULL;
    int64_t value;
    int done;
    switch (what % 16) {
    case 0: CHECK(vic_fifo_poll(me, words, 8, &n) == VIC_OK && n <= 8); break;
    case 1: vic_fifo_wait(me, words, take_byte(in) % 7, 8, &n, 0); CHECK(n <= 8); break;
    case 2: case 3:
        for (uint32_t i = 0; i < 8; i++) {
            uint64_t header = vic_header(to, VIC_FIFO, 0, i);
            CHECK(to >= ALL || vic_write(me, i, &header, 1) == VIC_OK);
        }
        if (vic_dma_send(me, 0, words, what % 16 == 2 ? 1 : 8, &dma) == VIC_OK && vic_dma_wait(me, &dma, 0) != VIC_OK) {
            vic_dma_test(me, dma, &done); /* held back for good */
        }
        break;
    case 4: vic_counter_get(me, to, &value); break;
    case 5: vic_counter_wait(me, to, 0); break;
    case 6: case 7: vic_barrier(me, 0); break;
    case 8: vic_peer_opens(me, to, &opens); break;
    case 9: vic_put(me, to % ALL, to, words, 8, to); break;
    case 10: claims_undo(job, to % ALL); break;
    case 11: {
        int status = vic_wait(me, UINT64_C(0x1ff) >> to, take_byte(in) % 7, &ready, 0);
        CHECK(status != VIC_OK || ready != 0);
        break;
    }
    case 12:
        for (uint32_t i = 0; i < 8; i++) {
            headers[i] = vic_header(to % ALL, i % 2 == 0 ? VIC_FIFO : VIC_WRITE, i, to);
        }
        n = 99;
        vic_try_send(me, headers, words, 8, &n);
        CHECK(n <= 8);
        vic_get(me, to % ALL, to, 8, 0, to);
        vic_put_strided(me, to % ALL, 0, to, words, 8, to);
        break;
    default: write_somewhere(in);
    }
}

/* What the launcher does at the end. */
static void read_all(void)
{
    char *text = NULL;
    size_t bytes = 0;
    uint32_t stride = 1;
    FILE *file = open_memstream(&text, &bytes);
    struct options options = {.job = size, .programs = 1};
    struct child child[ALL] = {0};
    struct launch launch = {.options = &options, .job = job, .stats_fd = open("/dev/null", O_WRONLY), .child = child};
    const struct trace_source source = {trace_of, job, ALL, job->config.trace_records, ""};
    CHECK(file != NULL);
    for (uint32_t i = 0; i < ALL; i++) {
        write_card(file, &source, i, &stride);
        claims_undo(job, i);
    }
    fclose(file);
    free(text);
    stats_show(&launch);
    quiet(true);
    stats_print(&launch);
    quiet(false);
    close(launch.stats_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    job = cards_open(&size, card);
    while (input_left(&in)) {
        call(&in);
    }
    read_all();
    cards_close(card);
    return 0;
}
