/* See trace-cost.c. */
void measure_trace(void);

int main(void) {
  measure_trace();
  return 0;
}
