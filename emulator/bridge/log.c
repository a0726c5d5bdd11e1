/* Lines on stderr: "vicbridge[3]: warning: ...". Nothing secret is ever given to these. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "bridge.h"

static char name[32] = "vicbridge";

void log_card(uint32_t card)
{
    snprintf(name, sizeof name, "vicbridge[%u]", card);
}

static void line(const char *level, const char *format, va_list arguments)
{
    char text[1024];
    int head = snprintf(text, sizeof text, "%s: %s: ", name, level);
    int rest = vsnprintf(text + head, sizeof text - (size_t)head - 1, format, arguments);
    size_t most = sizeof text - 2, bytes = (size_t)(head + rest);
    bytes = bytes < most ? bytes : most;
    for (size_t i = 0; i < bytes; i++) {
        if ((unsigned char)text[i] < ' ') {
            text[i] = '?'; /* a text of a peer stays on one line */
        }
    }
    text[bytes] = '\n';
    if (write(STDERR_FILENO, text, bytes + 1) < 0) {
        return; /* there is no reader */
    }
}

#define LEVEL(function, level)                                                                                 \
    void function(const char *format, ...)                                                                     \
    {                                                                                                          \
        va_list arguments;                                                                                     \
        va_start(arguments, format);                                                                           \
        line(level, format, arguments);                                                                        \
        va_end(arguments);                                                                                     \
    }

LEVEL(log_error, "error")
LEVEL(log_warning, "warning")
LEVEL(log_info, "info")
