/* What was done, as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "load.h"

#define N(x) ((unsigned long long)(x))

/* Of all threads, from the begin of the process. */
static uint64_t cpu_ns(void)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

bool report_write(const struct load *load)
{
    if (load->report == NULL) {
        return true;
    }
    FILE *file = fopen(load->report, "w");
    bool good = file != NULL;
    if (good) {
        const struct vic_client_count *count = &load->count;
        fprintf(file, "{\"messages\": %llu, \"bytes\": %llu, \"digest\": \"%016llx\", ", N(load->done),
                N(load->done_bytes), N(load->digest));
        fprintf(file, "\"duplicates\": %llu, \"confirmed\": %llu, \"returned\": %llu, \"refused\": %llu, ",
                N(load->duplicates), N(count->confirmed), N(count->returned), N(count->refused));
        fprintf(file, "\"repeated\": %llu, \"unconfirmed\": %llu, \"wall_ns\": %llu, ", N(count->repeated),
                N(count->unconfirmed), N(load->wall_ns));
        fprintf(file, "\"cpu_ns\": %llu, ", N(cpu_ns()));
        fprintf(file, "\"session\": \"%016llx\"}\n", N(count->session));
        int lost = ferror(file);
        good = (fclose(file) | lost) == 0;
    }
    if (!good) {
        fprintf(stderr, "vicload: --report: '%s' cannot be written\n", load->report);
    }
    return good;
}
