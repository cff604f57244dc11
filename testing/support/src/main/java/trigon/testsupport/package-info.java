/**
 * Fixtures shared by the modules' tests: waiting for a condition, a clock that tests move, seeds that are printed, and
 * counts of memory, threads, descriptors and open objects. Plain JUnit, the verbs API, nothing else.
 *
 * <p>For the thread of one test, unless a type says otherwise; {@link trigon.testsupport.ManualClock} and the counts
 * are for any thread.
 */
@NullMarked
package trigon.testsupport;

import org.jspecify.annotations.NullMarked;
