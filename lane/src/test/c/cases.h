#ifndef TRIGON_LANE_TEST_CASES_H
#define TRIGON_LANE_TEST_CASES_H

/* What the calls answer where something is unusual, case by case. */
void check_cases(void);

#endif
