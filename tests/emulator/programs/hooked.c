/* Three threads that sleep and compute: their model time is known, if they are in model time at all. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "vic.h"

static vic_t *card;

static void *turns(void *what)
{
    for (int i = 0; i < 50; i++) {
        nanosleep(&(struct timespec){0, 100000}, NULL);
        vic_compute_ns(card, 1000);
    }
    return what;
}

int main(void)
{
    pthread_t thread[3];
    if (vic_open(&card) != VIC_OK) {
        fprintf(stderr, "%s\n", vic_open_reason());
        return 3;
    }
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread[i], NULL, turns, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
    }
    printf("%llu\n", (unsigned long long)vic_time_ns(card));
    return vic_close(card) != VIC_OK;
}
