/*
 * A memory region that is removed while queue pairs find it (software/memory.h). Who finds it is counted, and then looks
 * whether it is open; who removes it closes it, and then looks at the count. All four are sequentially consistent.
 *
 * LOOKS_FIRST and COUNTS_FIRST plant a defect each, which has to be found.
 */
bool open = true;
byte users = 0;
bool owned = false; /* the memory is its owner's, who has been told that nobody uses it */

active [2] proctype queue_pair() {
#ifdef LOOKS_FIRST
  if
  :: open -> users++; assert(!owned); users--
  :: !open
  fi
#else
  users++;
  if
  :: open -> assert(!owned)
  :: !open
  fi;
  users--
#endif
}

active proctype remover() {
#ifdef COUNTS_FIRST
  if
  :: users == 0 -> open = false; owned = true
  :: users != 0
  fi
#else
  open = false;
  if
  :: users == 0 -> owned = true
  :: users != 0 /* and it takes each lock */
  fi
#endif
}
