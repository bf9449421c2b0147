/*
 * Loaded into a server by LD_PRELOAD to simulate a slower disk: each fsync takes SLOW_FSYNC_MS milliseconds longer, and
 * each read of a page of SLOW_READ_PAGE bytes takes SLOW_READ_MS milliseconds longer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void wait_longer(const char *name, long times) {
  const char *text = getenv(name);
  long ms = text ? atol(text) * times : 0;
  struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
  if (ms <= 0) return;
  /* A signal, such as the timers of PostgreSQL, does not make the wait shorter. */
  while (nanosleep(&delay, &delay) != 0 && errno == EINTR) continue;
}

static void wait_for_pages(size_t bytes) {
  const char *text = getenv("SLOW_READ_PAGE");
  size_t page = text ? (size_t)atol(text) : 0;
  if (page > 0 && bytes % page == 0) wait_longer("SLOW_READ_MS", (long)(bytes / page));
}

static size_t size_of(const struct iovec *parts, int count) {
  size_t size = 0;
  for (int index = 0; index < count; index++) size += parts[index].iov_len;
  return size;
}

int fsync(int fd) { wait_longer("SLOW_FSYNC_MS", 1); return (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { wait_longer("SLOW_FSYNC_MS", 1); return (int)syscall(SYS_fdatasync, fd); }

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset) {
  wait_for_pages(size);
  return syscall(SYS_pread64, fd, buffer, size, offset);
}
ssize_t pread(int fd, void *buffer, size_t size, off_t offset) { return pread64(fd, buffer, size, offset); }

ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
  wait_for_pages(size_of(parts, count));
  return syscall(SYS_preadv, fd, parts, count, offset, 0);
}
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) { return preadv64(fd, parts, count, offset); }
