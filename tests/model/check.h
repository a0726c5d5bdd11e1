/* check.h: end the program at the first check that fails, and say which. */
#ifndef DVSIM_TESTS_CHECK_H
#define DVSIM_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            printf("FAILED %s:%d: %s\n", __func__, __LINE__, #condition);         \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

/* refuses(&copy) of a copy of `good` in which one number is `bad`; and of `good` itself it does not. */
#define REFUSES(refuses, good, field, bad)                                        \
    do {                                                                          \
        __typeof__(good) changed = good;                                          \
        CHECK(!refuses(&changed));                                                \
        changed.field = bad;                                                      \
        CHECK(refuses(&changed));                                                 \
    } while (0)

#endif
