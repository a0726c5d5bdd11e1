/* Linked to whatever counts: a process that leaves by _exit(), or becomes another program, writes its counts
 * before. (gcc does that for exec*() itself, but not where -std=c11 makes them names like any other.) */
void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_execvp(const char *file, char *const argument[]);
int __wrap_execvp(const char *file, char *const argument[]);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

int __wrap_execvp(const char *file, char *const argument[])
{
    __gcov_dump();
    __gcov_reset();
    return __real_execvp(file, argument);
}
