/* Plays a script of calls and prints what they said. A line of the script is a card and its call, or a dot:
 * there all cards let what is on its way arrive, so that answers do not depend on the order of packets.
 *
 *     vicrun --prefix -n 3 -- ./player SCRIPT
 */
#include "harness.h"

enum { WORDS_MOST = 128, TRANSFERS_MOST = 64, RELAXES = 40 };

static vic_t *card;
static uint64_t in[WORDS_MOST], out[WORDS_MOST], headers[WORDS_MOST];

static struct {
    vic_dma_t *dma;
    uint64_t words[WORDS_MOST];
    size_t moves; /* words to the host */
} transfer[TRANSFERS_MOST];

static uint64_t number(void)
{
    char *text = strtok(NULL, " \n"), *end;
    CHECK(text != NULL);
    uint64_t value = strtoull(text, &end, 10);
    CHECK(*end == 0);
    return value;
}

static size_t numbers(uint64_t *to)
{
    size_t n = (size_t)number();
    CHECK(n <= WORDS_MOST);
    for (size_t i = 0; i < n; i++) {
        to[i] = number();
    }
    return n;
}

/* Headers into `headers`, payloads into `in`. */
static size_t packets(void)
{
    size_t n = (size_t)number();
    CHECK(n <= WORDS_MOST);
    for (size_t i = 0; i < n; i++) {
        headers[i] = number();
        in[i] = number();
    }
    return n;
}

static void print(int status, const uint64_t *words, size_t n)
{
    printf("%d", status);
    for (size_t i = 0; i < n && status == VIC_OK; i++) {
        printf(" %llu", (unsigned long long)words[i]);
    }
    putchar('\n');
}

static void call(const char *name)
{
    uint64_t a, b;
    if (strcmp(name, "alloc") == 0) {
        vic_addr_t addr = 0;
        int status = vic_alloc(card, (size_t)number(), &addr);
        a = addr;
        print(status, &a, 1);
    } else if (strcmp(name, "free") == 0) {
        print(vic_free(card, (vic_addr_t)number()), NULL, 0);
    } else if (strcmp(name, "counter_alloc") == 0) {
        unsigned counter = 0;
        int status = vic_counter_alloc(card, &counter);
        a = counter;
        print(status, &a, 1);
    } else if (strcmp(name, "counter_free") == 0) {
        print(vic_counter_free(card, (unsigned)number()), NULL, 0);
    } else if (strcmp(name, "counter_set") == 0) {
        a = number();
        print(vic_counter_set(card, (unsigned)a, (int64_t)number()), NULL, 0);
    } else if (strcmp(name, "counter_get") == 0) {
        int64_t value = 0;
        int status = vic_counter_get(card, (unsigned)number(), &value);
        a = (uint64_t)value;
        print(status, &a, 1);
    } else if (strcmp(name, "counter_wait") == 0) {
        print(vic_counter_wait(card, (unsigned)number(), 0), NULL, 0);
    } else if (strcmp(name, "write") == 0) {
        a = number();
        print(vic_write(card, (vic_addr_t)a, in, numbers(in)), NULL, 0);
    } else if (strcmp(name, "read") == 0) {
        a = number();
        b = number();
        CHECK(b <= WORDS_MOST);
        print(vic_read(card, (vic_addr_t)a, out, (size_t)b), out, (size_t)b);
    } else if (strcmp(name, "put") == 0) {
        uint32_t dest = (uint32_t)number();
        vic_addr_t addr = (vic_addr_t)number();
        unsigned counter = (unsigned)number();
        print(vic_put(card, dest, addr, in, numbers(in), counter), NULL, 0);
    } else if (strcmp(name, "fifo_wait") == 0) {
        size_t n = 0;
        a = number();
        int status = vic_fifo_wait(card, out, (size_t)a, (size_t)number(), &n, 0);
        print(status, out, n);
    } else if (strcmp(name, "send") == 0) {
        print(vic_send(card, headers, in, packets()), NULL, 0);
    } else if (strcmp(name, "send_cached") == 0) {
        a = number();
        print(vic_send_cached(card, (vic_addr_t)a, in, numbers(in)), NULL, 0);
    } else if (strcmp(name, "dma_send") == 0) {
        a = number();
        b = number();
        CHECK(b < TRANSFERS_MOST);
        size_t n = numbers(transfer[b].words);
        transfer[b].moves = 0;
        print(vic_dma_send(card, (vic_addr_t)a, transfer[b].words, n, &transfer[b].dma), NULL, 0);
    } else if (strcmp(name, "dma_read") == 0) {
        a = number();
        b = number();
        CHECK(b < TRANSFERS_MOST);
        size_t n = transfer[b].moves = (size_t)number();
        CHECK(n <= WORDS_MOST);
        print(vic_dma_read(card, transfer[b].words, (vic_addr_t)a, n, &transfer[b].dma), NULL, 0);
    } else {
        CHECK(strcmp(name, "dma_wait") == 0);
        a = number();
        CHECK(a < TRANSFERS_MOST);
        int status = vic_dma_wait(card, &transfer[a].dma, LONG);
        print(status, transfer[a].words, transfer[a].moves);
    }
}

/* What is on its way arrives: every look delivers half of what --reorder holds; in model time 0.1 ms is long.
 * */
static void settle(void)
{
    OK(vic_compute_ns(card, 100000));
    for (int i = 0; i < RELAXES; i++) {
        vic_relax(card);
    }
    OK(vic_barrier(card, LONG));
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    CHECK(argc == 2);
    FILE *script = fopen(argv[1], "r");
    CHECK(script != NULL && vic_open(&card) == VIC_OK);
    struct self self = self_of(card);
    while (fgets(line, sizeof line, script) != NULL) {
        char *who = strtok(line, " ");
        if (who[0] == '.') {
            settle();
        } else if (strtoul(who, NULL, 10) == self.me) {
            call(strtok(NULL, " \n"));
        }
    }
    fclose(script);
    OK(vic_close(card));
    return 0;
}
