/* vic.h: the Vortex Interface Card (VIC) as a program sees it.
 *
 * A card has an SRAM of 64-bit words, 64 group counters, a surprise FIFO and DMA engines. Any card can write any
 * word of any other card. There is no receive call: a receiver presets a group counter to the number of packets it
 * expects. Each packet that arrives counts it down, and the receiver waits until it reads 0.
 *
 *     vic_t *card;
 *     if (vic_open(&card) != VIC_OK) ...
 *     vic_counter_set(card, 0, 1);                         // expect one packet
 *     vic_barrier(card, VIC_FOREVER);                      // now every card has preset its counter
 *     vic_put(card, next, 0, &word, 1, 0);                 // write one word on card `next`, counted by its counter 0
 *     vic_counter_wait(card, 0, VIC_FOREVER);              // the word for this card has arrived
 *
 * These names are our own, in the vocabulary of the published hardware; the vendor's header is not public.
 * `vicrun -n 4 -- ./program` (or `dvsim emulate`) starts a job of four cards, one process each. A program that is
 * started alone has one card, in loopback. C11 and C++17; link with -lvic.
 *
 * Conventions. They hold for every call, unless its own text says otherwise.
 *
 *   status    A call returns 0 (VIC_OK) or a negative VIC_E... code. Results come through pointers. errno is not
 *             used. A call that fails has done nothing. vic_error_detail says what was wrong, with its numbers.
 *             VIC_EINVAL   An argument is NULL where a pointer is needed, or makes no sense.
 *             VIC_ECLOSED  The card has been closed. This is checked right after NULL, before all else, and holds for
 *                          ever: no later opening gets the same handle.
 *             VIC_ERANGE   A card, counter or range of SRAM words does not exist.
 *             VIC_ESYS     Timed mode: there is no memory for a thread, at its first call.
 *   threads   Any number of threads of the process that opened the card may call at the same time. A stack of
 *             PTHREAD_STACK_MIN is enough; with VIC_DEBUG=1 calls need 8 KiB more.
 *   cancel    pthread_cancel(3), deferred only. Functional mode: a wait that sleeps ends its thread within 20 ms; it
 *             has taken nothing and has no part in a barrier. All other calls finish first and are no cancellation
 *             points: the other calls in functional mode, all calls in timed mode, and the calls of vic_message.h,
 *             vic_client.h and vic_collective.h.
 *   fork      In a child made by fork() every card of its parent is closed (VIC_ECLOSED), and so are the messages and
 *             clients on it. The parent is not affected. The child may open a card of its own: in loopback if it runs
 *             alone; in a job, the card of its environment once no process has it open. This holds from fork() on if
 *             it runs the handlers of pthread_atfork(3), and not for a fork in a signal handler.
 *   sizes     Sizes and addresses count 64-bit words.
 *   waits     Every wait ends. It first takes what is there already. Otherwise it ends with one of these:
 *             VIC_ETIMEDOUT  The timeout in nanoseconds has passed; nothing has changed. A timeout of 0 looks once.
 *                          VIC_FOREVER never ends this way, nor does a send that waits for a full FIFO.
 *             VIC_EPEER    A card of the job died: its program was killed, or it ended with an exit code other than 0
 *                          while its card was open or not yet opened. The same holds for the process that has the card
 *                          open if a program (a shell, a supervisor, a pool) has started it: it has 2 s to be started
 *                          again, if what started it lives. vic_error_detail names the card, or gives
 *                          another reason: see vic_barrier, and mode below. If the launcher lets the others go on
 *                          (--if-killed leave, restart), the death counts as if the program had closed its card;
 *                          vic_peer_opens shows it.
 *             VIC_ECLOSED  Another thread closed this card, or the job has ended: the launcher is gone (a wait with
 *                          timeout 0 notices this within 20 ms; what ends with it, as other hosts and their
 *                          programs, has not died), or the programs of all other cards have ended
 *                          and no process that they started has one of these cards open. vic_error_detail says
 *                          which of these it was, and what the counter reads that was waited for.
 *             A handled signal or a fork ends no wait. vic_close waits for the packets of its own card, see there.
 *             Functional mode: a deadlock ends no wait. When nothing has moved for 5 s, and at SIGINT and SIGQUIT,
 *             the launcher prints which card waits for what.
 *             Timed mode: model time stands while the program of any card computes or sleeps outside of these calls,
 *             so the waits of all cards stand, too. Other threads of the waiting program do not stop it; but while
 *             one of them is outside of these calls, the end of all other programs does not end the wait: that thread
 *             may still end it.
 *   order     Packets arrive in any order, even those of one call. The data of a packet are visible before the
 *             counter that it names goes down. A word is always written as a whole.
 *   cost      What a call takes on the modelled hardware, in parameters of the card; `dvsim show data-vortex-8`
 *             prints them with their sources. Timed mode charges this cost. Functional mode takes what the machine
 *             takes.
 *   inline    Only vic_header. Inlining the other calls (a whole program with -flto) makes nothing faster between two
 *             cards, see docs/emulator-figures.md; and through the library one binary runs in every mode.
 *   mode      SRAM, counters and FIFO are reached through these calls only, so the same binary runs in every mode.
 *             Timed mode: vic_open returns when every program of the job has opened its card or has ended. A deadlock
 *             ends all waits with VIC_EPEER, and the launcher prints which card waited for what.
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
    VIC_EBUSY = -3,   /* in use already: the card, messages on it, or a team that another call is using */
    VIC_ENOSPC = -4,  /* no space in SRAM, counters, a table or the buffer of the caller */
    VIC_EPEER = -5,   /* a card of the job died, or ended and cannot do what this call waits for */
    VIC_ECLOSED = -6, /* the card, its messages or its client is closed, or the job has ended */
    VIC_ENOJOB = -7,  /* VIC_JOB names no job that this library can join, or did not reach a program of a job */
    VIC_ESYS = -8,    /* the operating system refused something, most likely memory */
    VIC_ERANGE = -9,  /* no such address, counter or card */
    VIC_EAGAIN = -10  /* vic_try_send: a full FIFO stopped a packet, and the call does not wait */
};

/* A text for a status; there is one for any number. Static, never NULL. */
VIC_API const char *vic_strerror(int status);

/* What was wrong with the last call of this thread that failed, with its numbers, in one line: "addr 70000 .. 70003
 * is not in SRAM (65536 words)". If there is no more to say, the text of its status; "" if no call has failed. Valid
 * until the thread's next call that fails. */
VIC_API const char *vic_error_detail(void);

/* The version of the library, "major.minor.patch"; VIC_VERSION is that of this header. A program runs with a library
 * of the same major version that is not older than the header it was compiled with; before 1.0 the minor version must
 * be the same, too. */
VIC_API const char *vic_version(void);

/* The value of a constant of this header or of another one of the library by its name ("VIC_EPEER"), for foreign
 * function interfaces. VIC_FOREVER comes as -1, which is the same 64 bits. VIC_EINVAL: no such constant. */
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

/* Open the card that the environment names (VIC_JOB, VIC_CARD, VIC_CARDS, which only the launcher sets). Without
 * VIC_JOB the program has one card, in loopback; but if a launcher started it and its environment was cleared since
 * (env -i, sudo), VIC_ENOJOB. SRAM, counters and FIFO are as the last owner of the card left them,
 * even if it was killed in the middle of a call; in a new job all are 0.
 * Environment: VIC_INFO=1 prints every setting in force on stderr. VIC_DEBUG=1 prints a line for every call of these
 * headers except vic_relax and the book-keeping: card, time, arguments, status, duration. VIC_CHECK=1 reports, once
 * for each counter, packets that came before the counter was preset or in excess of its preset, and packets that name
 * a counter of the barrier.
 * After execve(2) the card can be opened again. If its owner was killed, what that was doing in FIFOs and in the barrier
 * has been undone.
 * VIC_EBUSY: the card is open, here or in another process that lives. VIC_ENOJOB: the job cannot be joined, for example because
 * its launcher is gone, or the vicrun --join that brought this program was killed before; vic_open_reason says why.
 * VIC_ESYS: no memory. */
VIC_API int vic_open(vic_t **card);

/* Why the last vic_open of this thread failed, in one line; "" if it did not. Valid until its next vic_open. */
VIC_API const char *vic_open_reason(void);

/* Close the card and free what was allocated on it. Packets that the emulation still holds are delivered first, and
 * transfers that nobody waited for are completed; the same happens when a program ends without closing. Waits of
 * other threads on this card end with VIC_ECLOSED, as does every later call with this handle.
 * VIC_ETIMEDOUT, functional mode only: for 10 s an open card took nothing from its full FIFO. The packets for it are
 * lost, their number is printed on stderr, and this card is closed all the same. */
VIC_API int vic_close(vic_t *card);

/* What the card is. Later versions may add fields at the end of the struct. Compiled programs pass the size of theirs
 * by the second name, which the macro calls; fields that one side does not know are left out or 0. Foreign function
 * interfaces call the second name, too. */
VIC_API int vic_query_attr(const vic_t *card, struct vic_attr *attr);
VIC_API int vic_query_attr_sized(size_t attr_bytes, const vic_t *card, struct vic_attr *attr);
#define vic_query_attr(...) vic_query_attr_sized(sizeof(struct vic_attr), __VA_ARGS__)

/* How often card `peer` has been opened or left so far: odd while it is open, 0 before its first opening. A number
 * that has changed means that another incarnation of the program has the card now.
 * A killed program has left its card once the launcher has seen the death; if that ends the job at once (see VIC_EPEER)
 * the number stays. A program that ended with exit code 0 counts as having opened and left its card, even if it never
 * opened it; unless a process that it left behind has the card open or, in functional mode, may still open it.
 * Timed mode: the number is the one of two pio_write earlier. cost: poll_mirror. */
VIC_API int vic_peer_opens(const vic_t *card, uint32_t peer, uint64_t *opens);

/* Nanoseconds since the job began, by the same clock on all cards: wall time in functional mode, model time in timed
 * mode. 0 if the card is NULL or closed. cost: none. */
VIC_API uint64_t vic_time_ns(const vic_t *card);

/* Charge ns of model time for what the thread has computed since its last such call; without this call, computing takes
 * no model time. Functional mode: does nothing. cost: ns. */
VIC_API int vic_compute_ns(vic_t *card, uint64_t ns);

/* The body of a spin loop of the program: spins, yields or sleeps for at most 0.1 ms, less if something arrives. NULL
 * and closed cards are ignored. It notices when the launcher is gone; the next vic_counter_get, vic_fifo_poll or
 * vic_dma_test then returns VIC_ECLOSED. Deaths and other ends are reported by waits only. cost: poll_mirror. */
VIC_API void vic_relax(vic_t *card);

/* Say that the waits of this thread from here on are parts of one wait without end, which began at since_ns of
 * CLOCK_MONOTONIC; 0: they are waits of their own again. For programs that look for signals or other work between short
 * waits, as Python does: the launcher then knows what they wait for, and for how long. From a slice that has timed out until
 * the next one, or until this is called again, the thread is taken to wait. cost: none. */
VIC_API void vic_wait_slices(uint64_t since_ns);

/* ---- packets -------------------------------------------------------------------------------------- */

/* A packet is a header and a payload, one 64-bit word each. A WRITE, FIFO or QUERY packet counts its counter
 * down by one on the card where it arrives. */
enum vic_op {
    VIC_WRITE,       /* the payload becomes SRAM word addr */
    VIC_FIFO,        /* the payload enters the surprise FIFO; addr unused */
    VIC_QUERY,       /* the payload is the header of the reply, any packet but a QUERY: the card itself answers with
                      * the word at addr; its host takes no part */
    VIC_COUNTER_SET, /* the counter becomes the payload, an int64_t; addr unused */
    VIC_COUNTER_ADD  /* the payload, an int64_t, is added to the counter; addr unused */
};

#define VIC_NO_COUNTER 63u /* the scratch counter: for packets that nobody counts; its value means nothing */

/* The first bit of each part of a header: the wire format of this emulator. That of the hardware is not public, so a
 * provider for real cards has to translate it (docs/emulator-cards.md). Programs use vic_header. */
#define VIC_HEADER_COUNTER_AT 22 /* bits 0-21: addr; 22-27: counter */
#define VIC_HEADER_OP_AT 28      /* 28-31: op */
#define VIC_HEADER_DEST_AT 32    /* 32-47: dest */
#define VIC_HEADER_END_AT 48     /* 48-63: 0 */

/* The header of a packet. dest may be this card. Errors are found when the header is sent: VIC_ERANGE for a dest,
 * addr or counter that does not exist; VIC_EINVAL for an op that does not exist, or a number that is no header. cost:
 * none. */
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

/* Allocate words of SRAM: the first gap from address 0 on that is large enough, at a multiple of 8. The same sequence
 * of calls gives the same addresses on every card. This is book-keeping for the program, kept until the card is
 * closed; words that are not allocated can be used all the same. cost: none.
 * VIC_EINVAL: words is 0. VIC_ENOSPC: no such gap. */
VIC_API int vic_alloc(vic_t *card, size_t words, vic_addr_t *addr);

/* Free what vic_alloc gave. VIC_EINVAL: addr was not allocated, or was freed. */
VIC_API int vic_free(vic_t *card, vic_addr_t addr);

/* Write words to the SRAM of this card, or read them from it, by programmed I/O. n may be 0. VIC_ERANGE: addr ..
 * addr + n - 1 is not inside the SRAM. cost: vic_write n * 8 B at pio_rate, and pio_write until the words are there;
 * vic_read n * pio_read, which is slow: use vic_dma_read for more than a few words. */
VIC_API int vic_write(vic_t *card, vic_addr_t addr, const uint64_t *words, size_t n);
VIC_API int vic_read(vic_t *card, vic_addr_t addr, uint64_t *words, size_t n);

/* ---- sending -------------------------------------------------------------------------------------- */

/* Send n packets. All headers are checked before the first packet leaves. n may be 0. The arrays may be used again
 * when the call returns. The calls differ in what crosses PCIe.
 * A packet for a full FIFO waits there, and the call waits with it (see "surprise FIFO"). This wait has no timeout;
 * it ends with VIC_EPEER or VIC_ECLOSED as other waits do, and packets that have not left by then are not sent.
 * VIC_EINVAL, VIC_ERANGE: a header (see vic_header), the header of a query's reply, or the range of headers. */

/* Headers and payloads cross by programmed I/O. cost: n * 16 B at pio_rate; then the fabric. */
VIC_API int vic_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n);

/* As vic_send, but never waits. *sent is how many packets have left, the first ones, whatever the status. VIC_EAGAIN:
 * a full FIFO stopped the next packet. If nobody is left who could empty it: the status with which vic_send would
 * end. Timed mode: packets leave into the queue of the card (send_words); the call notices a full FIFO when that
 * queue is full. cost: as vic_send for those that left; poll_mirror if one was stopped. */
VIC_API int vic_try_send(vic_t *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent);

/* The headers are in SRAM already, from word `headers` on. cost: n * 8 B at pio_rate. */
VIC_API int vic_send_cached(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n);

/* The headers are in SRAM already; a DMA engine fetches the payloads, which must stay until the transfer is done.
 * Done means that all payloads have been fetched; packets may still be on their way. Never waits for a FIFO.
 * VIC_ENOSPC: dma_entries transfers are open, that is, nobody has waited for them. cost: pio_write, dma_setup, n * 8
 * B at pcie_rate, pio_write; the program goes on after 16 B at pio_rate. */
VIC_API int vic_dma_send(vic_t *card, vic_addr_t headers, const uint64_t *payloads, size_t n, vic_dma_t **dma);

/* Write n consecutive words to SRAM words addr .. addr + n - 1 of card dest; each counts `counter` there down. Takes
 * the path that is best for n. cost: that of the cheapest path. */
VIC_API int vic_put(vic_t *card, uint32_t dest, vic_addr_t addr, const uint64_t *words, size_t n, unsigned counter);

/* Write word i to SRAM word addr + i * stride, or addrs[i], of card dest; each counts `counter` there down. The
 * stride may be 0. cost: as vic_send. */
VIC_API int vic_put_strided(vic_t *card, uint32_t dest, vic_addr_t addr, size_t stride, const uint64_t *words,
                            size_t n, unsigned counter);
VIC_API int vic_put_indexed(vic_t *card, uint32_t dest, const vic_addr_t *addrs, const uint64_t *words, size_t n,
                            unsigned counter);

/* Copy n words from SRAM word addr .. of card dest to word local .. of this card. Each word that arrives counts
 * `counter` of this card down: preset it before. The host of dest takes no part, and the call does not wait for the
 * words. They are asked for by query packets, which name the scratch counter there. cost: as vic_send of n packets;
 * the words arrive a fabric latency, there and back, later. */
VIC_API int vic_get(vic_t *card, uint32_t dest, vic_addr_t addr, size_t n, vic_addr_t local, unsigned counter);

/* Copy n words of this card's SRAM to host memory. The memory must not be touched until the transfer is done, or
 * until a call has returned VIC_ECLOSED, after which nothing is written there any more. No death and no deadlock ends
 * a wait for this transfer. VIC_ENOSPC as above. cost: as vic_dma_send. */
VIC_API int vic_dma_read(vic_t *card, uint64_t *host, vic_addr_t addr, size_t n, vic_dma_t **dma);

/* *done is 1 if the transfer is done, else 0; the handle stays valid. VIC_EINVAL: no transfer, or one that was waited
 * for. VIC_ECLOSED also: the transfer is not done, and a vic_relax has noticed that the launcher is gone. cost:
 * poll_mirror. */
VIC_API int vic_dma_test(vic_t *card, vic_dma_t *dma, int *done);

/* Wait until the transfer is done, free the handle and set it to NULL. VIC_EINVAL as above. */
VIC_API int vic_dma_wait(vic_t *card, vic_dma_t **dma, uint64_t timeout_ns);

/* ---- group counters ------------------------------------------------------------------------------- */

/* A card with n = attr.counters counters has the numbers 0 .. n - 4, 61, 62 and 63. 61 and 62 belong to vic_barrier:
 * a program that counts on them breaks it, which VIC_CHECK=1 reports. 63 is the scratch counter. A counter is a
 * signed 64-bit number; it may go below 0, which nothing reports. */

/* Allocate the lowest free counter, never 61 to 63. The same sequence of calls gives the same counters on every card.
 * Book-keeping only, as with vic_alloc. VIC_ENOSPC: all are allocated. cost: none. */
VIC_API int vic_counter_alloc(vic_t *card, unsigned *counter);

/* VIC_EINVAL: not allocated. VIC_ERANGE: no such counter. */
VIC_API int vic_counter_free(vic_t *card, unsigned counter);

/* Preset a counter. This overwrites what earlier packets counted: preset first, tell the senders (a barrier does),
 * then let them send. cost: 8 B at pio_rate, and pio_write until the card has it; this card reads it at once. */
VIC_API int vic_counter_set(vic_t *card, unsigned counter, int64_t n);

/* Its present value, from the mirror in host memory. VIC_ECLOSED also: the value is not 0, and a vic_relax has
 * noticed that the launcher is gone; *n is the value all the same. This call does not report deaths, so a loop of
 * vic_counter_get and vic_relax does not end if the card that should count is dead. To poll in a loop, call
 * vic_counter_wait with timeout 0. cost: poll_mirror. */
VIC_API int vic_counter_get(vic_t *card, unsigned counter, int64_t *n);

/* Wait until it reads 0. What its packets wrote is visible then. VIC_EINVAL: the scratch counter. cost: poll_mirror
 * per look. */
VIC_API int vic_counter_wait(vic_t *card, unsigned counter, uint64_t timeout_ns);

/* ---- surprise FIFO -------------------------------------------------------------------------------- */

/* The FIFO holds words that no counter was preset for, in the order of their arrival, at most fifo_words. A full FIFO
 * pushes back into the fabric: senders wait and nothing is lost, unless the launcher's --fault fifo-drop=P drops and
 * counts words. A card that sends itself more than its FIFO holds and does not take words meanwhile waits for ever;
 * so do two cards that do this to each other. */

/* Take what is there, at most max words. *n may be 0. VIC_ECLOSED also: nothing is there, and a vic_relax has noticed
 * that the launcher is gone. cost: poll_mirror, and fifo_pop per word. */
VIC_API int vic_fifo_poll(vic_t *card, uint64_t *words, size_t max, size_t *n);

/* Wait until min words are there, then take at most max. At VIC_ETIMEDOUT nothing is taken and *n = 0.
 * VIC_EINVAL: min > max, or min > fifo_words. cost: as vic_fifo_poll. */
VIC_API int vic_fifo_wait(vic_t *card, uint64_t *words, size_t min, size_t max, size_t *n, uint64_t timeout_ns);

/* ---- any of them ----------------------------------------------------------------------------------- */

#define VIC_READY_FIFO 63u /* the bit of *ready that stands for the FIFO */

/* Wait until any of several things is there: a counter of `counters` (bit n stands for counter n) reads 0, or, if
 * fifo_min > 0, the FIFO holds at least that many words. *ready has the bits of the counters that read 0, and the bit
 * VIC_READY_FIFO if the FIFO holds enough: all that one look has seen. Nothing is taken and no counter changes. What
 * the packets of those counters wrote is visible then. *ready is 0 after VIC_ETIMEDOUT.
 * VIC_EINVAL: nothing is asked for, the scratch counter, or fifo_min > fifo_words. VIC_ERANGE: `counters` has one
 * that does not exist. cost: poll_mirror per look, for any number of counters. */
VIC_API int vic_wait(vic_t *card, uint64_t counters, size_t fifo_min, uint64_t *ready, uint64_t timeout_ns);

/* A descriptor for poll, epoll and event loops. It becomes readable when something may be there that vic_wait would
 * wait for. It works by edges: read 8 bytes from it, call vic_wait with timeout 0 until that returns VIC_ETIMEDOUT,
 * then poll again. A wake-up that finds nothing is normal. When waits end (VIC_EPEER, VIC_ECLOSED) it becomes
 * readable, too, and again at least every 100 ms. Each call makes a new descriptor (O_NONBLOCK, FD_CLOEXEC).
 * vic_event_fd_close gives it back; vic_close closes those that are left, after making them readable once more. A
 * program that closes one itself harms no other file that gets its number. The first one starts a thread that sleeps
 * until a packet comes. In a child made by fork() nothing writes to it.
 *
 *     vic_event_fd(card, 1 << 5, 0, &fd);                  // counter 5 was preset
 *     struct pollfd look[2] = {{fd, POLLIN, 0}, {socket, POLLIN, 0}};
 *     while (poll(look, 2, -1) > 0) {
 *         if (look[0].revents != 0) {
 *             read(fd, &count, 8);
 *             while (vic_wait(card, 1 << 5, 0, &ready, 0) == VIC_OK) {
 *                 ...                                      // use what came, preset counter 5 again, tell its sender
 *             }
 *         }
 *         if (look[1].revents != 0) ...
 *     }
 *
 * VIC_EINVAL, VIC_ERANGE: as vic_wait; VIC_EINVAL also in timed mode, where model time stands while a program waits
 * outside of these calls. VIC_ESYS: no descriptor or no thread can be had. cost: none. */
VIC_API int vic_event_fd(vic_t *card, uint64_t counters, size_t fifo_min, int *fd);

/* Close such a descriptor. VIC_EINVAL: it is none, or was closed already; and in timed mode. cost: none. */
VIC_API int vic_event_fd_close(vic_t *card, int fd);

/* ---- barrier -------------------------------------------------------------------------------------- */

/* Wait until every card of the job has called the barrier. It does not wait for packets: one that was sent before may
 * arrive after it. After VIC_ETIMEDOUT this card has not taken part; the same holds for a program that ends inside of
 * it. Threads of one card that call at the same time take turns. VIC_EPEER also: the program of a card has ended, so
 * this barrier can never be complete. cost: ceil(log2(cards)) rounds, in each 16 B at pio_rate, two pio_write and the
 * fabric; poll_mirror per look. */
VIC_API int vic_barrier(vic_t *card, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
