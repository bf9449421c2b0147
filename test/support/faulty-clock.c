/*
 * A library that is preloaded into a server. The time of day is shifted, as when an operator sets the clock of the
 * machine. The monotonic clock, which timers use, is not shifted. The environment variable FAULTY_CLOCK is the path of
 * a file that contains the shift in nanoseconds as a signed 64-bit number. The file can be changed at any time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;

static int64_t shift(void) {
  static volatile const int64_t *shared;
  if (shared == NULL) {
    const char *name = getenv("FAULTY_CLOCK");
    int fd = name ? open(name, O_RDONLY) : -1;
    if (fd < 0) return 0;
    void *page = mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) return 0;
    shared = page;
  }
  return *shared;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, id, now);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    int64_t shifted = now->tv_sec * SECOND + now->tv_nsec + shift();
    now->tv_sec = shifted / SECOND;
    now->tv_nsec = shifted % SECOND;
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (seconds != NULL) *seconds = exact.tv_sec;
  return exact.tv_sec;
}
