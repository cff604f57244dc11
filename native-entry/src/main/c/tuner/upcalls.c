#include "upcalls.h"

#include "../host/facts.h"
#include "../host/start.h"
#include "../net/trace.h"
#include "built_in.h"

struct policy_state policy_state;
struct tuner_upcalls java_tuner;

/* trigon.entry.tuner.TunerBlock has Java's numbers. */
static const struct fact facts_of_tuner[] = {
    {"tuner.scratch", TUNER_SCRATCH_BYTES},
    {"tuner.scratch_alignment", TUNER_SCRATCH_ALIGNMENT},
    {"tuner.built_in", BUILT_IN_VERSION},
    {"tuner.algorithms", NCCL_TUNER_ALGORITHMS},
    {"tuner.protocols", NCCL_TUNER_PROTOCOLS},
    {"policy.unwanted", EVENTS_UNWANTED},
    {"policy.wanted", EVENTS_WANTED},
    {"policy.not_set", POLICY_NOT_SET},
    {"policy.set", POLICY_SET},
    {"tuning.off", TUNING_OFF},
    {"tuning.auto", TUNING_AUTO},
    OFFSET_OF(policy_state, setting),
    OFFSET_OF(policy_state, deciding),
    OFFSET_OF(policy_state, events),
    OFFSET_OF(policy_state, tuning),
};

static const struct facts tuner_facts = FACTS(facts_of_tuner);

/* trigon.entry.tuner.TunerBlock reads it. */
static const struct {
  const struct facts *facts;
  struct tuner_upcalls *upcalls;
  int64_t upcall_count;
  struct policy_state *state;
  struct trace_table *trace;
  int (*sample_connections)(void);
} tuner_block = {&tuner_facts,  &java_tuner,  sizeof java_tuner / sizeof(void *),
                 &policy_state, &trace_table, trace_sample_connections};

static void use_filled(void) {
  trace_until_exit();
}

int bind_tuner(nccl_logger log) {
  static struct java_side side = {.method = "bindTuner", .block = &tuner_block, .when_bound = use_filled};
  return bind_java(&side, log);
}
