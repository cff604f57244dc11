/*
 * The gate's words as arm64 may order them (lane.h, lane_enter and lane_leave; trigon.transport.request.Gate). A store
 * waits until memory has it, while its thread goes on, and stores to other words overtake it; a release lets none that
 * was before. Loads are in their order, as all that matter here are acquires, or come after one. The membarrier has both
 * threads' stores reach memory at one moment.
 *
 * Who has the lane finds in it what the last one has left. NO_BARRIER, LEAVES_EARLY and OPENS_EARLY plant a defect each,
 * which has to be found.
 */
#ifndef NO_BARRIER
#define NO_BARRIER false
#endif
#ifndef LEAVES_EARLY
#define LEAVES_EARLY false
#endif
#ifndef OPENS_EARLY
#define OPENS_EARLY false
#endif

mtype = { OPEN, FENCED };

typedef store {
  bool waits;
  byte value
};

/* memory, and what waits to be there */
mtype gate = OPEN;
byte inside = 0;
byte lane = 0;
store nccl_inside, nccl_lane, mover_lane;
mtype mover_gate = OPEN;
bool mover_gate_waits = false;

byte left = 0; /* in the lane, by the last one who has had it */

active proctype memory() {
end:
  do
  :: atomic { nccl_lane.waits -> lane = nccl_lane.value; nccl_lane.waits = false }
  :: atomic { mover_lane.waits -> lane = mover_lane.value; mover_lane.waits = false }
  :: atomic {
       nccl_inside.waits && (nccl_inside.value == 1 || !nccl_lane.waits || LEAVES_EARLY) ->
       inside = nccl_inside.value; nccl_inside.waits = false
     }
  :: atomic {
       mover_gate_waits && (mover_gate == FENCED || !mover_lane.waits || OPENS_EARLY) ->
       gate = mover_gate; mover_gate_waits = false
     }
  od
}

/* A thread sees its own stores at once. */
inline use_lane(own) {
  found = (own.waits -> own.value : lane);
  assert(found == left);
  atomic {
    left = (left + 1) % 4;
    own.value = left;
    own.waits = true
  }
}

inline put(own, number) {
  atomic {
    own.value = number;
    own.waits = true
  }
}

inline put_gate(state) {
  atomic {
    mover_gate = state;
    mover_gate_waits = true
  }
}

active proctype nccl() {
  byte found;
  do
  :: put(nccl_inside, 1);
    if
    :: gate == OPEN -> use_lane(nccl_lane)
    :: gate == FENCED
    fi;
    put(nccl_inside, 0) /* which releases */
  od
}

active proctype mover() {
  byte found;
  do
  :: put_gate(FENCED);
    !mover_gate_waits && !mover_lane.waits && (NO_BARRIER || (!nccl_inside.waits && !nccl_lane.waits));
    inside == 0;
    use_lane(mover_lane);
    put_gate(OPEN) /* which releases */
  od
}
