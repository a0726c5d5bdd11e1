/* Command lines: options by a table. */
#include "command.h"

#include <stdio.h>
#include <string.h>

enum { MOST_OPTIONS = 64 };

static const char *const everywhere[] = {"--version", "--help"};

int command_refuse(const struct command *command, const char *name, const char *value, const char *what)
{
    fprintf(stderr, "%s: %s: %s%s%s%s\n", command->program, name, value != NULL ? "'" : "", value != NULL ? value : "",
            value != NULL ? "' " : "", what);
    return 2;
}

static int unknown(const struct command *command, const char *text)
{
    const char *names[MOST_OPTIONS + 2];
    size_t count = 0;
    for (; count < command->options && count < MOST_OPTIONS; count++) {
        names[count] = command->option[count].name;
    }
    names[count++] = everywhere[0];
    names[count++] = everywhere[1];
    const char *hint = text[0] == '-' && text[1] == '-' ? did_you_mean(text, names, count) : "";
    fprintf(stderr, "%s: no such option '%s'", command->program, text);
    if (*hint != 0) {
        fprintf(stderr, "%s\n", hint);
    } else {
        fprintf(stderr, "; %s --help lists them\n", command->program);
    }
    return 2;
}

/* 512, 64KiB, 4MB. */
static bool read_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1},     {"B", 1},    {"KiB", 1024},       {"MiB", 1048576},
                                        {"kB", 1e3}, {"MB", 1e6}, {"GiB", 1073741824}, {"GB", 1e9}};
    return read_whole(text, 0, INT64_MAX, bytes) || read_unit(text, units, sizeof units / sizeof *units, bytes);
}

bool read_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"", 1e9}};
    return read_time_ns(text, ns) || read_unit(text, units, 1, ns);
}

static int read_number(const struct command *command, const struct command_option *option, const char *value,
                       uint64_t *number)
{
    char what[128];
    bool good;
    if (option->kind == OPTION_BYTES) {
        good = read_bytes(value, number);
        snprintf(what, sizeof what, "is not a number of bytes (65536, 64KiB), %llu .. %llu",
                 (unsigned long long)option->least, (unsigned long long)option->most);
    } else if (option->kind == OPTION_TIME) {
        good = read_time(value, number);
        snprintf(what, sizeof what, "is not a time (2.5, 10s, 5.001ms), %g s at least", (double)option->least / 1e9);
    } else {
        good = read_whole(value, option->least, option->most, number);
        snprintf(what, sizeof what, "is not a whole number, %llu .. %llu", (unsigned long long)option->least,
                 (unsigned long long)option->most);
    }
    good = good && *number >= option->least && *number <= option->most;
    return good ? -1 : command_refuse(command, option->name, value, what);
}

static int read_text(const struct command *command, const struct command_option *option, const char *value, const char **text)
{
    char what[64];
    if (option->most != 0 && strlen(value) > option->most) {
        snprintf(what, sizeof what, "is not at most %llu bytes long", (unsigned long long)option->most);
        return command_refuse(command, option->name, value, what);
    }
    *text = value;
    return -1;
}

static int take(const struct command *command, const struct command_option *option, const char *value, void *options)
{
    unsigned char *at = (unsigned char *)options + option->at;
    uint64_t number = 0;
    int code = -1;
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)at = true; break;
    case OPTION_NO_FLAG: *(bool *)at = false; break;
    case OPTION_FLAG32: *(uint32_t *)at = 1; break;
    case OPTION_TEXT: return read_text(command, option, value, (const char **)at);
    case OPTION_READ:
    case OPTION_EITHER: return option->read(option->name, value, options);
    case OPTION_COUNT32:
        code = read_number(command, option, value, &number);
        *(uint32_t *)at = code == -1 ? (uint32_t)number : *(uint32_t *)at;
        break;
    case OPTION_COUNT:
    case OPTION_BYTES:
    case OPTION_TIME:
        code = read_number(command, option, value, &number);
        *(uint64_t *)at = code == -1 ? number : *(uint64_t *)at;
        break;
    }
    return code;
}

/* The option that a text is: the whole of it, what is before '=', or one letter with its value behind it. *value: that
 * value, or NULL. */
static const struct command_option *find(const struct command *command, const char *text, const char **value)
{
    size_t bytes = text[0] == '-' && text[1] != '-' && text[1] != 0 ? 2 : strcspn(text, "=");
    *value = text[bytes] == 0 ? NULL : text + bytes + (bytes > 2);
    for (size_t i = 0; i < command->options; i++) {
        const struct command_option *option = &command->option[i];
        if (strlen(option->name) == bytes && strncmp(option->name, text, bytes) == 0) {
            return option;
        }
    }
    return NULL;
}

int command_read(const struct command *command, char **argv, int *at, void *options, const struct command_option **used)
{
    const char *text = argv[(*at)++], *value;
    if (strcmp(text, everywhere[0]) == 0) {
        printf("%s %s\n", command->program, command->version);
        return 0;
    }
    if (strcmp(text, everywhere[1]) == 0 || strcmp(text, "-h") == 0) {
        fputs(command->help, stdout);
        return 0;
    }
    const struct command_option *option = find(command, text, &value);
    if (option == NULL) {
        return unknown(command, text);
    }
    bool alone = option->kind <= OPTION_FLAG32;
    if (alone && value != NULL) {
        return command_refuse(command, option->name, value, "is too much: it has no value");
    }
    if (!alone && value == NULL && option->kind != OPTION_EITHER) {
        if (argv[*at] == NULL) {
            return command_refuse(command, option->name, NULL, "needs a value");
        }
        value = argv[(*at)++];
    }
    if (used != NULL) {
        *used = option;
    }
    return take(command, option, value, options);
}
