/**
 * Fixtures shared by the modules' tests: {@link trigon.testsupport.VerbsContract}, which every implementation of the
 * verbs passes; connected queue pairs; and assertions on leaks and allocation. Plain JUnit, the verbs API, nothing
 * else.
 */
@NullMarked
package trigon.testsupport;

import org.jspecify.annotations.NullMarked;
