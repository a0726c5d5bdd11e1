/* steps.h: what happens at one event of a replay; for the files of this folder only. */
#ifndef DVSIM_WORKLOAD_STEPS_H
#define DVSIM_WORKLOAD_STEPS_H

#include "workload/internal.h"

/* An operation waits for nothing more: note it. DVSIM_ENOMEM, as below. */
int steps_free(dvsim_replay *replay, fresh *freed, int32_t operation);

/* Put what was noted on the agenda, in the order in which it may start. */
int steps_put(dvsim_replay *replay, fresh *freed);

/* A message is at its receiver. */
int steps_arrive(dvsim_replay *replay, const dvsim_arrival *arrival);

/* Do one event. */
int steps_do(dvsim_replay *replay, event one);

#endif
