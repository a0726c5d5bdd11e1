/* debug.h: VIC_DEBUG=1: a line on stderr for a call of a program, when the call has ended: its card, when it began, its
 * arguments, its status, how long it took. watch.h does so for calls of vic.h that reach a card; LOGGED does it for the others:
 * vic_close and the calls of vic_message.h, vic_client.h and vic_collective.h.
 *
 * A call that the library makes for such a call stands behind its name: "vic_message_flush > vic_counter_wait(...)".
 */
#ifndef VIC_DEBUG_H
#define VIC_DEBUG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "fail.h"
#include "vic.h"

/* Whether VIC_DEBUG was in the environment when this process last opened a card. */
extern _Atomic bool debug_on;

struct debug_call {
    const char *name;
    const struct debug_call *outer;
    const vic_t *card;
    bool known;        /* the card was open when the call began: this, */
    uint32_t number;   /* its number, */
    uint64_t began_ns; /* its time */
    char given[160];   /* the arguments as text */
};

/* Before a call. `names` are those of its arguments, with blanks between them; a name that begins with ' is that of a
 * text, the value its address. debug_begin: what is called until debug_end is called for this one. */
void debug_capture(struct debug_call *call, const char *name, const vic_t *card, const char *names,
                const int64_t *values) FAIL_COLD;
void debug_begin(struct debug_call *call, const char *name, const vic_t *card, const char *names,
                 const int64_t *values) FAIL_COLD;

/* After it: write the line. The names and values are those of results, if it has any. */
void debug_log(const struct debug_call *call, int status, const char *names, const int64_t *values) FAIL_COLD;
void debug_end(const struct debug_call *call, int status, const char *names, const int64_t *values) FAIL_COLD;

/* Log a call of vic.h that was refused for its arguments; vic_error_detail has the reason. */
void debug_refused(const vic_t *card) FAIL_COLD;

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})
#define TEXT(text) ((int64_t)(intptr_t)(text))

/* A field of a struct that a program gave, with its size; 0 if the struct is too short for the field. */
#define FIELD(given, bytes, field)                                                                          \
    ((given) != NULL && offsetof(__typeof__(*(given)), field) + sizeof(given)->field <= (bytes)                \
         ? (int64_t)(given)->field                                                                              \
         : 0)

/* Define the call `name`: it calls the function name_call, which stands before it, keeps the detail of what failed in
 * that (fail.h), and logs it. of_card is the card of its handle, or NULL; `results` and `got` are the names and values of
 * what the call gave if it returns VIC_OK. The function that logs is one of its own, so that a call that is not logged
 * saves no registers for it. */
#define LOGGED(name, parameters, arguments, of_card, names, values, results, got)                           \
    LOGGED_AS(name, #name, name##_call, parameters, arguments, of_card, names, values, results, got)

#define LOGGED_AS(name, title, call, parameters, arguments, of_card, names, values, results, got)           \
    static inline int name##_kept parameters                                                                \
    {                                                                                                       \
        struct fail_state outer_ = fail_enter();                                                            \
        return fail_leave(outer_, call arguments);                                                          \
    }                                                                                                       \
    FAIL_COLD static int name##_logged parameters                                                           \
    {                                                                                                       \
        struct debug_call log_;                                                                             \
        debug_begin(&log_, title, of_card, names, values);                                                  \
        int status_ = name##_kept arguments;                                                                \
        debug_end(&log_, status_, status_ == VIC_OK ? (results) : "", status_ == VIC_OK ? (got) : NULL);    \
        return status_;                                                                                     \
    }                                                                                                       \
    int(name) parameters                                                                                    \
    {                                                                                                       \
        bool logs_ = atomic_load_explicit(&debug_on, memory_order_relaxed);                                 \
        return __builtin_expect(logs_, 0) ? name##_logged arguments : name##_kept arguments;                \
    }

#endif
