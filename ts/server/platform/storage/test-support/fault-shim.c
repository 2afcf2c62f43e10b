/* Fails fsync, fdatasync and pwrite of SQLite's files while the file SVC_FAULT_FLAG names exists. For tests, by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_faulty(int fd) {
    const char * flag = getenv("SVC_FAULT_FLAG");
    char link[64], path[PATH_MAX];
    if (!flag || access(flag, F_OK) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, ".sqlite") != NULL;
}

int fsync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fsync");
    if (!is_faulty(fd)) return next(fd);
    errno = EIO;
    return -1;
}

int fdatasync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
    if (!is_faulty(fd)) return next(fd);
    errno = EIO;
    return -1;
}

ssize_t pwrite64(int fd, const void * bytes, size_t count, off_t offset) {
    static ssize_t (*next)(int, const void *, size_t, off_t);
    if (!next) next = dlsym(RTLD_NEXT, "pwrite64");
    const char * only_sync = getenv("SVC_FAULT_SYNC_ONLY");
    if (only_sync || !is_faulty(fd)) return next(fd, bytes, count, offset);
    errno = EIO;
    return -1;
}

ssize_t pwrite(int fd, const void * bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }
