/*
 * socket-floor: what a message costs over a TCP connection of one process to itself on the loopback interface, on one
 * thread, without anything on top: the floor of software links. Prints one JSON object.
 * usage: socket-floor MESSAGES RESTED-MESSAGES
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  BYTES = 40, /* of a message of 8 B on software links, with its header */
  BUFFER_BYTES = 64 << 10,
  WARM_MESSAGES = 20000,
  MOST_MESSAGES = 10000000,
  PAUSE_US = 10000,
};

static int sender;
static int receiver;
static char buffer[BUFFER_BYTES];
static int printed;

static void check(bool good, const char *what) {
  if (!good) {
    perror(what);
    exit(1);
  }
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void connect_to_oneself(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int one = 1;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sender = socket(AF_INET, SOCK_STREAM, 0);
  check(listener >= 0 && sender >= 0, "socket");
  check(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
            getsockname(listener, (struct sockaddr *)&address, &length) == 0,
        "listening");
  check(connect(sender, (struct sockaddr *)&address, length) == 0, "connect");
  receiver = accept(listener, NULL, NULL);
  check(receiver >= 0, "accept");
  check(setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "TCP_NODELAY");
  close(listener);
}

static void send_one(void) {
  check(write(sender, buffer, BYTES) == BYTES, "write");
}

static void receive_one(void) {
  check(read(receiver, buffer, BUFFER_BYTES) == BYTES, "read");
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print(const char *operation, double *ns, int count) {
  qsort(ns, (size_t)count, sizeof *ns, compare);
  printf("%s\n  {\"operation\": \"%s\", \"bytes\": %d, \"unit\": \"ns\", \"median\": %.0f, "
         "\"p99\": %.0f, \"p99_9\": %.0f}",
         printed++ > 0 ? "," : "", operation, BYTES, ns[count / 2], ns[(long)count * 99 / 100],
         ns[(long)count * 999 / 1000]);
}

static int count_of(const char *text) {
  char *end;
  long count = strtol(text, &end, 10);
  if (*end != '\0' || count < 1 || count > MOST_MESSAGES) {
    fprintf(stderr, "socket-floor: \"%s\" is not a number of messages from 1 to %d\n", text, MOST_MESSAGES);
    exit(2);
  }
  return (int)count;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: socket-floor MESSAGES RESTED-MESSAGES\n");
    return 2;
  }
  int messages = count_of(argv[1]);
  int rested = count_of(argv[2]);
  int most = messages > rested ? messages : rested;
  double *empty = calloc((size_t)most, sizeof *empty);
  double *found = calloc((size_t)most, sizeof *found);
  double *whole = calloc((size_t)most, sizeof *whole);
  check(empty != NULL && found != NULL && whole != NULL, "memory");
  connect_to_oneself();
  for (int i = -WARM_MESSAGES; i < messages; i++) {
    double start = now_ns();
    check(recv(receiver, buffer, BUFFER_BYTES, MSG_DONTWAIT) < 0, "a read that finds nothing");
    double looked = now_ns();
    send_one();
    double sent = now_ns();
    receive_one();
    double done = now_ns();
    if (i >= 0) {
      empty[i] = looked - start;
      found[i] = done - sent;
      whole[i] = done - looked;
    }
  }
  printf("{\"results\": [");
  print("read that finds nothing", empty, messages);
  print("read that finds a message", found, messages);
  print("write and read", whole, messages);
  for (int i = 0; i < rested; i++) {
    usleep(PAUSE_US);
    double start = now_ns();
    send_one();
    receive_one();
    whole[i] = now_ns() - start;
  }
  print("write and read after 10 ms", whole, rested);
  printf("\n]}\n");
  return 0;
}
