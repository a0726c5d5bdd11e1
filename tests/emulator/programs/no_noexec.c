/* Preloaded: a kernel that does not know MFD_NOEXEC_SEAL. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

__attribute__((visibility("default"))) int memfd_create(const char *name, unsigned flags)
{
    int (*real)(const char *, unsigned);
    if (flags & 8) {
        errno = EINVAL;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "memfd_create");
    return real(name, flags);
}
