#include "upcalls.h"

#include "../host/facts.h"
#include "../host/start.h"

struct one_sided_state one_sided_state;
struct one_sided_upcalls java_one_sided;

#define CALL_OF(call) {"one_sided." #call, ONE_SIDED_##call},

/* trigon.entry.onesided.OneSidedBlock has Java's numbers. */
static const struct fact facts_of_one_sided[] = {
    {"one_sided.increment", NCCL_ONE_SIDED_INCREMENT},
    {"one_sided.add", NCCL_ONE_SIDED_ADD},
    {"one_sided.never_reset", NCCL_ONE_SIDED_FLAG_NEVER_RESET},
    {"one_sided.off", ONE_SIDED_OFF},
    {"one_sided.on", ONE_SIDED_ON},
    OFFSET_OF(one_sided_state, setting),
    ONE_SIDED_CALLS(CALL_OF) /* each ends with a comma */
};

static const struct facts one_sided_facts = FACTS(facts_of_one_sided);

/* trigon.entry.onesided.OneSidedBlock reads it. */
static const struct {
  const struct facts *facts;
  struct one_sided_upcalls *upcalls;
  int64_t upcall_count;
  struct one_sided_state *state;
} one_sided_block = {&one_sided_facts, &java_one_sided, sizeof java_one_sided / sizeof(void *), &one_sided_state};

static void use_filled(void) {}

int bind_one_sided(nccl_logger log) {
  static struct java_side side = {.method = "bindOneSided", .block = &one_sided_block, .when_bound = use_filled};
  return bind_java(&side, log);
}
