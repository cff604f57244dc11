/*
 * One start at a time in a process, also where it has loaded this library twice, from two paths: a JVM that another
 * copy is about to make must be whole before it is used. Copies share no variable, but the process's own file in /proc.
 */
#ifndef TRIGON_HOST_START_LOCK_H
#define TRIGON_HOST_START_LOCK_H

/* Waits until no other copy starts. Returns what unlock_start takes: -1 without such a file, or past the deadline. */
int lock_start(void);

void unlock_start(int lock);

#endif
