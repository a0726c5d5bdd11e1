/* real.h: the functions that those of libvic-threads.so stand in for. */
#ifndef VIC_THREADS_REAL_H
#define VIC_THREADS_REAL_H

#include <dlfcn.h>

/* In the child of a fork: nobody waits anywhere. */
void slots_forget(void);

#define EXPORT __attribute__((visibility("default")))

/* `real_NAME`, a pointer to the next function of that name; looked up when it is first needed, which may be
 * before any constructor has run. ISO C has no cast from an object to a function. */
#define REAL(result, name, ...)                                                                             \
    static result (*real_##name)(__VA_ARGS__);                                                              \
    if (__builtin_expect(real_##name == NULL, 0)) {                                                         \
        *(void **)&real_##name = dlsym(RTLD_NEXT, #name);                                                   \
    }

#endif
