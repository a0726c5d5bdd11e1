/* The hot calls of libvic, each on its own, for bench/instructions.py: `libvic KERNEL`; `libvic KERNEL time` for
 * bench/roofline.py prints the nanoseconds of a turn, too.
 *
 * One card that sends to itself, in functional mode: what a put or a message costs the program, both
 * ends together. What is counted is what happens inside of `counted`; every page is there before. Prints how
 * many turns that were, and the instruction set that long checksums take, which nothing can force.
 */
#include "counted.h"

#include <stdlib.h>
#include <string.h>

#include <vic_envelope.h>

enum { VECTOR = 64 };

static vic_t *card;
static vic_message_t *messages;
static uint64_t data[1 << 10], came[1 << 10], headers[VECTOR];
static size_t bytes;

/* One word and its group counter, and the other side's wait, as in a pingpong. */
static int run_put(int64_t times)
{
    int status = VIC_OK;
    for (int64_t i = 0; i < times && status == VIC_OK; i++) {
        uint64_t word;
        status = vic_counter_set(card, 0, 1);
        status = status != VIC_OK ? status : vic_put(card, 0, 0, data, 1, 0);
        status = status != VIC_OK ? status : vic_counter_wait(card, 0, VIC_FOREVER);
        status = status != VIC_OK ? status : vic_read(card, 0, &word, 1);
    }
    return status;
}

/* Packets to places all over, one counter for all. */
static int run_send(int64_t times)
{
    int status = vic_counter_set(card, 0, times * VECTOR);
    for (int64_t i = 0; i < times && status == VIC_OK; i++)
        status = vic_send(card, headers, data, VECTOR);
    return status != VIC_OK ? status : vic_counter_wait(card, 0, VIC_FOREVER);
}

static int run_surprise(int64_t times)
{
    int status = VIC_OK;
    for (int64_t i = 0; i < times && status == VIC_OK; i++) {
        const uint64_t header = vic_header(0, VIC_FIFO, 0, VIC_NO_COUNTER);
        uint64_t word;
        size_t taken;
        status = vic_send(card, &header, data, 1);
        status = status != VIC_OK ? status : vic_fifo_wait(card, &word, 1, 1, &taken, VIC_FOREVER);
    }
    return status;
}

static int run_message(int64_t times)
{
    int status = VIC_OK;
    for (int64_t i = 0; i < times && status == VIC_OK; i++) {
        size_t length;
        status = vic_message_send(messages, 0, data, bytes, VIC_FOREVER);
        status = status != VIC_OK ? status : vic_message_recv(messages, NULL, came, bytes, &length, VIC_FOREVER);
    }
    return status;
}

/* What a client and a bridge do with each message beside sending it. */
static int run_envelope(int64_t times)
{
    int status = VIC_OK;
    for (int64_t i = 0; i < times && status == VIC_OK; i++) {
        struct vic_envelope e = {.kind = VIC_PUBLISH, .session = 1, .id = i + 1, .key = "a.b", .key_bytes = 3,
                                 .body = data, .bytes = 256};
        size_t length;
        status = vic_envelope_pack(came, sizeof came, &e, &length);
        status = status != VIC_OK ? status : vic_envelope_unpack(came, length, &e);
    }
    return status;
}

/* As emulator/src/message/hash.c chooses. */
static const char *simd(void)
{
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx512f") ? "avx512" : __builtin_cpu_supports("avx2") ? "avx2" : "portable";
#else
    return "portable";
#endif
}

int main(int argc, char **argv)
{
    const char *kernel = argc == 2 || (argc == 3 && strcmp(argv[2], "time") == 0) ? argv[1] : "";
    run_fn *run = NULL;
    int64_t times = 2000;
    if (strcmp(kernel, "put") == 0) {
        run = run_put;
    } else if (strcmp(kernel, "send") == 0) {
        run = run_send;
        times = 200;
    } else if (strcmp(kernel, "surprise") == 0) {
        run = run_surprise;
    } else if (strcmp(kernel, "envelope") == 0) {
        run = run_envelope;
    } else if (strcmp(kernel, "message-8") == 0 || strcmp(kernel, "message-8192") == 0) {
        run = run_message;
        bytes = strcmp(kernel, "message-8") == 0 ? 8 : 8192;
        times = bytes == 8 ? 2000 : 100;
    }
    int status = run == NULL ? VIC_EINVAL : vic_open(&card);
    if (status != VIC_OK) {
        fprintf(stderr, "libvic KERNEL: no such kernel, or no card: %s\n", vic_open_reason());
        return 2;
    }
    for (uint64_t i = 0; i < VECTOR; i++)
        headers[i] = vic_header(0, VIC_WRITE, (vic_addr_t)(i * 4099), 0);
    if (run == run_message)
        status = vic_message_open(card, NULL, &messages);
    if (status == VIC_OK)
        status = run(times); /* rings, pages and what is bound at first use */
    if (status == VIC_OK)
        status = counted(run, times);
    if (status != VIC_OK) {
        fprintf(stderr, "libvic %s: %s\n", kernel, vic_strerror(status));
        return 1;
    }
    printf("%lld %s\n", (long long)times, simd());
    if (argc == 3)
        printf("%.1f\n", best_ns(run, times, VIC_OK));
    if (messages != NULL)
        vic_message_close(messages);
    return vic_close(card) != VIC_OK;
}
