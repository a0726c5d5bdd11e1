/* "%016x-%016x": the message id that consumers drop duplicates by. */
#include "message.h"

enum { DIGITS = 16 };

static void write_one(char *text, uint64_t number)
{
    for (int i = DIGITS - 1; i >= 0; i--, number >>= 4) {
        text[i] = "0123456789abcdef"[number & 15];
    }
}

static bool read_one(const char *text, uint64_t *number)
{
    *number = 0;
    for (int i = 0; i < DIGITS; i++) {
        char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
        *number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

void id_write(char *text, uint64_t session, uint64_t id)
{
    write_one(text, session);
    text[DIGITS] = '-';
    write_one(text + DIGITS + 1, id);
}

bool id_read(const void *text, size_t bytes, uint64_t *session, uint64_t *id)
{
    const char *at = text;
    return bytes == ID_BYTES && at[DIGITS] == '-' && read_one(at, session) && read_one(at + DIGITS + 1, id);
}
