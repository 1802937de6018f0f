/* Lets a call of the C library go wrong, for benches/faults.py: LD_PRELOAD puts it between duet and the library.
 *
 * Calls are counted, so that a fault comes at a point of the program's own progress and not at a moment of a clock. Only the
 * process called `duet` is meant: neither those that it starts, nor a child between fork and exec.
 *
 *   FAULT_CALLS  which calls count: `all`, or `write` (what needs room on a disk), `open`, or `thread`
 *   FAULT_AT     the number of the call at which it happens, from 1 on; without it calls are only counted
 *   FAULT_DO     `kill`, `term`, `int`, `stop`: a signal before the call. `torn`: half of a write, then death. `half`: half of a write
 *                or read, which is no error. An error's number: the call fails so. `clock`: the time of day is another one from there on
 *   FAULT_FOR    how many calls an error or a half lasts; 1 by default
 *   FAULT_STEP   seconds by which the clock is set; with FAULT_FOR above 1 it is set back and forth, that many times
 *   FAULT_LOG    a file that gets a line when it happens, and the numbers of calls at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum class { ANY = 1, ROOM = 2, OPEN = 4, THREAD = 8 }; /* a call may be of several; all are of the first */
enum deed { COUNT, SIGNAL, TORN, HALF, ERROR, CLOCK };

static struct {
    pid_t self;
    enum class class;
    enum deed deed;
    long at, lasts, step;
    int number; /* of a signal or an error */
    char log[4096];
    atomic_long calls[THREAD + 1], clock_calls; /* of each class */
    atomic_int told;
} fault;

static void tell(const char *what, const char *call, long n) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %s %ld\n", what, call, n);
    int file = (int)syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    syscall(SYS_write, file, line, length);
    syscall(SYS_close, file);
}

static long number_of(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : atol(text);
}

static void choose(const char *deed) {
    static const struct { const char *name; enum deed deed; int number; } known[] = {
        {"kill", SIGNAL, SIGKILL}, {"term", SIGNAL, SIGTERM}, {"int", SIGNAL, SIGINT}, {"stop", SIGNAL, SIGSTOP},
        {"torn", TORN, SIGKILL}, {"half", HALF, 0}, {"clock", CLOCK, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(deed, known[i].name) == 0) {
            fault.deed = known[i].deed;
            fault.number = known[i].number;
            return;
        }
    fault.deed = ERROR;
    fault.number = atoi(deed);
}

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("FAULT_LOG"), *calls = getenv("FAULT_CALLS"), *deed = getenv("FAULT_DO");
    if (strcmp(program_invocation_short_name, "duet") != 0 || log == NULL) return;
    snprintf(fault.log, sizeof fault.log, "%s", log);
    fault.class = calls == NULL || strcmp(calls, "all") == 0 ? ANY : strcmp(calls, "open") == 0 ? OPEN :
        strcmp(calls, "thread") == 0 ? THREAD : ROOM;
    fault.at = number_of("FAULT_AT", 0);
    fault.lasts = number_of("FAULT_FOR", 1);
    fault.step = number_of("FAULT_STEP", 0);
    if (fault.at > 0 && deed != NULL) choose(deed);
    static const char *const names[] = {"LD_PRELOAD", "FAULT_CALLS", "FAULT_AT", "FAULT_DO", "FAULT_FOR", "FAULT_STEP", "FAULT_LOG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    fault.self = getpid();
}

__attribute__((destructor)) static void end(void) {
    if (fault.self != getpid()) return;
    tell("calls", "all", atomic_load(&fault.calls[ANY]));
    tell("calls", "write", atomic_load(&fault.calls[ROOM]));
    tell("calls", "open", atomic_load(&fault.calls[OPEN]));
    tell("calls", "thread", atomic_load(&fault.calls[THREAD]));
}

static void told(const char *call, long n) {
    if (atomic_exchange(&fault.told, 1) == 0) tell("fault", call, n);
}

/* Counts a call; whether it is one that goes wrong. */
static int strikes(const char *call, int classes) {
    if (fault.self == 0 || fault.self != getpid()) return 0;
    long n = 0;
    for (int class = ANY; class <= THREAD; class *= 2) {
        if (!((classes | ANY) & class)) continue;
        long count = atomic_fetch_add(&fault.calls[class], 1) + 1;
        if ((int)fault.class == class) n = count;
    }
    if (n == 0) return 0;
    if (fault.deed == COUNT || n < fault.at || (fault.deed != CLOCK && n >= fault.at + fault.lasts)) return 0;
    if (fault.deed == CLOCK) {
        told(call, n);
        return 0;
    }
    told(call, n);
    if (fault.deed == SIGNAL) kill(fault.self, fault.number);
    return fault.deed != SIGNAL;
}

/* Whether the call fails; `errno` says how. */
static int fails(const char *call, int classes) {
    if (!strikes(call, classes) || fault.deed != ERROR) return 0;
    errno = fault.number;
    return 1;
}

static int is_file(int fd) {
    struct stat about;
    return syscall(SYS_fstat, fd, &about) == 0 && S_ISREG(about.st_mode);
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Its words must get out, or nobody would know why it ended. */
#define WRITES(name, parameters, whole, half, fd, length) \
    ssize_t name parameters { \
        REAL(name); \
        if ((fd) == STDERR_FILENO && fault.deed == ERROR) return real whole; \
        if (!strikes(#name, is_file(fd) ? ROOM : ANY)) return real whole; \
        if (fault.deed == ERROR) return errno = fault.number, -1; \
        if ((length) < 2 || (fault.deed == TORN && !is_file(fd))) return real whole; \
        ssize_t done = real half; \
        if (fault.deed == TORN) kill(fault.self, SIGKILL); \
        return done; \
    }
WRITES(write, (int fd, const void *from, size_t n), (fd, from, n), (fd, from, n / 2), fd, n)
WRITES(pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), (fd, from, n / 2, at), fd, n)
WRITES(pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), (fd, from, n / 2, at), fd, n)
WRITES(writev, (int fd, const struct iovec *from, int n), (fd, from, n), (fd, from, n / 2), fd, n)

#define READS(name, parameters, whole, half, n) \
    ssize_t name parameters { \
        REAL(name); \
        if (!strikes(#name, ANY)) return real whole; \
        if (fault.deed == ERROR) return errno = fault.number, -1; \
        return (n) < 2 ? real whole : real half; \
    }
READS(read, (int fd, void *to, size_t n), (fd, to, n), (fd, to, n / 2), n)
READS(pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), (fd, to, n / 2, at), n)
READS(pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at), (fd, to, n / 2, at), n)

#define OPENS(name, parameters, arguments) \
    int name parameters { \
        REAL(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, mode_t); \
            va_end(more); \
        } \
        if (fails(#name, OPEN | (flags & O_CREAT ? ROOM : ANY))) return -1; \
        return real arguments; \
    }
OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPENS(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

#define CALL(name, classes, parameters, arguments) \
    int name parameters { \
        REAL(name); \
        return fails(#name, classes) ? -1 : real arguments; \
    }
CALL(ftruncate, ROOM, (int fd, off_t n), (fd, n))
CALL(ftruncate64, ROOM, (int fd, off64_t n), (fd, n))
CALL(mkdir, ROOM, (const char *path, mode_t mode), (path, mode))
CALL(rename, ROOM, (const char *from, const char *to), (from, to))
CALL(link, ROOM, (const char *from, const char *to), (from, to))
CALL(symlink, ROOM, (const char *from, const char *to), (from, to))
CALL(fsync, ROOM, (int fd), (fd))
CALL(fdatasync, ROOM, (int fd), (fd))
CALL(unlink, ANY, (const char *path), (path))
CALL(rmdir, ANY, (const char *path), (path))
CALL(unlinkat, ANY, (int dir, const char *path, int flags), (dir, path, flags))
CALL(pipe2, OPEN, (int ends[2], int flags), (ends, flags))

/* The rest cannot be made to fail in a way that their callers know, but a signal may come before them. */
int close(int fd) {
    REAL(close);
    if (fault.deed == SIGNAL || fault.deed == COUNT) strikes("close", ANY);
    return real(fd);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *of) {
    REAL(pthread_create);
    if (strikes("pthread_create", THREAD) && fault.deed == ERROR) return fault.number;
    return real(thread, how, body, of);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    REAL(clock_gettime);
    int done = real(clock, time);
    if (done != 0 || fault.deed != CLOCK || clock != CLOCK_REALTIME || fault.self != getpid()) return done;
    if (atomic_load(&fault.calls[fault.class]) < fault.at) return done;
    told("clock_gettime", atomic_load(&fault.calls[fault.class]));
    long steps = atomic_fetch_add(&fault.clock_calls, 1);
    /* Back and forth, and then set for good. */
    if (steps < fault.lasts && steps % 2 == 1) return done;
    time->tv_sec += fault.step;
    return done;
}
