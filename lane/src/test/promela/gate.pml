/*
 * The gate of a lane (lane.h; trigon.transport.request.Gate and session.Session): NCCL's thread in C and in Java, a
 * thread that loses a path, and a control thread that moves the connection. No two of them have the lane at a time, and
 * no loss stays unnoticed. Steps are in one order for all threads, as the barriers make it.
 *
 * NOTICED checks the second, and without it the first is checked. LOOKS_FIRST and KEEPS_GATE plant a defect each, which
 * has to be found.
 */
mtype = { OPEN, ASK, FENCED };

mtype gate = ASK;
bool inside = false; /* NCCL's thread is */
bool lost = false;   /* a path is, and nobody has noticed yet */
byte users = 0;      /* of the lane */

inline take_lane() {
  users++;
  assert(users == 1)
}

inline exchange(from, to) {
  atomic {
    if
    :: gate == from -> gate = to
    :: else
    fi
  }
}

inline look_for_loss() {
  if
  :: lost -> exchange(OPEN, ASK)
  :: else
  fi
}

/* Session.leave: the library may come in from now on, unless a path is lost. */
inline let_library_in() {
  if
  :: !lost ->
#ifdef LOOKS_FIRST
    look_for_loss();
    exchange(ASK, OPEN)
#else
    exchange(ASK, OPEN);
    look_for_loss()
#endif
  :: else
  fi
}

active proctype nccl() {
  do
  :: inside = true;
    if
    :: gate == OPEN -> /* lane_enter, lane_leave */
      take_lane();
      users--;
      inside = false
    :: else ->
      inside = false;
      inside = true; /* Gate.enter */
      if
      :: gate == FENCED ->
        inside = false
#ifdef NOTICED
        ; gate != FENCED /* a call after the other finds the same, and holds up who waits for a moment outside */
#endif
      :: else ->
        take_lane();
        if
        :: lost -> lost = false /* Session.admit */
        :: else
        fi;
        let_library_in();
        users--;
        inside = false
      fi
    fi
  od
}

/* PathChannel.whenLost. */
active proctype loser() {
  do
  :: lost = true;
    exchange(OPEN, ASK);
    !lost /* the next path */
  od
}

/* Resumption: fences the lane, goes on over other paths, opens the gate. */
active proctype mover() {
  bool usual;
  do
  :: gate = FENCED;
#ifndef KEEPS_GATE
    !inside;
#endif
    take_lane();
    lost = false;
    users--;
    usual = !lost;
    gate = (usual -> OPEN : ASK);
    look_for_loss()
  :: break /* the connection does not move any more */
  od
}

#ifdef NOTICED
ltl noticed { [] (lost -> <> !lost) }
#endif
