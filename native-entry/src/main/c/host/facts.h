/* What this library was compiled with, for Java to compare with what it was written for. */
#ifndef TRIGON_HOST_FACTS_H
#define TRIGON_HOST_FACTS_H

#include <stddef.h>
#include <stdint.h>

/* trigon.entry.host.Facts reads them, by name. */
struct fact {
  const char *name;
  int64_t value;
};

struct facts {
  const struct fact *first;
  int64_t count;
};

#define FACTS(array) {array, sizeof(array) / sizeof(array)[0]}
#define SIZE_OF(type) {#type, sizeof(struct type)}
#define OFFSET_OF(type, field) {#type "." #field, offsetof(struct type, field)}

#endif
