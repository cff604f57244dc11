#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { MAX_LINES = 1 << 18, MAX_CONNECTIONS = 256, MAX_REGIONS = 8, MAX_CONTEXTS = 64, OUTSTANDING = 8 };

enum kind { CALL, POST, TEST };

struct line {
  int part; /* of the program, counted up at each change of ordered */
  bool ordered;
  int group;
  enum kind kind;
  unsigned message;
  unsigned number; /* in the order of the calls */
  char role[12];
  char text[180];
};

struct region {
  const void *mhandle;
  const char *data;
  size_t bytes;
};

/* A listener and the receive comm that comes of it, or the memory of a handle and the send comm that comes of that. */
struct connection {
  bool sends;
  int number;
  const void *origin;
  const void *comm;
  struct region regions[MAX_REGIONS];
  int region_count;
  unsigned posted;
  unsigned tested;
  const void *requests[OUTSTANDING];
  char refused[180]; /* the post that got no request and must come again as it was; its entry is kept for the line */
  char entry[8];
};

static const char *path;
static int own_rank;
static int rank_before;
static struct line *lines;
static unsigned line_count;
static int part;
static bool ordered = true;
static struct connection connections[MAX_CONNECTIONS];
static int connection_count;
static int sends_of_communicator;
static int receives_of_communicator;
static const void *contexts[MAX_CONTEXTS];
static int context_count;
static _Thread_local const char *thread_role = "init";

bool trace_open(const char *file, int rank, int ranks) {
  lines = calloc(MAX_LINES, sizeof *lines);
  if (lines == NULL) {
    return fail(rank, "no memory for the trace");
  }
  path = file;
  own_rank = rank;
  rank_before = (rank + ranks - 1) % ranks;
  return true;
}

void trace_thread(const char *role) {
  thread_role = role;
}

void trace_ordered(bool now_ordered) {
  part += ordered != now_ordered;
  ordered = now_ordered;
}

static void add(int group, enum kind kind, unsigned message, const char *format, va_list arguments) {
  if (line_count == MAX_LINES) {
    fail(own_rank, "the trace has more than %d lines", MAX_LINES);
    return;
  }
  struct line *line = &lines[line_count];
  *line = (struct line){.part = part, .ordered = ordered, .group = group, .kind = kind, .message = message,
                        .number = line_count++};
  snprintf(line->role, sizeof line->role, "%s", thread_role);
  vsnprintf(line->text, sizeof line->text, format, arguments);
}

__attribute__((format(printf, 4, 5))) static void note(const struct connection *connection, enum kind kind,
                                                       unsigned message, const char *format, ...) {
  int group = connection == NULL ? -1 : connection->number + (connection->sends ? MAX_CONNECTIONS : 0);
  va_list arguments;
  va_start(arguments, format);
  add(group, kind, message, format, arguments);
  va_end(arguments);
}

void trace_line(const char *format, ...) {
  if (path == NULL) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  add(-1, CALL, 0, format, arguments);
  va_end(arguments);
}

void trace_communicator(int number) {
  sends_of_communicator = receives_of_communicator = 0;
  trace_line("communicator %d", number);
}

static const char *tag_name(int tag) {
  return tag == own_rank ? "own rank" : tag == rank_before ? "sender's rank" : "neither rank";
}

static const char *outcome(int result) {
  static char text[32];
  snprintf(text, sizeof text, ": %s", result_name(result));
  return result == NCCL_SUCCESS ? "" : text;
}

static int context_number(const void *ctx) {
  for (int i = 0; i < context_count; i++) {
    if (contexts[i] == ctx) {
      return i + 1;
    }
  }
  return 0;
}

/* "ctx N " from API 11 on */
static const char *context_of(int api, const void *ctx) {
  static char text[24];
  snprintf(text, sizeof text, "ctx %d ", context_number(ctx));
  return api < 11 ? "" : text;
}

static struct connection *by_origin(bool sends, const void *origin) {
  for (int i = connection_count - 1; i >= 0; i--) {
    if (connections[i].sends == sends && connections[i].origin == origin) {
      return &connections[i];
    }
  }
  return NULL;
}

static struct connection *by_comm(const void *comm) {
  for (int i = connection_count - 1; i >= 0 && comm != NULL; i--) {
    if (connections[i].comm == comm) {
      return &connections[i];
    }
  }
  return NULL;
}

static struct connection *begin(bool sends, const void *origin) {
  if (connection_count == MAX_CONNECTIONS) {
    fail(own_rank, "the trace has more than %d connections", MAX_CONNECTIONS);
    return NULL;
  }
  struct connection *connection = &connections[connection_count++];
  *connection = (struct connection){
      .sends = sends,
      .number = sends ? sends_of_communicator++ : receives_of_communicator++,
      .origin = origin,
  };
  return connection;
}

static const char *name_of(const struct connection *connection) {
  static char text[24];
  if (connection == NULL) {
    return "an unknown comm";
  }
  snprintf(text, sizeof text, "%s %d", connection->sends ? "send" : "recv", connection->number);
  return text;
}

/* "mr N", of the region that has this handle */
static const char *region_name(const struct connection *connection, const void *mhandle) {
  static char text[24];
  for (int i = 0; connection != NULL && i < connection->region_count; i++) {
    if (connection->regions[i].mhandle == mhandle) {
      snprintf(text, sizeof text, "mr %d", i);
      return text;
    }
  }
  return mhandle == NULL ? "null" : "an unknown mr";
}

void trace_init(int api, void *ctx, uint64_t comm_id, const struct nccl_net_config *config, nccl_logger log,
                nccl_profiler_callback profiler, int result) {
  if (path == NULL) {
    return;
  }
  char own[64] = ""; /* the communicator's own arguments, and its context */
  char given[24] = "";
  if (api >= 11) {
    snprintf(own, sizeof own, " commId=%s trafficClass=%d", comm_id == 0 ? "0" : "given", config->trafficClass);
    if (result == NCCL_SUCCESS && context_count < MAX_CONTEXTS) {
      contexts[context_count++] = ctx;
      snprintf(given, sizeof given, " -> ctx %d", context_count);
    }
  }
  note(NULL, CALL, 0, "init%s logger=%s%s%s%s", own, log == NULL ? "null" : "given",
       api < 10 ? "" : profiler == NULL ? " profiler=null" : " profiler=given", given, outcome(result));
}

void trace_finalize(const void *ctx, int result) {
  if (path != NULL) {
    note(NULL, CALL, 0, "finalize ctx %d%s", context_number(ctx), outcome(result));
  }
}

void trace_listen(int api, const void *ctx, int dev, bool zeroed, const void *comm, int result) {
  struct connection *connection = path == NULL ? NULL : begin(false, comm);
  if (connection != NULL) {
    note(connection, CALL, 0, "listen %sdev=%d handle=%s -> listen %d%s", context_of(api, ctx), dev,
         zeroed ? "zeroed" : "not zeroed", connection->number, outcome(result));
  }
}

void trace_connect(int api, const void *ctx, int dev, const void *handle, const void *comm, int result) {
  if (path == NULL) {
    return;
  }
  struct connection *connection = by_origin(true, handle);
  if (connection == NULL) {
    connection = begin(true, handle);
  }
  if (connection != NULL && (comm != NULL || result != NCCL_SUCCESS)) {
    connection->comm = comm;
    note(connection, CALL, 0, "connect %sdev=%d%s handle=the peer's -> %s%s", context_of(api, ctx), dev,
         api == 10 ? " trafficClass=-1" : "", name_of(connection), outcome(result));
  }
}

void trace_accept(const void *listen_comm, const void *comm, int result) {
  struct connection *connection = path == NULL ? NULL : by_origin(false, listen_comm);
  if (connection != NULL && (comm != NULL || result != NCCL_SUCCESS)) {
    connection->comm = comm;
    note(connection, CALL, 0, "accept listen %d -> %s%s", connection->number, name_of(connection), outcome(result));
  }
}

void trace_reg_mr(const void *comm, const void *data, size_t size, int type, const void *mhandle, int result) {
  struct connection *connection = path == NULL ? NULL : by_comm(comm);
  if (connection != NULL && connection->region_count < MAX_REGIONS) {
    int region = connection->region_count++;
    connection->regions[region] = (struct region){mhandle, data, size};
    note(connection, CALL, 0, "regMr %s bytes=%zu type=%s -> mr %d%s", name_of(connection), size,
         type == NCCL_PTR_HOST ? "host" : "other", region, outcome(result));
  }
}

void trace_dereg_mr(const void *comm, const void *mhandle, int result) {
  if (path != NULL) {
    const struct connection *connection = by_comm(comm);
    note(connection, CALL, 0, "deregMr %s %s%s", name_of(connection), region_name(connection, mhandle),
         outcome(result));
  }
}

void trace_close_comm(const char *call, const void *comm, int result) {
  if (path == NULL) {
    return;
  }
  bool listener = strcmp(call, "closeListen") == 0;
  struct connection *connection = listener ? by_origin(false, comm) : by_comm(comm);
  if (listener && connection != NULL) {
    note(connection, CALL, 0, "closeListen listen %d%s", connection->number, outcome(result));
    connection->origin = NULL; /* the address may come again */
    return;
  }
  note(connection, CALL, 0, "%s %s%s", call, comm == NULL ? "null" : name_of(connection), outcome(result));
  if (connection != NULL && connection->posted != connection->tested) {
    note(connection, CALL, 0, "  with %u requests not done", connection->posted - connection->tested);
  }
  if (connection != NULL) {
    connection->comm = connection->origin = NULL;
  }
}

/* "mr N step" where NCCL has it: message k in eighth k modulo 8 of the region */
static void describe_data(char text[48], const struct connection *connection, const void *data, const void *mhandle) {
  for (int i = 0; i < connection->region_count; i++) {
    const struct region *region = &connection->regions[i];
    if (region->mhandle == mhandle) {
      size_t step = connection->posted % OUTSTANDING * (region->bytes / OUTSTANDING);
      ptrdiff_t offset = (const char *)data - region->data;
      snprintf(text, 48, offset == (ptrdiff_t)step ? "mr %d step" : "mr %d+%td", i, offset);
      return;
    }
  }
  snprintf(text, 48, "no registered memory");
}

void trace_post(const char *call, const void *comm, int api, const void *data, size_t size, int tag,
                const void *mhandle, const void *parent, const void *entry, const void *after, int result) {
  struct connection *connection = path == NULL ? NULL : by_comm(comm);
  if (connection == NULL) {
    return;
  }
  char where[48];
  char text[180];
  describe_data(where, connection, data, mhandle);
  snprintf(text, sizeof text, "%s %s data=%s size=%zu tag=%s mhandle=%s%s", call, name_of(connection), where, size,
           tag_name(tag), region_name(connection, mhandle),
           api < 10 ? "" : parent == NULL ? " phandle=null" : " phandle=given");
  if (connection->refused[0] == '\0') {
    snprintf(connection->entry, sizeof connection->entry, "%s",
             entry == NULL ? "null" : entry == (void *)1 ? "1" : "stale");
  } else if (strcmp(connection->refused, text) != 0) {
    note(connection, POST, connection->posted, "%s, asked again as: %s", connection->refused, text);
  }
  snprintf(connection->refused, sizeof connection->refused, "%s", text);
  if (after == NULL && result == NCCL_SUCCESS) {
    return;
  }
  if (connection->posted - connection->tested == OUTSTANDING) {
    note(connection, POST, connection->posted, "%s: more than %d at once", call, OUTSTANDING);
    return;
  }
  note(connection, POST, connection->posted, "%s *request=%s%s", text, connection->entry, outcome(result));
  connection->requests[connection->posted++ % OUTSTANDING] = after;
  connection->refused[0] = '\0';
}

void trace_test(const void *request, int done, size_t size, int result) {
  if (path == NULL) {
    return;
  }
  for (int i = connection_count - 1; i >= 0; i--) {
    struct connection *connection = &connections[i];
    if (connection->tested < connection->posted &&
        connection->requests[connection->tested % OUTSTANDING] == request) {
      if (done == 1 || result != NCCL_SUCCESS) {
        note(connection, TEST, connection->tested++, "test %s -> done, %zu bytes%s", name_of(connection), size,
             outcome(result));
      }
      return;
    }
  }
  note(NULL, TEST, 0, "test of a request that is not the oldest of its connection");
}

static int compare(const void *left, const void *right) {
  const struct line *a = left;
  const struct line *b = right;
  if (a->part != b->part || a->ordered) {
    return a->number < b->number ? -1 : 1;
  }
  if (a->group != b->group) {
    return a->group < b->group ? -1 : 1;
  }
  if (a->kind != b->kind) {
    return a->kind < b->kind ? -1 : 1;
  }
  return a->number < b->number ? -1 : 1;
}

static bool continues(const struct line *line, const struct line *next) {
  return line->kind != CALL && line->part == next->part && line->group == next->group && line->kind == next->kind &&
         next->message == line->message + 1 && strcmp(line->text, next->text) == 0;
}

bool trace_write(void) {
  if (path == NULL) {
    return true;
  }
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    return fail(own_rank, "cannot write the trace to %s", path);
  }
  qsort(lines, line_count, sizeof *lines, compare);
  for (unsigned i = 0; i < line_count; i++) {
    unsigned first = i;
    while (i + 1 < line_count && continues(&lines[i], &lines[i + 1])) {
      i++;
    }
    fprintf(file, "%-9s %s", lines[i].role, lines[i].text);
    if (lines[i].kind != CALL) {
      fprintf(file, " (messages %u to %u)", lines[first].message, lines[i].message);
    }
    fputc('\n', file);
  }
  bool written = ferror(file) == 0;
  written &= fclose(file) == 0;
  return written || fail(own_rank, "cannot write the trace");
}
