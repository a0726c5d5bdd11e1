/* amqp_server.h: a broker on loopback that knows what is to be said, and says what an input wants instead: in a thread of
 * its own, each connection by its part of the input. When that is used up it behaves. */
#ifndef FUZZ_AMQP_SERVER_H
#define FUZZ_AMQP_SERVER_H

#include "fuzz.h"

enum { PARTS = 4 };

/* Listen; the port. Once. */
int server_listen(void);

void server_start(const struct input part[PARTS]);
void server_stop(void);

/* Was a message with this AMQP id received, all of it? */
bool server_has(const char *id);

/* The AMQP id of one that was received, from 0 on; NULL: there were not so many. */
const char *server_id(int which);

#endif
