/*
 * A library that is preloaded into a server. Calls on store files fail as on a faulty disk. The environment variable
 * FAULTY_DISK is the path of a file that contains the name of the fault. "fsync": every fsync fails. "hang": every
 * fsync waits until the name changes. "write": every write fails as after an emergency remount. "read": every read fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

static int fault_is(const char *word) {
  char text[16] = "";
  const char *name = getenv("FAULTY_DISK");
  int fd = name ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY) : -1;
  if (fd < 0) return 0;
  long length = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  return length > 0 && strcmp(text, word) == 0;
}

static int is_store(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "pets.db") != NULL && strstr(path, "-shm") == NULL;
}

static int faulty_fsync(int call, int fd) {
  struct timespec moment = {0, 10000000};
  while (is_store(fd) && fault_is("hang")) nanosleep(&moment, NULL);
  if (is_store(fd) && fault_is("fsync")) { errno = EIO; return -1; }
  return (int)syscall(call, fd);
}

int fsync(int fd) { return faulty_fsync(SYS_fsync, fd); }
int fdatasync(int fd) { return faulty_fsync(SYS_fdatasync, fd); }

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  if (is_store(fd) && fault_is("write")) { errno = EROFS; return -1; }
  return syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at) {
  if (is_store(fd) && fault_is("read")) { errno = EIO; return -1; }
  return syscall(SYS_pread64, fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
ssize_t pread(int fd, void *data, size_t size, off_t at) { return pread64(fd, data, size, at); }
