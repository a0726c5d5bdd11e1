/* The card of this process: what goes to others, chunk by chunk, and what comes from them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "../fi.h"

enum {
    SPINS = 256,            /* looks in a row that find nothing, before the processor is given away */
    LOOKS = 8,              /* the same in timed mode, before looks are parts of a wait */
    WAIT_MOST_NS = 2000,
    FLUSH_NS = 1000000000,
    MESSAGES = 64           /* taken in one look */
};

struct port port = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t port_ms(void)
{
    return vic_time_ns(port.card) / 1000000;
}

static int join_failed(int status, const char *what)
{
    fprintf(stderr, "vic provider: %s: %s\n", what, status == VIC_ENOJOB ? vic_open_reason() : vic_error_detail());
    if (port.messages != NULL) {
        vic_message_close(port.messages);
    }
    if (port.card != NULL) {
        vic_close(port.card);
    }
    free(port.first);
    free(port.last);
    free(port.stream);
    port.messages = NULL;
    port.card = NULL;
    port.first = port.last = NULL;
    port.stream = NULL;
    return status == VIC_EBUSY ? -FI_EBUSY : status == VIC_ESYS ? -FI_ENOMEM : -FI_ENODEV;
}

/* What the program measures, where libvic-threads.so is before it: in timed mode. */
static void set_clock(uint64_t (*clock)(void))
{
    uint64_t (**at)(void);
    void *found = dlsym(RTLD_DEFAULT, "vic_program_clock");
    memcpy(&at, &found, sizeof at);
    if (at != NULL) {
        *at = clock;
    }
}

static uint64_t last_ns; /* after the card was closed time stands */

static uint64_t model_ns(void)
{
    uint64_t now = port.card != NULL ? vic_time_ns(port.card) : 0;
    last_ns = now > last_ns ? now : last_ns;
    return last_ns;
}

int port_join(void)
{
    struct vic_message_config config = {.max_bytes = sizeof port.in, .flags = VIC_MESSAGE_ORDERED};
    if (port.domains > 0) {
        port.domains++;
        return 0;
    }
    int status = vic_open(&port.card);
    if (status != VIC_OK) {
        port.card = NULL;
        return join_failed(status, "no card");
    }
    status = vic_query_attr(port.card, &port.attr);
    status = status == VIC_OK ? vic_message_open(port.card, &config, &port.messages) : status;
    if (status != VIC_OK) {
        port.messages = NULL;
        return join_failed(status, "no messages");
    }
    port.first = calloc(port.attr.cards, sizeof *port.first);
    port.last = calloc(port.attr.cards, sizeof *port.last);
    port.stream = calloc(port.attr.cards, sizeof *port.stream);
    if (port.first == NULL || port.last == NULL || port.stream == NULL) {
        return join_failed(VIC_ESYS, "no memory");
    }
    port.domains = 1;
    port.ended = 0;
    port.alone = false;
    if (port.attr.mode != 0) {
        set_clock(model_ns);
    }
    return 0;
}

void port_leave(void)
{
    if (--port.domains > 0) {
        return;
    }
    model_ns();
    vic_message_flush(port.messages, FLUSH_NS);
    vic_message_close(port.messages);
    vic_close(port.card);
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        free(port.stream[card].own);
    }
    free(port.first);
    free(port.last);
    free(port.stream);
    free(port.slot);
    port.first = port.last = port.slot = NULL;
    port.stream = NULL;
    port.messages = NULL;
    port.card = NULL;
    port.slots = port.next_slot = 0;
    port.queued = 0;
}

/* ---- transfers that wait for answers, by number */

uint32_t port_slot(struct transfer *transfer)
{
    for (uint32_t i = 0; i < port.slots; i++) {
        uint32_t slot = (port.next_slot + i) % port.slots;
        if (port.slot[slot] == NULL) {
            port.slot[slot] = transfer;
            port.next_slot = slot + 1;
            return slot;
        }
    }
    uint32_t had = port.slots, room = had == 0 ? 64 : 2 * had;
    struct transfer **slots = realloc(port.slot, room * sizeof(struct transfer *));
    if (slots == NULL) {
        return UINT32_MAX;
    }
    memset(slots + had, 0, (room - had) * sizeof(struct transfer *));
    port.slot = slots;
    port.slots = room;
    slots[had] = transfer;
    port.next_slot = had + 1;
    return had;
}

void port_done(struct transfer *t, int error)
{
    if (t->answered && t->head.slot < port.slots) {
        port.slot[t->head.slot] = NULL;
    }
    if (error != 0 && t->ep != NULL) {
        struct fi_cq_err_entry entry = {.op_context = t->context, .flags = t->flags, .tag = t->head.tag, .err = error};
        queue_fail(t->ep->sends, &entry);
        if (t->counter != NULL) {
            t->counter->errors++;
        }
    } else if (t->ep != NULL) {
        struct fi_cq_tagged_entry entry = {.op_context = t->context, .flags = t->flags};
        if (t->completes) {
            queue_add(t->ep->sends, &entry, FI_ADDR_NOTAVAIL);
        }
        counter_add(t->counter);
    }
    free(t->own);
    free(t);
}

/* ---- sending: a queue for each card, of which the first moves whenever there is room */

/* VIC_OK: it has left; VIC_ETIMEDOUT: there is no room. */
static int push(struct transfer *t)
{
    size_t all = t->head.kind == READ ? 0 : t->head.bytes;
    for (;;) {
        size_t some = all - t->sent < CHUNK ? all - t->sent : CHUNK, head = sizeof t->head;
        memcpy(port.out, &t->head, sizeof t->head);
        if (t->sent > 0) {
            head = 8;
            memset(port.out, 0, head);
            port.out[0] = MORE;
        }
        if (some > 0) {
            memcpy(port.out + head, t->bytes + t->sent, some);
        }
        int status = vic_message_send(port.messages, t->card, port.out, head + some, 0);
        if (status != VIC_OK) {
            return status;
        }
        t->sent += some;
        if (t->sent == all) {
            return VIC_OK;
        }
    }
}

static void push_all(uint32_t card)
{
    struct transfer *t;
    while ((t = port.first[card]) != NULL) {
        int status = port.ended != 0 ? VIC_EPEER : push(t);
        bool own = card == port.attr.card; /* then the end of others is none of this card */
        if (status == VIC_ETIMEDOUT || (own && status == VIC_ECLOSED)) {
            return;
        }
        port.first[card] = t->next;
        port.queued--;
        if (status != VIC_OK || !t->answered) {
            port_done(t, status == VIC_OK ? 0 : FI_ECONNABORTED);
        }
    }
}

void port_send(struct transfer *t)
{
    t->next = NULL;
    if (port.first[t->card] == NULL) {
        port.first[t->card] = t;
    } else {
        port.last[t->card]->next = t;
    }
    port.last[t->card] = t;
    port.queued++;
    push_all(t->card);
}

void port_drop(struct endpoint *ep)
{
    uint64_t end_ms = port_ms() + 1000;
    while (port.queued > 0 && port.ended == 0 && port_ms() < end_ms) {
        port_progress();
    }
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        for (struct transfer **at = &port.first[card], *t; (t = *at) != NULL;) {
            if (t->ep != ep) {
                at = &t->next;
                continue;
            }
            *at = t->next;
            port.queued--;
            t->ep = NULL;
            port_done(t, 0);
        }
        for (struct transfer *t = port.first[card]; t != NULL; t = t->next) {
            port.last[card] = t;
        }
        struct stream *stream = &port.stream[card];
        if (stream->ep == ep && stream->head.kind > PLAIN) {
            free(stream->own);
            *stream = (struct stream){0};
        }
    }
    for (uint32_t i = 0; i < port.slots; i++) {
        if (port.slot[i] != NULL && port.slot[i]->ep == ep) {
            port.slot[i]->ep = NULL;
            port_done(port.slot[i], 0);
        }
    }
}

/* ---- receiving */

static void take_chunk(struct stream *stream, const uint8_t *bytes, size_t n)
{
    size_t room = stream->got < stream->kept ? stream->kept - stream->got : 0;
    if (room > 0 && n > 0) {
        memcpy(stream->to + stream->got, bytes, n < room ? n : room);
    }
    stream->got += n;
}

static void arrived(uint32_t card, const uint8_t *packet, size_t n)
{
    struct stream *stream = &port.stream[card];
    bool message;
    if (n >= 8 && packet[0] == MORE) {
        packet += 8;
        n -= 8;
        message = stream->head.kind == TAGGED || stream->head.kind == PLAIN;
    } else {
        struct head head;
        if (n < sizeof head) {
            return;
        }
        memcpy(&head, packet, sizeof head);
        packet += sizeof head;
        n -= sizeof head;
        *stream = (struct stream){.head = head};
        if (head.kind >= KINDS || head.to >= ENDPOINTS || port.endpoint[head.to] == NULL) {
            return; /* closed */
        }
        stream->ep = port.endpoint[head.to];
        message = head.kind == TAGGED || head.kind == PLAIN;
        if (message) {
            match_begin(stream, card);
        } else {
            rma_begin(stream, card);
        }
    }
    if (stream->ep == NULL) {
        return;
    }
    take_chunk(stream, packet, n);
    if (stream->got < stream->head.bytes && stream->head.kind != READ) {
        return;
    }
    if (message) {
        match_end(stream, card);
    } else {
        rma_end(stream, card);
    }
    stream->ep = NULL;
}

/* A card has died: nothing comes any more. */
static void end_all(void)
{
    port.ended = FI_ECONNABORTED;
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        push_all(card);
    }
    for (uint32_t i = 0; i < port.slots; i++) {
        if (port.slot[i] != NULL) {
            port_done(port.slot[i], port.ended);
        }
    }
    for (uint32_t i = 0; i < ENDPOINTS; i++) {
        if (port.endpoint[i] != NULL) {
            match_drop(port.endpoint[i], port.ended);
        }
    }
}

/* All other cards have ended, and what they sent has been taken: what needs them fails. Nothing else does, as a program that
 * still looks, on its way to its own end, has lost nothing. */
static void end_of_others(void)
{
    for (uint32_t card = 0; card < port.attr.cards; card++) {
        for (struct transfer *t = port.first[card]; card != port.attr.card && t != NULL; t = port.first[card]) {
            port.first[card] = t->next;
            port.queued--;
            port_done(t, FI_ECONNABORTED);
        }
    }
    for (uint32_t i = 0; i < port.slots; i++) {
        if (port.slot[i] != NULL && port.slot[i]->card != port.attr.card) {
            port_done(port.slot[i], FI_ECONNABORTED);
        }
    }
    for (uint32_t i = 0; i < ENDPOINTS; i++) {
        if (port.endpoint[i] != NULL) {
            match_alone(port.endpoint[i]);
        }
    }
}

int port_over(void)
{
    return port.alone && port.idle > 0 ? FI_ECONNABORTED : port.ended;
}

/* A row of looks in model time is a wait for what they would see; in functional mode other programs need the processor. */
static uint64_t patience_ns(void)
{
    unsigned idle = port.idle++;
    if (port.attr.mode == 0) {
        if (idle >= SPINS) {
            vic_relax(port.card);
        }
        return 0;
    }
    uint64_t ns = idle < LOOKS ? 0 : UINT64_C(50) << (idle - LOOKS < 6 ? idle - LOOKS : 6);
    return ns < WAIT_MOST_NS ? ns : WAIT_MOST_NS;
}

bool port_progress(void)
{
    bool any = false;
    if (port.domains == 0 || port.ended != 0) {
        return false;
    }
    for (uint32_t card = 0; port.queued > 0 && card < port.attr.cards; card++) {
        push_all(card);
    }
    uint64_t timeout_ns = port.queued == 0 && port.idle > 0 ? patience_ns() : 0;
    for (int i = 0; i < MESSAGES; i++) {
        uint32_t card;
        size_t n;
        int status = vic_message_recv(port.messages, &card, port.in, sizeof port.in, &n, timeout_ns);
        if (status == VIC_EPEER) {
            end_all();
            return true;
        }
        port.alone |= status == VIC_ECLOSED;
        if (status != VIC_OK) {
            break;
        }
        timeout_ns = 0;
        port.idle = 0;
        any = true;
        arrived(card, port.in, n);
    }
    port.idle += !any && port.idle == 0;
    if (port.alone && !any) {
        end_of_others();
    }
    return any;
}
