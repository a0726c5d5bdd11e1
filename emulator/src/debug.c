/* VIC_DEBUG: a line for every call. */
#include "debug.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "handle.h"

_Atomic bool debug_on;

static _Thread_local const struct debug_call *innermost;

static bool is_open(const vic_t *card)
{
    return card != NULL && !handle_closed(card);
}

/* As much of a text as there is room for, in quotation marks; what is no printable character is a '?'. */
static void quote(char *to, size_t size, const char *text)
{
    size_t n = 0;
    to[n++] = '"';
    for (; text[n - 1] != 0 && n + sizeof "…" < size; n++) {
        to[n] = text[n - 1] >= ' ' && text[n - 1] <= '~' ? text[n - 1] : '?';
    }
    snprintf(to + n, size - n, "%s", text[n - 1] != 0 ? "…" : "\"");
}

/* "dest=1, key="a", n=5" */
static void list(char *to, size_t size, const char *names, const int64_t *values)
{
    size_t used = 0;
    to[0] = 0;
    for (size_t length; *names != 0 && used < size; names += length + (names[length] == ' '), values++) {
        char text[64];
        bool quoted = *names == '\'';
        length = strcspn(names, " ");
        if (quoted && *values != 0) {
            quote(text, sizeof text, (const char *)(intptr_t)*values);
        } else {
            snprintf(text, sizeof text, quoted ? "NULL" : "%" PRId64, *values);
        }
        int more = snprintf(to + used, size - used, "%s%.*s=%s", used != 0 ? ", " : "", (int)length - quoted,
                            names + quoted, text);
        used += (size_t)more;
    }
}

void debug_capture(struct debug_call *call, const char *name, const vic_t *card, const char *names, const int64_t *values)
{
    call_of(card);
    bool known = is_open(card);
    *call = (struct debug_call){.name = name, .outer = innermost, .card = card, .known = known};
    list(call->given, sizeof call->given, names, values);
    if (known) {
        call->number = card->number;
        call->began_ns = card->ops->time_ns(card);
    }
}

void debug_begin(struct debug_call *call, const char *name, const vic_t *card, const char *names, const int64_t *values)
{
    debug_capture(call, name, card, names, values);
    innermost = call;
}

/* The length of a name as programs write it: the macro without "_sized" calls the function with it. */
static int name_length(const char *name)
{
    size_t length = strlen(name), end = sizeof "_sized" - 1;
    return (int)(length > end && strcmp(name + length - end, "_sized") == 0 ? length - end : length);
}

/* "vic: card 1: 12.500 us: vic_message_flush > ": at last the calls that this one is made for. */
static void begin_line(char *to, size_t size, bool known, uint32_t number, uint64_t at_ns, const struct debug_call *outer)
{
    int used = known ? snprintf(to, size, "vic: card %" PRIu32 ": %.3f us: ", number, (double)at_ns / 1e3)
                     : snprintf(to, size, "vic: ");
    const struct debug_call *calls[8];
    size_t depth = 0;
    for (; outer != NULL && depth < sizeof calls / sizeof *calls; outer = outer->outer) {
        calls[depth++] = outer;
    }
    while (depth > 0 && (size_t)used < size) {
        const char *name = calls[--depth]->name;
        used += snprintf(to + used, size - (size_t)used, "%.*s > ", name_length(name), name);
    }
}

/* At once, and not by fprintf, whose own buffer of 8 KiB is more than small stacks have left. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[1100];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    int before = cancel_off();
    fwrite(line, 1, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1, stderr);
    cancel_back(before);
}

void debug_log(const struct debug_call *call, int status, const char *names, const int64_t *values)
{
    char begin[240], got[200], with[210] = "", took[40] = "";
    call_of(call->card);
    bool known = is_open(call->card); /* the time of one that is closed has ended */
    uint64_t now = known ? call->card->ops->time_ns(call->card) : 0;
    begin_line(begin, sizeof begin, known || call->known, call->known ? call->number : known ? call->card->number : 0,
               call->known ? call->began_ns : now, call->outer);
    if (*names != 0) {
        list(got, sizeof got, names, values);
        snprintf(with, sizeof with, " with %s", got);
    }
    if (known && call->known) {
        snprintf(took, sizeof took, ", %.3f us", (double)(now - call->began_ns) / 1e3);
    }
    say("%s%.*s(%s) = %s%s%s%s\n", begin, name_length(call->name), call->name, call->given,
        status == VIC_OK ? "VIC_OK" : "failed: ", status == VIC_OK ? "" : vic_error_detail(), with, took);
}

void debug_end(const struct debug_call *call, int status, const char *names, const int64_t *values)
{
    innermost = call->outer;
    debug_log(call, status, names, values);
}

void debug_refused(const vic_t *card)
{
    char begin[240];
    begin_line(begin, sizeof begin, true, card->number, card->ops->time_ns(card), innermost);
    say("%srefused: %s\n", begin, vic_error_detail());
}
