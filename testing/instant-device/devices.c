/* The devices that INSTANTVERBS_DEVICES names. */
#include "instant-verbs.h"

const char firmware_version[] = "instant";
Lock lifetime;

static void add_gids(Device *d, bool simple) {
  uint8_t ll[16] = { 0xfe, 0x80, [8] = 0x02, 0, 0, 0xff, 0xfe, 0, 0, (uint8_t)(d->index + 1) };
  uint8_t v4[16] = { [10] = 0xff, [11] = 0xff };
  uint32_t ip = htonl(d->ip);

  memcpy(v4 + 12, &ip, 4);
  add_gid(d, IBV_GID_TYPE_ROCE_V2, ll);
  if (!simple) {
    add_gid(d, IBV_GID_TYPE_ROCE_V1, ll);
    add_gid(d, IBV_GID_TYPE_ROCE_V1, v4);
  }
  add_gid(d, IBV_GID_TYPE_ROCE_V2, v4);
}

static void read_settings(void) {
  late_every = number_of("INSTANTVERBS_LATE", 0);
  max_message = number_of("INSTANTVERBS_MAX_MESSAGE", 1u << 30);
  queue_pair_faults = number_of("INSTANTVERBS_QUEUE_PAIR_FAULTS", 0);
  port_faults = number_of("INSTANTVERBS_PORT_FAULTS", 0);
  port_away_ms = number_of("INSTANTVERBS_PORT_AWAY_MS", 0);
  gid_moves = number_of("INSTANTVERBS_GID_MOVES", 0);
  device_fault = number_of("INSTANTVERBS_DEVICE_FAULT", 0);
  faults = queue_pair_faults || port_faults || gid_moves || device_fault;
}

void make_devices(void) {
  const char *spec = getenv("INSTANTVERBS_DEVICES");
  bool simple = getenv("INSTANTVERBS_SIMPLE_GIDS") != NULL;

  read_settings();
  char *copy = strdup(spec && *spec ? spec : "instant0=127.0.0.1/8"), *save = NULL;
  num_devices = 0;
  for (char *t = strtok_r(copy, ",", &save); t && num_devices < MAX_DEVICES; t = strtok_r(NULL, ",", &save)) {
    char *eq = strchr(t, '='), *slash = eq ? strchr(eq, '/') : NULL;
    struct in_addr a;

    if (slash)
      *slash = 0;
    if (!eq || inet_pton(AF_INET, eq + 1, &a) != 1) {
      fprintf(stderr, "instantverbs: cannot read INSTANTVERBS_DEVICES entry \"%s\"\n", t);
      continue;
    }
    *eq = 0;
    Device *d = add_device(t);
    d->ip = ntohl(a.s_addr);
    d->prefix = slash ? atoi(slash + 1) : 24;
    add_gids(d, simple);
  }
  free(copy);
}

int device_opened(Context *c) {
  (void)c;
  return 0;
}
