/* What a program finds in its environment, and a descriptor that is not the memory of a job, or of a damaged one: is it
 * refused with a reason, or a job whose parts lie inside of its memory? */
#define _GNU_SOURCE
#include "../fuzz.h"
#include "handle.h"

#include "../../../emulator/src/job.c"

enum { LARGE = 1 << 24, NAMED = 11 };

static const struct job_config size = {
    .cards = 3, .sram_words = 64, .counters = 12, .fifo_words = 6, .dma_entries = 4,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1, .trace_records = 16,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};

static void forget(struct job *job)
{
    for (struct job **at = &known; *at != NULL; at = &(*at)->next) {
        if (*at == job) {
            *at = job->next;
            break;
        }
    }
    unmap(job);
}

static void look(const struct job *job)
{
    uint32_t last = job->config.cards - 1;
    const unsigned char *end = (const unsigned char *)job->shared + job->bytes;
    CHECK(job->bytes == job_bytes(&job->config) && job_config_fault(&job->config) == NULL);
    CHECK((const unsigned char *)(&job->card[last] + 1) <= end);
    CHECK((const unsigned char *)(job_slots(job, last) + job->ring) <= end);
    CHECK((const unsigned char *)(job_sram(job, last) + job->config.sram_words) <= end);
    CHECK((const unsigned char *)job_trace(job, last) + job->trace_bytes <= end);
    CHECK(job->ring >= job->config.fifo_words && (job->ring & (job->ring - 1)) == 0);
    CHECK(((const volatile unsigned char *)end)[-1] == 0);
}

/* The head of a job that was written over, in a file of the size that it says, or of another. */
static void attach(struct input *in)
{
    struct job_shared head;
    struct job_config config = size;
    const char *why = NULL;
    config.cards = take_byte(in) % 3 + 1;
    memset(&head, 0, sizeof head);
    fill_head(&head, &config, take_byte(in));
    while (input_left(in)) {
        scribble(in, &head, offsetof(struct job_shared, poison));
    }
    uint64_t bytes = head.bytes;
    if (job_config_fault(&head.config) == NULL && head.bytes % 2 == 0) {
        bytes = head.bytes = job_bytes(&head.config);
    }
    int file = memfd_create("job", MFD_ALLOW_SEALING);
    CHECK(file >= 0 && pwrite(file, &head, sizeof head, 0) == (ssize_t)sizeof head);
    CHECK(bytes > LARGE || bytes < sizeof head || ftruncate(file, (off_t)bytes) == 0);
    CHECK(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    struct job *job = job_attach(file, head.nonce, &why);
    CHECK(job != NULL || why != NULL);
    if (job != NULL) {
        look(job);
        forget(job);
    }
    close(file);
}

static void take_text(struct input *in, char *text, size_t room)
{
    static const char *const usual[] = {"", "0", "2", "3", "4294967296", "1:b", "b", "-1"};
    unsigned kind = take_byte(in);
    size_t n = 0;
    if (kind < 128) {
        snprintf(text, room, "%s", usual[kind % 8]);
        return;
    }
    while (n < kind - 128u && n + 1 < room && input_left(in)) {
        text[n++] = (char)take_byte(in);
    }
    text[n] = 0;
}

static void open_by_text(struct input *in)
{
    char text[40], number[24], cards[24];
    const char *why;
    static int memory = -1;
    if (memory < 0) {
        memory = job_create(&size, NAMED);
    }
    CHECK(memory >= 0);
    int n = take_byte(in) % 4 == 0 ? 0 : snprintf(text, sizeof text, "%d:b", memory);
    take_text(in, text + n, sizeof text - (size_t)n);
    take_text(in, number, sizeof number);
    take_text(in, cards, sizeof cards);
    vic_t *card;
    int status = open_named(text, number, take_byte(in) % 4 == 0 ? NULL : cards, &card);
    CHECK(status == VIC_OK || status == VIC_ENOJOB);
    CHECK(status == VIC_OK || *vic_open_reason() != 0);
    if (status == VIC_OK) {
        CHECK(vic_close(card) == VIC_OK);
        look(job_attach(memory, NAMED, &why));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    if (take_byte(&in) % 4 == 0) {
        open_by_text(&in);
    } else {
        attach(&in);
    }
    return 0;
}
