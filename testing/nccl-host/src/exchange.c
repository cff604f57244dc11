/*
 * Messages to the next rank, or on each channel to another one, of the sizes that go wrong most easily and of random
 * ones, at odd addresses, received into buffers that are larger. Every byte is checked, and so are those behind the
 * message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "transfers.h"
#include "until.h"

enum { GUARD_BYTES = 64, GUARD = 0x5c };

static const size_t fixed_sizes[] = {0, 1, 3, 4, 7, 8, 63, 64, 65, 0, 127, 128, 129, 4095, 4096, 4097, 65535, 65537};
#define FIXED_SIZES (sizeof fixed_sizes / sizeof fixed_sizes[0])

static unsigned mix(unsigned a, unsigned b) {
  unsigned hash = a * 2654435761u ^ (b + 0x9e3779b9u + (a << 6));
  hash ^= hash >> 15;
  hash *= 2246822519u;
  return hash ^ hash >> 13;
}

static size_t size_of(const struct options *options, size_t message) {
  size_t size = message < FIXED_SIZES ? fixed_sizes[message]
                                      : mix(options->seed, (unsigned)message) % (unsigned)(options->bytes + 1);
  return size <= options->bytes ? size : options->bytes;
}

static size_t offset_of(size_t message) {
  return message % 5;
}

static unsigned char byte_of(const struct rank *rank, int sender, int channel, size_t message, size_t index) {
  unsigned stream = mix((unsigned)(sender * 64 + channel), (unsigned)message + rank->options->seed);
  return (unsigned char)(stream + index * 31 + (index >> 8));
}

struct stream {
  struct flow sends;
  struct flow receives;
  bool staged;
  size_t received; /* bytes */
};

static bool check(struct rank *rank, int number, size_t message, size_t bytes) {
  int sender = sender_on(rank, number);
  const unsigned char *data =
      (unsigned char *)slot_of(rank, rank->channels[number].recv_buffer, message) + offset_of(message);
  size_t expected = size_of(rank->options, message);
  if (bytes != expected) {
    return fail(rank->number, "channel %d: message %zu has %zu bytes instead of %zu", number, message, bytes,
                expected);
  }
  for (size_t i = 0; i < bytes + GUARD_BYTES / 2; i++) {
    unsigned char right = i < bytes ? byte_of(rank, sender, number, message, i) : GUARD;
    if (data[i] != right && rank->wrong++ == 0) {
      fail(rank->number, "channel %d: byte %zu of message %zu (%zu bytes) is %d instead of %d", number, i, message,
           bytes, data[i], right);
    }
  }
  return true;
}

static bool step(struct rank *rank, int number, struct stream *stream, size_t messages, bool *progress) {
  struct channel *channel = &rank->channels[number];
  struct flow *receives = &stream->receives;
  struct flow *sends = &stream->sends;
  size_t bytes;
  if (receives->posted < messages && receives->posted - receives->done < DEPTH) {
    char *slot = slot_of(rank, channel->recv_buffer, receives->posted);
    memset(slot, GUARD, rank->slot_bytes);
    size_t offset = offset_of(receives->posted);
    int result =
        post_recv(rank, channel, receives, slot + offset, size_of(rank->options, receives->posted) + GUARD_BYTES / 2);
    if (result < 0) {
      return false;
    }
    *progress |= result == 1;
  }
  if (sends->posted < messages && sends->posted - sends->done < DEPTH) {
    char *data = slot_of(rank, channel->send_buffer, sends->posted) + offset_of(sends->posted);
    size_t size = size_of(rank->options, sends->posted);
    for (size_t i = 0; !stream->staged && i < size; i++) {
      data[i] = (char)byte_of(rank, rank->number, number, sends->posted, i);
    }
    int result = post_send(rank, channel, sends, data, size);
    if (result < 0) {
      return false;
    }
    stream->staged = result == 0;
    *progress |= result == 1;
  }
  int sent = test_oldest(rank, sends, &bytes);
  size_t message = receives->done;
  int received = test_oldest(rank, receives, &bytes);
  *progress |= sent == 1 || received == 1;
  stream->received += received == 1 ? bytes : 0;
  return sent >= 0 && received >= 0 && (received == 0 || check(rank, number, message, bytes));
}

/* All of them are under way at once; with --until only a round's, so that no rank gets far ahead of the others. */
static size_t messages_until(int round) {
  return FIXED_SIZES + (size_t)round * 16;
}

/* How channels share the way between ranks: later, those that are done leave more to the others. */
static void print_shares(const struct rank *rank, const struct stream *streams, double seconds) {
  fprintf(stderr, "rank %d: a channel is done after %.6f s; bytes received on each:", rank->number, seconds);
  for (int c = 0; c < rank->options->channels; c++) {
    fprintf(stderr, " %zu", streams[c].received);
  }
  fputc('\n', stderr);
}

bool run_exchange(struct rank *rank) {
  const struct options *options = rank->options;
  int round = options->until == NULL ? options->iterations : 1;
  size_t messages = messages_until(round);
  struct stream *streams = calloc((size_t)options->channels, sizeof *streams);
  if (streams == NULL) {
    return fail(rank->number, "no memory");
  }
  fprintf(stderr, "rank %d: %zu messages a channel, seed %u\n", rank->number, messages_until(options->iterations),
          options->seed);
  double start = now();
  double last_progress = start;
  double round_start = start;
  unsigned idle = 0;
  bool ok = true;
  bool shares = options->verbose;
  for (int open = 1; ok && open > 0;) {
    bool progress = false;
    open = 0;
    for (int c = 0; ok && c < options->channels; c++) {
      if (streams[c].sends.done < messages || streams[c].receives.done < messages) {
        open++;
        ok = step(rank, c, &streams[c], messages, &progress);
      }
    }
    if (ok && shares && open < options->channels) {
      shares = false;
      print_shares(rank, streams, now() - start);
    }
    if (ok && open == 0) {
      print_if_long(rank, test_name(options->test), round, now() - round_start);
      if (round < options->iterations && !until_is_over(rank, round)) {
        round_start = now();
        messages = messages_until(++round);
        open = options->channels;
      }
    }
    if (progress) {
      last_progress = now();
      idle = 0;
    } else if (ok && is_failing()) {
      ok = false;
    } else if (ok && now() - last_progress > options->timeout_seconds) {
      ok = fail(rank->number, "timeout: nothing moved for %d s; channel 0: %zu of %zu sent, %zu received",
                options->timeout_seconds, streams[0].sends.done, messages, streams[0].receives.done);
    } else {
      idle_wait(&idle);
    }
  }
  rank->seconds = now() - start;
  free(streams);
  return ok;
}
