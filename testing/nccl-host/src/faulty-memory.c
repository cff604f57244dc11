/*
 * To be preloaded into a relay: its memory is faulty. Of the writes to sockets that are FAULT_BYTES long or longer,
 * each FAULT_EACHth has one bit changed, FAULT_MOST times in all. A line says so each time.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_ulong writes;
static atomic_ulong faults;

static unsigned long number(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? 0 : strtoul(value, NULL, 10);
}

static int is_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static int is_due(int fd, size_t bytes) {
  unsigned long least = number("FAULT_BYTES");
  unsigned long each = number("FAULT_EACH");
  if (least == 0 || each == 0 || bytes < least || !is_socket(fd) || (atomic_fetch_add(&writes, 1) + 1) % each != 0) {
    return 0;
  }
  return atomic_fetch_add(&faults, 1) < number("FAULT_MOST");
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buffer, size_t bytes) {
  static ssize_t (*libc_write)(int fd, const void *buffer, size_t bytes);
  if (libc_write == NULL) {
    void *next = dlsym(RTLD_NEXT, "write");
    memcpy(&libc_write, &next, sizeof next);
  }
  char *changed = is_due(fd, bytes) ? malloc(bytes) : NULL;
  if (changed == NULL) {
    return libc_write(fd, buffer, bytes);
  }
  memcpy(changed, buffer, bytes);
  changed[bytes / 2] ^= 0x10;
  ssize_t written = libc_write(fd, changed, bytes);
  free(changed);
  if (written > (ssize_t)(bytes / 2)) {
    fprintf(stderr, "faulty memory: a bit of %zu bytes\n", bytes);
  }
  return written;
}
