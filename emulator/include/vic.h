/* vic.h: the Vortex Interface Card (VIC) as a program sees it.
 *
 * A card has an SRAM of 64-bit words, 64 group counters, a surprise FIFO and DMA engines. Any card writes
 * any word of any other card. Nothing is received: a receiver presets a group counter to the number of
 * packets it expects, and waits until the counter, which each arriving packet counts down, reads 0.
 *
 *     vic_t *card;
 *     if (vic_open(&card) != VIC_OK) ...
 *     vic_counter_set(card, 0, 1);                         // one packet is expected
 *     vic_barrier(card, VIC_FOREVER);                      // everybody has preset
 *     vic_put(card, next, 0, &word, 1, 0);                 // one word to `next`, counted there by counter 0
 *     vic_counter_wait(card, 0, VIC_FOREVER);              // mine has come
 *
 * These names are our own, in the vocabulary of the published hardware; the vendor's header is not public.
 * `vicrun -n 4 -- ./program` (or `dvsim emulate`) starts a job of four cards, one process each. A program
 * started alone has one card in loopback. C11 and C++17; link with -lvic.
 *
 * Conventions, for every call unless it says otherwise
 *   status    0 (VIC_OK) or a negative VIC_E...; results through pointers; errno is not used.
 *             VIC_EINVAL   an argument is NULL where one is needed, or makes no sense
 *             VIC_ECLOSED  the card has been closed; checked right after NULL, before all else. So it says for
 *                          ever: no later opening has the same handle
 *             VIC_ERANGE   a card, counter or range of SRAM words that does not exist
 *             VIC_ESYS     timed mode: no memory for a thread, at its first call
 *             A call that fails has done nothing; vic_error_detail says what was wrong, with its numbers.
 *   threads   any number of threads of the process that opened the card may call at the same time.
 *             pthread_cancel(3): functional mode: a wait that sleeps ends its thread within 20 ms, with nothing
 *             taken and no part in a barrier; every other call, all calls in timed mode, and those of vic_message.h,
 *             vic_client.h and vic_collective.h end first as they would, and are no cancellation points. Not
 *             asynchronously.
 *   fork      in a child made by fork() every card of its parent is closed (VIC_ECLOSED), as are the messages
 *             and clients on it; the parent does not notice. The child may open a card of its own: alone one
 *             in loopback, in a job the one of its environment once nobody has it open. From fork() on, as
 *             far as it runs the handlers of pthread_atfork(3); not in a signal handler.
 *   sizes     64-bit words.
 *   waits     every wait ends. What is there already is taken first; else it ends with
 *             VIC_ETIMEDOUT  after its timeout in nanoseconds: everything is as it was. 0 looks once, VIC_FOREVER
 *                          has no such end, nor has a send for which a FIFO is full.
 *             VIC_EPEER    a card of the job died: its program was killed, or ended with another exit
 *                          code than 0 while its card was open or had not been opened yet; vic_error_detail says
 *                          which card, or that it was no death: see vic_barrier and mode. Not if the
 *                          launcher was told that the others go on (--if-killed leave, restart): then it
 *                          is as if the program had closed its card, and vic_peer_opens tells.
 *             VIC_ECLOSED  this card was closed by another thread, or the job has ended: the launcher
 *                          is gone (a wait with timeout 0 says so, too, 20 ms later at most), or the
 *                          programs of all other cards have ended
 *             Functional mode: a deadlock ends none. When nothing has moved for 5 s, and at SIGINT and SIGQUIT, the
 *             launcher says which card waits for what.
 *             A signal that is handled, and a fork, end none. vic_close waits for the packets of this card, see there.
 *             Timed mode: while the program of a card computes, or sleeps outside of these calls, model time waits for
 *             it, and so do the waits of all. Only threads of the waiting program itself do not hold it up; as long as
 *             one of them is away, the end of all other programs ends no wait: it may.
 *   order     none between packets, not even of one call. Data are visible before the counter that their
 *             packet names goes down. A word is written whole.
 *   cost      what a call takes on the modelled hardware, in parameters of the card (`dvsim show
 *             data-vortex-8` prints them with their sources). Timed mode charges it; functional mode
 *             takes what the machine takes.
 *   inline    vic_header only: the other calls in line, as a whole program with -flto, are no faster between
 *             two cards (docs/emulator-figures.md), and through the library one binary runs in every mode.
 *   mode      timed mode: vic_open returns when every program of the job has opened its card or ended; a deadlock
 *             ends all waits with VIC_EPEER, and the launcher says who waited for what.
 *             SRAM, counters and FIFO are reached through these calls only, so that the same binary runs
 *             in every mode.
 */
#ifndef VIC_H
#define VIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define VIC_API __attribute__((visibility("default")))
#else
#define VIC_API
#endif

#define VIC_VERSION "0.1.0"
#define VIC_VERSION_MAJOR 0
#define VIC_VERSION_MINOR 1
#define VIC_VERSION_PATCH 0
#define VIC_VERSION_NUMBER (VIC_VERSION_MAJOR * 10000 + VIC_VERSION_MINOR * 100 + VIC_VERSION_PATCH) /* to compare */

#define VIC_FOREVER UINT64_MAX
typedef struct vic vic_t;         /* an open card */
typedef uint32_t vic_addr_t;      /* word index into a card's SRAM */
typedef struct vic_dma vic_dma_t; /* a transfer in flight */

enum {
    VIC_OK = 0,
    VIC_EINVAL = -1,
    VIC_ETIMEDOUT = -2,
    VIC_EBUSY = -3,  /* in use already: the card, messages on it, a team that another call has */
    VIC_ENOSPC = -4, /* no room in SRAM, counters, a table or the memory given */
    VIC_EPEER = -5,  /* a card of the job died, or has ended and will not do what is waited for */
    VIC_ECLOSED = -6, /* the card, messages or client is closed, or the job has ended */
    VIC_ENOJOB = -7, /* VIC_JOB is set, but names no job that this library can join */
    VIC_ESYS = -8,   /* the operating system refused something, most likely memory */
    VIC_ERANGE = -9, /* address, counter or card out of range */
    VIC_EAGAIN = -10 /* vic_try_send: a full FIFO stopped a packet, and the call does not wait */
};

/* A text for any number. Static, never NULL. */
VIC_API const char *vic_strerror(int status);

/* What the last failing call of this thread found wrong, with its numbers, one line: "addr 70000 .. 70003 is not in
 * SRAM (65536 words)". The text of its status if there is no more to say; "" if none has failed. Valid until the
 * thread's next call that fails. */
VIC_API const char *vic_error_detail(void);

/* "major.minor.patch" of the library; VIC_VERSION is that of the header. A program works with libraries of the same
 * major version that are not older than its header; before 1.0 of the same minor one, too. */
VIC_API const char *vic_version(void);

/* The constants of this header and of vic_message.h, vic_client.h and vic_envelope.h by name ("VIC_EPEER"), for foreign function interfaces. VIC_FOREVER comes as
 * -1, the same 64 bits. VIC_EINVAL: NULL, or no such constant. */
VIC_API int vic_constant(const char *name, int64_t *value);

/* ---- the card ------------------------------------------------------------------------------------- */

struct vic_attr {
    uint32_t card, cards; /* this card, 0 .. cards - 1 */
    uint32_t sram_words;
    uint32_t counters; /* usually 64; see "group counters" below */
    uint32_t fifo_words;
    uint32_t dma_entries;
    uint32_t mode; /* 0 functional, 1 timed */
};

/* Join the job of the environment (VIC_JOB, VIC_CARD, VIC_CARDS, set by the launcher only), or without
 * VIC_JOB have one card in loopback. SRAM, counters and FIFO are as the last owner of the card left them,
 * even if it was killed in the middle of a call; in a new job all are 0. VIC_INFO=1 in the environment prints
 * every setting in force on stderr, VIC_DEBUG=1 a line for every call of these headers but vic_relax and the book-keeping:
 * card, time, arguments, status, how long it took; VIC_CHECK=1 reports, once per counter, packets that a counter did not
 * expect: they came before it was preset, or were more than it was preset to, or it is the barrier's. VIC_EBUSY: the card is open,
 * here or in another process. VIC_ENOJOB: the job cannot be joined, as its launcher is gone for one;
 * vic_open_reason says why. VIC_ESYS: no memory. */
VIC_API int vic_open(vic_t **card);

/* Why the last vic_open of this thread failed, one line; "" if it did not. Valid until its next vic_open. */
VIC_API const char *vic_open_reason(void);

/* Give the card back, and what was allocated on it; packets still held by the emulation are delivered
 * first, and a transfer that was not waited for is completed; so does the end of a program that does not close. Other
 * threads' waits on it end with VIC_ECLOSED, as do all calls with this handle from now on. VIC_ETIMEDOUT, functional
 * mode: for 10 s a card that is open took nothing from its full FIFO; the packets for it are lost, how many stands on
 * stderr, and the card is closed all the same. */
VIC_API int vic_close(vic_t *card);

/* What the card is. The struct may get fields at its end in later versions: compiled programs tell the size of theirs
 * by the second name, which the macro calls; what either side does not know is left out or 0. Foreign function
 * interfaces call that, too. */
VIC_API int vic_query_attr(const vic_t *card, struct vic_attr *attr);
VIC_API int vic_query_attr_sized(size_t attr_bytes, const vic_t *card, struct vic_attr *attr);
#define vic_query_attr(...) vic_query_attr_sized(sizeof(struct vic_attr), __VA_ARGS__)

/* How often card `peer` has been opened or left so far: odd while it is open, 0 before its first opening. Who
 * has seen one number and then another has to do with another incarnation of the card's program. A program
 * that was killed has left its card when the launcher has seen it; if that ends the job (see VIC_EPEER) the
 * number stays. A program that ended well has left it as well, and has opened it before, even if it never did; unless
 * another process that it left behind has the card, or, in functional mode, may open it yet. Timed mode: as it was two pio_write before. cost: poll_mirror. */
VIC_API int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens);

/* Nanoseconds since the job began, the same clock on all cards: wall time in functional mode, model time in
 * timed mode. 0 if the card is NULL or closed. cost: none. */
VIC_API uint64_t vic_time_ns(const vic_t *card);

/* The program says that it computes for ns of model time: that stands for all that this thread did between
 * its calls since it last said so. Functional mode: nothing. cost: ns. */
VIC_API int vic_compute_ns(vic_t *card, uint64_t ns);

/* The body of a program's own spin loop: spins, yields or sleeps shortly (at most 0.1 ms, less if something
 * arrives), as suits the job. It sees when the launcher is gone, which the next vic_counter_get, vic_fifo_poll or
 * vic_dma_test then says; of deaths and other ends a wait tells. NULL and closed cards are ignored.
 * cost: poll_mirror. */
VIC_API void vic_relax(vic_t *card);

/* ---- packets -------------------------------------------------------------------------------------- */

/* A packet is a header and a payload, one 64-bit word each. A WRITE, FIFO or QUERY packet counts its counter
 * down by one on the card where it arrives. */
enum vic_op {
    VIC_WRITE,       /* the payload becomes SRAM word addr */
    VIC_FIFO,        /* the payload enters the surprise FIFO; addr unused */
    VIC_QUERY,       /* the payload is the header of the reply: the card answers with the word at addr, its
                      * host does not take part. A reply is any packet but a QUERY. */
    VIC_COUNTER_SET, /* counter becomes the payload, an int64_t; addr unused */
    VIC_COUNTER_ADD  /* the payload, an int64_t, is added to counter; addr unused */
};

#define VIC_NO_COUNTER 63u /* the scratch counter: nobody waits for it, and what it reads says nothing */

/* Where the parts of a header begin: the wire format of this emulator. The hardware's is not public, so a provider that
 * drives real cards translates it (docs/emulator-cards.md), and programs leave it to vic_header. */
#define VIC_HEADER_COUNTER_AT 22 /* bits 0-21: addr; 22-27: counter */
#define VIC_HEADER_OP_AT 28      /* 28-31: op */
#define VIC_HEADER_DEST_AT 32    /* 32-47: dest */
#define VIC_HEADER_END_AT 48     /* 48-63: 0 */

/* The header of a packet. dest may be this card. Whatever is wrong is
 * found when the header is sent: VIC_ERANGE for a dest, addr or counter that does not exist, VIC_EINVAL for
 * an op that does not, or for any other number that is no header. cost: none. */
VIC_API inline uint64_t vic_header(uint32_t dest, enum vic_op op, vic_addr_t addr, unsigned counter)
{
    if ((unsigned)op > VIC_COUNTER_ADD) {
        return UINT64_C(1) << 63;
    }
    if (op != VIC_WRITE && op != VIC_QUERY) {
        addr = 0; /* unused */
    }
    if (dest > 0xffffu || addr > 0x3fffffu || counter > 63u) {
        return UINT64_C(1) << 62;
    }
    return (uint64_t)addr | (uint64_t)counter << VIC_HEADER_COUNTER_AT | (uint64_t)op << VIC_HEADER_OP_AT |
           (uint64_t)dest << VIC_HEADER_DEST_AT;
}

/* ---- SRAM of this card ---------------------------------------------------------------------------- */

/* Words of SRAM: the first gap from address 0 on that is large enough, at a multiple of 8. The same sequence
 * of calls gives the same addresses on every card. Words that are not allocated can be used all the same:
 * this is book-keeping for the program, of one opened card. cost: none.
 * VIC_EINVAL: words = 0. VIC_ENOSPC: no such gap. */
VIC_API int vic_alloc(vic_t *card, size_t words, vic_addr_t *addr);

/* VIC_EINVAL: addr is not what a vic_alloc gave, or was freed. */
VIC_API int vic_free(vic_t *card, vic_addr_t addr);

/* Words into SRAM or out of it by programmed I/O. n = 0 is good. VIC_ERANGE: addr .. addr + n - 1 is not
 * inside the SRAM. cost: vic_write n * 8 B at pio_rate, and pio_write until they are there; vic_read n
 * times pio_read: slow, use vic_dma_read for more than a few words. */
VIC_API int vic_write(vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n);
VIC_API int vic_read(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n);

/* ---- sending -------------------------------------------------------------------------------------- */

/* n packets. All headers are checked before the first packet leaves. n = 0 is good. The arrays may be used
 * again when the call returns. The three paths differ in what crosses PCIe.
 * A packet for a full FIFO waits there, and the call with it (see "surprise FIFO"); this wait has no timeout
 * and ends with VIC_EPEER or VIC_ECLOSED as others do; packets that had not left by then are not sent.
 * VIC_EINVAL, VIC_ERANGE: a header, see vic_header; the header of a query's reply; the range of headers. */

/* Headers and payloads by programmed I/O. cost: n * 16 B at pio_rate; then the fabric. */
VIC_API int vic_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n);

/* As vic_send, but never waits: *sent packets have left, the first ones, whatever the status is. VIC_EAGAIN: a full
 * FIFO stopped the next one. If nobody will make room, the status that vic_send ends with. Timed mode: packets leave
 * into the queue of the card (send_words); a full FIFO is noticed when it has pushed back that far. cost: that of
 * vic_send for those that left; poll_mirror when one is stopped. */
VIC_API int vic_try_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent);

/* The headers wait in SRAM from word `headers` on. cost: n * 8 B at pio_rate. */
VIC_API int vic_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n);

/* The headers wait in SRAM, a DMA engine fetches the payloads, which must stay until the transfer is done.
 * Done: all payloads have been fetched; the packets may still be on their way. Never waits for a FIFO.
 * VIC_ENOSPC: dma_entries transfers have not been waited for. cost: pio_write, dma_setup, n * 8 B at pcie_rate,
 * pio_write; the program goes on after 16 B at pio_rate. */
VIC_API int vic_dma_send(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, vic_dma_t **dma);

/* n consecutive words to SRAM words addr .. addr + n - 1 of card dest, each counting `counter` there, by the
 * path that is best for n. cost: that of the cheapest path. */
VIC_API int vic_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter);

/* Word i to SRAM word addr + i * stride, or addrs[i], of card dest, each counting `counter` there. A stride of 0 is
 * good. cost: as vic_send. */
VIC_API int vic_put_strided(vic_t *card, uint32_t dest, vic_addr_t addr, size_t stride, const uint64_t *words,
                            size_t n, unsigned counter);
VIC_API int vic_put_indexed(vic_t *card, uint32_t dest, const vic_addr_t *addrs, const uint64_t *words, size_t n,
                            unsigned counter);

/* n words from SRAM word addr of card dest on into this card's SRAM from word `local` on; each that arrives counts
 * `counter` of this card down: preset it before. The host of dest takes no part. The call does not wait for the words.
 * They are queries, counted there by the scratch counter. cost: as vic_send of n packets; the words are here a
 * fabric, there and back, later. */
VIC_API int vic_get(vic_t *card, uint32_t dest, vic_addr_t addr, size_t n, vic_addr_t local, unsigned counter);

/* n words of this card's SRAM to host memory, which must not be touched until the transfer is done, or a call has said
 * VIC_ECLOSED: then nothing is written there any more. No death and no deadlock ends a wait for it.
 * VIC_ENOSPC as above. cost: as vic_dma_send. */
VIC_API int vic_dma_read(vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, vic_dma_t **dma);

/* *done = 1 if the transfer is done, else 0; the handle stays. VIC_EINVAL: no transfer, or one that was
 * waited for. VIC_ECLOSED also if it is not done and a vic_relax has seen that the launcher is gone. cost: poll_mirror.
 * */
VIC_API int vic_dma_test(vic_t *card, vic_dma_t *dma, int *done);

/* Wait until the transfer is done, free the handle and set it to NULL. VIC_EINVAL as above. */
VIC_API int vic_dma_wait(vic_t *card, vic_dma_t **dma, uint64_t timeout_ns);

/* ---- group counters ------------------------------------------------------------------------------- */

/* A card with n = attr.counters counters has 0 .. n - 4, 61, 62 and 63. 61 and 62 belong to vic_barrier: a
 * program that counts on them breaks it (VIC_CHECK tells). 63 is the scratch counter. A counter is a signed 64-bit number and
 * goes below 0 without notice. */

/* The lowest counter that is not allocated, never 61 to 63; the same sequence of calls gives the same
 * counters on every card. Book-keeping only, as with vic_alloc. VIC_ENOSPC: all are taken. cost: none. */
VIC_API int vic_counter_alloc(vic_t *card, unsigned *counter);

/* VIC_EINVAL: not allocated. VIC_ERANGE: no such counter. */
VIC_API int vic_counter_free(vic_t *card, unsigned counter);

/* Preset. Packets that come before are forgotten by it: preset, tell the senders (a barrier does), then let
 * them send. cost: 8 B at pio_rate, and pio_write until the card has it; this card reads it at once. */
VIC_API int vic_counter_set(vic_t *card, unsigned counter, int64_t n);

/* Its present value, from the mirror in host memory. VIC_ECLOSED also if it is not 0 and a vic_relax has seen that the
 * launcher is gone; *n is the value all the same. It says nothing of deaths: a loop of vic_counter_get and vic_relax does
 * not end if who should count is dead. To look in a loop, vic_counter_wait with timeout 0. cost: poll_mirror. */
VIC_API int vic_counter_get(vic_t *card, unsigned counter, int64_t *n);

/* Wait until it reads 0. What its packets wrote is visible then. VIC_EINVAL: the scratch counter.
 * cost: poll_mirror per look. */
VIC_API int vic_counter_wait(vic_t *card, unsigned counter, uint64_t timeout_ns);

/* ---- surprise FIFO -------------------------------------------------------------------------------- */

/* Words that nobody asked for, in the order of their arrival, fifo_words deep. A full FIFO pushes back into
 * the fabric: senders wait, nothing is lost (the launcher's --fault fifo-drop=P makes it lose, and counts). A
 * card that sends itself more than its FIFO holds, or two that do so to each other, and do not take
 * meanwhile, wait for ever. */

/* Take what is there, at most max words; *n = 0 is a normal answer. VIC_ECLOSED also if there is nothing and a vic_relax
 * has seen that the launcher is gone. cost: poll_mirror, and fifo_pop per word. */
VIC_API int vic_fifo_poll(vic_t *card, uint64_t *words, size_t max, size_t *n);

/* Wait until min words are there, then take at most max. At VIC_ETIMEDOUT nothing is taken and *n = 0.
 * VIC_EINVAL: min > max, or min > fifo_words. cost: as vic_fifo_poll. */
VIC_API int vic_fifo_wait(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns);

/* ---- any of them ----------------------------------------------------------------------------------- */

#define VIC_READY_FIFO 63u /* the bit of *ready that stands for the FIFO */

/* Wait until any of several things is there: a counter n of `counters` (bit n is set) reads 0, or, with fifo_min > 0,
 * that many words are in the FIFO. *ready has the bits of those counters that read 0, and bit VIC_READY_FIFO if the
 * FIFO holds so many; several may be set, all that one look saw. Nothing is taken, no counter changes. *ready is 0
 * after VIC_ETIMEDOUT. What the packets of those counters wrote is visible then.
 * VIC_EINVAL: nothing is asked for, the scratch counter, or fifo_min > fifo_words. VIC_ERANGE: `counters` has one
 * that does not exist. cost: poll_mirror per look, however much it looks at. */
VIC_API int vic_wait(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns);

/* A descriptor for poll, epoll and event loops: it is readable when what vic_wait would wait for may be there. Edges:
 * read 8 bytes off it, then look by vic_wait with timeout 0 until that says VIC_ETIMEDOUT, then poll again; a wake-up
 * that finds nothing is normal. It is readable as well when waits end (VIC_EPEER, VIC_ECLOSED). Each call makes one,
 * which does not block (O_NONBLOCK, FD_CLOEXEC). Only vic_close closes it, after making it readable once more. Behind
 * the first one is a thread that sleeps until a packet comes. In a child made by fork() nothing writes to it.
 *
 *     vic_event_fd(card, 1 << 5, 0, &fd);                  // counter 5 was preset
 *     struct pollfd look[2] = {{fd, POLLIN, 0}, {socket, POLLIN, 0}};
 *     while (poll(look, 2, -1) > 0) {
 *         if (look[0].revents != 0) {
 *             read(fd, &count, 8);
 *             while (vic_wait(card, 1 << 5, 0, &ready, 0) == VIC_OK) {
 *                 ...                                      // take what came, preset counter 5 anew, tell its sender
 *             }
 *         }
 *         if (look[1].revents != 0) ...
 *     }
 *
 * VIC_EINVAL, VIC_ERANGE: as vic_wait; VIC_EINVAL in timed mode, where model time stands while a program waits outside
 * of these calls. VIC_ESYS: no descriptor or no thread is to be had. cost: none. */
VIC_API int vic_event_fd(vic_t *card, uint64_t counters, size_t fifo_min, int *fd);

/* ---- barrier -------------------------------------------------------------------------------------- */

/* Wait until every card of the job is in its barrier. It does not wait for packets: one sent before may
 * arrive after. After VIC_ETIMEDOUT this card has not taken part, nor has one whose program ended in it.
 * Threads of one card that call at the same time take turns. VIC_EPEER also if the program of a card has
 * ended, so that nobody can wait for it. cost: ceil(log2(cards)) rounds, in each 16 B at pio_rate, two
 * pio_write and the fabric; poll_mirror per look. */
VIC_API int vic_barrier(vic_t *card, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
