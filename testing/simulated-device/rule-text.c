/* Rules as people write them. README.md has the grammar. */
#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 24, MOST_TEXT = 512 };

typedef struct Words {
  char *word[MOST_WORDS];
  int count, next;
} Words;

static const char *take(Words *w) { return w->next < w->count ? w->word[w->next++] : ""; }

static bool takes(Words *w, const char *word) {
  if (w->next >= w->count || strcmp(w->word[w->next], word))
    return false;
  w->next++;
  return true;
}

/* NODE/DEVICE, or NODE for all devices of it. */
static void read_end(const char *text, size_t len, char *node, char *device) {
  const char *slash = memchr(text, '/', len);
  size_t before = slash ? (size_t)(slash - text) : len;

  snprintf(node, NAME_SIZE, "%.*s", (int)before, text);
  if (slash)
    snprintf(device, NAME_SIZE, "%.*s", (int)(len - before - 1), slash + 1);
  else
    snprintf(device, NAME_SIZE, "*");
}

/* A>B, or A-B for both ways; then the second rule is the first one turned round. */
static bool read_path(Words *w, Rule *r, bool *both) {
  const char *text = take(w), *between = strpbrk(text, ">");

  *both = !between && (between = strchr(text, '-')) != NULL;
  if (!between)
    return false;
  read_end(text, (size_t)(between - text), r->from_node, r->from_device);
  read_end(between + 1, strlen(between + 1), r->to_node, r->to_device);
  return true;
}

static void anywhere(char *node, char *device) { strcpy(node, "*"), strcpy(device, "*"); }

static bool read_time(const char *text, uint64_t *ns) {
  char *unit;
  double value = strtod(text, &unit);

  *ns = (uint64_t)(value * (!strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "us") ? 1e3 : 1));
  return unit != text && (!strcmp(unit, "s") || !strcmp(unit, "ms") || !strcmp(unit, "us") || !strcmp(unit, "ns"));
}

static bool read_span(char *text, Rule *r) {
  char *dots = strstr(text, "..");

  if (dots)
    *dots = 0;
  return read_time(text, &r->least) && read_time(dots ? dots + 2 : text, &r->most) && r->most >= r->least;
}

static bool read_number(const char *text, uint64_t *n) {
  char *end;

  *n = strtoull(text, &end, 0);
  return end != text && !*end;
}

static bool read_share(const char *text, Rule *r) {
  char *end;
  double percent = strtod(text, &end);

  r->least = (uint64_t)(percent * 1e4);
  return end != text && (!*end || !strcmp(end, "%"));
}

/* Bits per second, as people say them. */
static bool read_rate(const char *text, uint64_t *bytes_per_second) {
  char *unit;
  double value = strtod(text, &unit);

  *bytes_per_second = (uint64_t)(value * (!strcmp(unit, "G") ? 1e9 : 1e6) / 8);
  return *bytes_per_second && (!strcmp(unit, "G") || !strcmp(unit, "M"));
}

static bool read_kill(Words *w, Rule *r) {
  const char *end = take(w), *at = takes(w, "at") ? take(w) : "";
  bool stage = !strcmp(at, "stage");
  uint64_t n;

  r->action = stage ? RULE_KILL_STAGE : !strcmp(at, "execute") ? RULE_KILL_EXECUTE : RULE_KILL_ACK;
  if (stage)
    read_end(end, strlen(end), r->from_node, r->from_device), anywhere(r->to_node, r->to_device);
  else
    read_end(end, strlen(end), r->to_node, r->to_device), anywhere(r->from_node, r->from_device);
  r->times = 1;
  if ((!stage && strcmp(at, "execute") && strcmp(at, "ack")) || !read_number(take(w), &n) || !n)
    return false;
  r->after = n - 1;
  return true;
}

/* What befalls a queue pair, or its completion queue. */
static bool read_queue_pair(Words *w, Rule *r, bool completions) {
  const char *end = take(w), *number = take(w), *what = take(w);
  uint64_t n = 0;

  read_end(end, strlen(end), r->from_node, r->from_device);
  anywhere(r->to_node, r->to_device);
  r->action = !strcmp(what, "error") ? RULE_QP_ERROR : !strcmp(what, "mute") ? RULE_QP_MUTE : RULE_QP_FATAL;
  if (strcmp(number, "*") && !read_number(number, &n))
    return false;
  r->queue_pair = (uint32_t)n;
  if (completions)
    return r->action = RULE_CQ_OVERRUN, !strcmp(what, "overrun");
  return r->action != RULE_QP_FATAL || !strcmp(what, "fatal");
}

static bool read_break(Words *w, Rule *r) {
  return takes(w, "executed") && read_number(take(w), &r->least) && takes(w, "acked") && read_number(take(w), &r->most);
}

static bool read_action(Words *w, Rule *r, bool *both) {
  static const struct { const char *name; Action action; } paths[] = { { "cut", RULE_CUT }, { "hold", RULE_HOLD },
    { "delay", RULE_DELAY }, { "loss", RULE_LOSS }, { "ack-loss", RULE_ACK_LOSS }, { "break", RULE_BREAK },
    { "lie", RULE_LIE }, { "flip", RULE_FLIP }, { "model", RULE_MODEL },
    { "loss-over", RULE_LOSS_OVER } };

  if (takes(w, "kill"))
    return read_kill(w, r);
  bool completions = takes(w, "cq");
  if (completions || takes(w, "qp"))
    return read_queue_pair(w, r, completions);
  if (takes(w, "rnr")) {
    const char *end = take(w);
    r->action = RULE_RNR;
    read_end(end, strlen(end), r->to_node, r->to_device);
    anywhere(r->from_node, r->from_device);
    return *end;
  }
  if (takes(w, "stop")) {
    const char *node = take(w);
    r->action = RULE_STOP;
    read_end(node, strlen(node), r->from_node, r->from_device);
    anywhere(r->to_node, r->to_device);
    return *node;
  }
  bool stall = takes(w, "stall");
  if (stall || takes(w, "open")) {
    const char *end = take(w);
    r->action = stall ? RULE_STALL : RULE_OPEN;
    read_end(end, strlen(end), r->from_node, r->from_device);
    anywhere(r->to_node, r->to_device);
    return *end && (stall ? read_time : read_number)(take(w), &r->least);
  }
  const char *name = take(w);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (strcmp(name, paths[i].name) || !read_path(w, r, both))
      continue;
    r->action = paths[i].action;
    switch (paths[i].action) {
    case RULE_HOLD:
    case RULE_DELAY: return w->next < w->count && read_span(w->word[w->next++], r)
      && (!takes(w, "pierce") || (r->pierce = 1));
    case RULE_LOSS:
    case RULE_ACK_LOSS: return read_share(take(w), r);
    case RULE_LOSS_OVER: return read_number(take(w), &r->least);
    case RULE_BREAK: return read_break(w, r);
    case RULE_MODEL: return read_time(take(w), &r->least) && read_rate(take(w), &r->most);
    default: return true;
    }
  }
  return false;
}

static bool read_limits(Words *w, Rule *r) {
  uint64_t ns;

  while (w->next < w->count) {
    if (takes(w, "for")) {
      if (!read_time(take(w), &ns))
        return false;
      r->until = now_ns() + ns;
    } else {
      uint64_t *to = takes(w, "after") ? &r->after : takes(w, "every") ? &r->every
        : takes(w, "times") ? &r->times : NULL;
      if (!to || !read_number(take(w), to))
        return false;
    }
  }
  return true;
}

/* The serial is published last; until then nobody looks at the rest. The registry's lock is held. */
static bool publish(const Rule *rule) {
  for (int i = 0; i < RULES; i++) {
    Rule *r = &fabric.rules[i];
    if (atomic_load(&r->serial))
      continue;
    memcpy((uint8_t *)r + sizeof r->serial, (const uint8_t *)rule + sizeof r->serial, sizeof *r - sizeof r->serial);
    atomic_store_explicit(&r->serial, atomic_fetch_add(&fabric.header->next_serial, 1), memory_order_release);
    return true;
  }
  return false;
}

static bool add_rule(char *text) {
  Words w = { .count = 0 };
  Rule r, back;
  bool both = false;
  char *save = NULL;

  for (char *t = strtok_r(text, " \t\n", &save); t && w.count < MOST_WORDS; t = strtok_r(NULL, " \t\n", &save))
    w.word[w.count++] = t;
  if (!w.count)
    return true;
  memset(&r, 0, sizeof r);
  if (!read_action(&w, &r, &both) || !read_limits(&w, &r))
    return false;
  memcpy(&back, &r, sizeof r);
  memcpy(back.from_node, r.to_node, NAME_SIZE);
  memcpy(back.from_device, r.to_device, NAME_SIZE);
  memcpy(back.to_node, r.from_node, NAME_SIZE);
  memcpy(back.to_device, r.from_device, NAME_SIZE);
  registry_lock();
  bool there = publish(&r) && (!both || publish(&back));
  registry_unlock();
  return there;
}

int add_rules(const char *text) {
  char copy[MOST_TEXT], *save = NULL;
  int rc = 0;

  snprintf(copy, sizeof copy, "%s", text);
  for (char *t = strtok_r(copy, ";", &save); t; t = strtok_r(NULL, ";", &save)) {
    char shown[MOST_TEXT];
    snprintf(shown, sizeof shown, "%s", t);
    if (!add_rule(t)) {
      fprintf(stderr, "simverbs: cannot take the rule \"%s\": see README.md of the simulated device\n", shown);
      rc = EINVAL;
    }
  }
  announce();
  return rc;
}

void clear_rules(void) {
  registry_lock();
  for (int i = 0; i < RULES; i++)
    atomic_store(&fabric.rules[i].serial, 0);
  registry_unlock();
  announce();
}
