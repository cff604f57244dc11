#include "cuts.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static bool is_at(const struct sockaddr_storage *end, const char *address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (end->ss_family == AF_INET) {
    inet_ntop(AF_INET, &((const struct sockaddr_in *)end)->sin_addr, text, sizeof text);
  } else if (end->ss_family == AF_INET6) {
    const struct in6_addr *six = &((const struct sockaddr_in6 *)end)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six)) {
      inet_ntop(AF_INET, &six->s6_addr[12], text, sizeof text);
    }
  }
  return strcmp(text, address) == 0;
}

/* The next TCP connection among the descriptors; -1 after the last. */
static int next_connection(DIR *descriptors, struct sockaddr_storage *local) {
  for (struct dirent *each; (each = readdir(descriptors)) != NULL;) {
    int fd = (int)strtol(each->d_name, NULL, 10);
    struct sockaddr_storage remote;
    socklen_t length = sizeof *local;
    socklen_t remote_length = sizeof remote;
    if (fd > 2 && getsockname(fd, (struct sockaddr *)local, &length) == 0 && local->ss_family != AF_UNIX &&
        getpeername(fd, (struct sockaddr *)&remote, &remote_length) == 0) {
      return fd;
    }
  }
  return -1;
}

/* Behind the backs of their owners, as a firewall would; listeners stay. */
static void shut_down(const char *address) {
  DIR *descriptors = opendir("/proc/self/fd");
  struct sockaddr_storage local;
  if (descriptors == NULL) {
    return;
  }
  for (int fd; (fd = next_connection(descriptors, &local)) >= 0;) {
    if (is_at(&local, address)) {
      (void)shutdown(fd, SHUT_RDWR);
    }
  }
  closedir(descriptors);
}

int cuts_any(unsigned *random, bool all) {
  DIR *descriptors = opendir("/proc/self/fd");
  struct sockaddr_storage local;
  int chosen = -1;
  int seen = 0;
  if (descriptors == NULL) {
    return 0;
  }
  for (int fd; (fd = next_connection(descriptors, &local)) >= 0;) {
    seen++;
    if (all) {
      (void)shutdown(fd, SHUT_RDWR);
    } else if (rand_r(random) % seen == 0) {
      chosen = fd;
    }
  }
  closedir(descriptors);
  if (all) {
    return seen;
  }
  return chosen >= 0 && shutdown(chosen, SHUT_RDWR) == 0;
}

static void *watch(void *argument) {
  const char *path = argument;
  const struct timespec moment = {.tv_nsec = 20000000};
  for (;;) {
    FILE *file = fopen(path, "r");
    if (file != NULL) {
      char address[64] = "";
      if (fscanf(file, "%63s", address) == 1) {
        shut_down(address);
      }
      fclose(file);
      (void)unlink(path);
    }
    nanosleep(&moment, NULL);
  }
  return NULL;
}

bool cuts_watch(const char *file) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, watch, (void *)(uintptr_t)file) != 0 || pthread_detach(thread) != 0) {
    return fail(0, "no thread for --cuts");
  }
  return true;
}
