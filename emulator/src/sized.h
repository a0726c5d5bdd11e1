/* sized.h: structs of programs that were compiled against another version's headers: a shorter one lacks fields that
 * are 0 then, a longer one has fields that this library does not know. */
#ifndef VIC_SIZED_H
#define VIC_SIZED_H

#include <string.h>

#include "fail.h"

/* Fill `own`, of own_bytes, from the struct of a program, or with 0 if that is NULL. VIC_OK; VIC_EINVAL: the program
 * has set a field that this library does not have, or gave no size. */
static inline int sized_take(void *own, size_t own_bytes, const void *given, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)given;
    memset(own, 0, own_bytes);
    if (given == NULL) {
        return VIC_OK;
    }
    if (bytes == 0) {
        return fail(VIC_EINVAL, "the size of the config is 0; here it is %zu", own_bytes);
    }
    for (size_t i = own_bytes; i < bytes; i++) {
        if (byte[i] != 0) {
            return fail(VIC_EINVAL, "the config has %zu bytes, and something is set behind the %zu that libvic %s knows",
                        bytes, own_bytes, VIC_VERSION);
        }
    }
    memcpy(own, given, bytes < own_bytes ? bytes : own_bytes);
    return VIC_OK;
}

/* Copy a struct of this library to that of a program: fields that the program does not have are left out, those that
 * the library does not have become 0. */
static inline void sized_give(void *to, size_t bytes, const void *own, size_t own_bytes)
{
    memset(to, 0, bytes);
    memcpy(to, own, bytes < own_bytes ? bytes : own_bytes);
}

#endif
