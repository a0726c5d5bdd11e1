/* The programs of a job: -n 2 ./a x : -n 3 ./b y : ./c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static int refuse(const char *what, const char *text, const char *why)
{
    fprintf(stderr, "vicrun: %s: '%s' %s\n", what, text, why);
    return 2;
}

int cards_read(const char *text, uint32_t *cards)
{
    uint64_t value;
    if (!read_whole(text, 1, MOST_CARDS, &value)) {
        fprintf(stderr, "vicrun: -n: '%s' is not a number of cards, 1 .. %d\n", text, MOST_CARDS);
        return 2;
    }
    *cards = (uint32_t)value;
    return -1;
}

/* What may stand before a later program. */
static int read_head(char ***at, uint32_t *cards)
{
    *cards = 1;
    while (**at != NULL && (**at)[0] == '-' && (**at)[1] != 0) {
        char *option = *(*at)++;
        if (strcmp(option, "--") == 0) {
            break;
        }
        if (strncmp(option, "-n", 2) != 0) {
            return refuse("PROGRAM", option, "cannot stand here: behind a ':' there is only -n, all else "
                          "before the first program");
        }
        const char *value = option[2] != 0 ? option + 2 : *(*at) != NULL ? *(*at)++ : "";
        int code = cards_read(value, cards);
        if (code != -1) {
            return code;
        }
    }
    return -1;
}

/* Colons alone, but more than one, are an argument with one less. */
static bool is_colons(const char *text)
{
    return text[0] == ':' && strspn(text, ":") == strlen(text);
}

static char **next_program(char **argument)
{
    for (; *argument != NULL; argument++) {
        if (strcmp(*argument, ":") == 0) {
            *argument = NULL;
            return argument + 1;
        }
        *argument += is_colons(*argument);
    }
    return NULL;
}

int programs_read(int argc, char **argv, uint32_t cards, struct options *options)
{
    options->program = calloc((size_t)argc + 1, sizeof *options->program);
    if (options->program == NULL) {
        fputs("vicrun: no memory\n", stderr);
        return 1;
    }
    uint64_t all = 0;
    for (char **at = argv; at != NULL;) {
        struct program *program = &options->program[options->programs++];
        int code = options->programs > 1 ? read_head(&at, &cards) : -1;
        if (code != -1) {
            return code;
        }
        *program = (struct program){(uint32_t)all, cards, at};
        at = next_program(at);
        all += cards;
        if (program->argument[0] == NULL) {
            fprintf(stderr, "vicrun: PROGRAM: say what to run%s; vicrun --help\n",
                    at != NULL ? " before ':'" : options->programs > 1 ? " behind ':'" : "");
            return 2;
        }
        if (is_free_slot(program) && (options->serve == NULL || program->argument[1] != NULL)) {
            return refuse("PROGRAM", "-", "is a card without a program, for those who --join: it needs "
                          "--serve, and has no arguments");
        }
        if (all > MOST_CARDS) {
            fprintf(stderr, "vicrun: -n: the programs together have more than %d cards\n", MOST_CARDS);
            return 2;
        }
    }
    options->job.cards = (uint32_t)all;
    return -1;
}

const struct program *program_of(const struct options *options, uint32_t card)
{
    uint32_t i = 0;
    while (card - options->program[i].first >= options->program[i].cards) {
        i++;
    }
    return &options->program[i];
}
