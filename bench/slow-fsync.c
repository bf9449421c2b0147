/* Loaded into a server by LD_PRELOAD: each fsync takes SLOW_FSYNC_MS milliseconds longer, as on a slower disk. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_longer(void) {
  const char *text = getenv("SLOW_FSYNC_MS");
  long ms = text ? atol(text) : 0;
  struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
  if (ms <= 0) return;
  /* A signal, such as the timers of PostgreSQL, does not make the wait shorter. */
  while (nanosleep(&delay, &delay) != 0 && errno == EINTR) continue;
}

int fsync(int fd) { wait_longer(); return (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { wait_longer(); return (int)syscall(SYS_fdatasync, fd); }
