/*
 * The bytes of a connection: of a socket, which is never closed while a queue pair has it, or of a stream of Java's,
 * where RDMA carries them to a relay. Nothing here blocks.
 */
#ifndef TRIGON_SOFTWARE_STREAM_H
#define TRIGON_SOFTWARE_STREAM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Instead of a number of bytes. */
enum { STREAM_ENDED = -1, STREAM_BROKEN = -2 };

/* Of Java's: bytes read or written, 0 if there are none or there is no room now, or one of the above. */
typedef int64_t (*stream_function)(uint64_t address, int64_t bytes);

struct stream {
  int socket; /* or -1 */
  stream_function read;
  stream_function write;
};

static inline bool is_socket(const struct stream *stream) {
  return stream->socket >= 0;
}

static inline int64_t stream_read(const struct stream *stream, struct iovec *parts, size_t count) {
  if (!is_socket(stream)) {
    return stream->read((uint64_t)(uintptr_t)parts[0].iov_base, (int64_t)parts[0].iov_len);
  }
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  ssize_t bytes;
  do {
    bytes = recvmsg(stream->socket, &message, MSG_DONTWAIT);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0) {
    return errno == EAGAIN ? 0 : STREAM_BROKEN;
  }
  return bytes == 0 ? STREAM_ENDED : bytes;
}

static inline int64_t stream_write(const struct stream *stream, struct iovec *parts, size_t count) {
  if (!is_socket(stream)) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
      const int64_t bytes = stream->write((uint64_t)(uintptr_t)parts[i].iov_base, (int64_t)parts[i].iov_len);
      if (bytes < 0) {
        return bytes;
      }
      sum += bytes;
      if ((uint64_t)bytes < parts[i].iov_len) {
        break;
      }
    }
    return sum;
  }
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  ssize_t bytes;
  do {
    bytes = sendmsg(stream->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (bytes < 0 && errno == EINTR);
  return bytes >= 0 ? bytes : errno == EAGAIN ? 0 : STREAM_BROKEN;
}

#endif
