/**
 * The contract of every implementation of the verbs: {@link trigon.testsupport.verbs.VerbsContract} has the tests, in
 * parts by subject, and a {@link trigon.testsupport.verbs.VerbsFabric} says where they run. Tests of other modules
 * connect queue pairs with {@link trigon.testsupport.verbs.ConnectedPair}.
 *
 * <p>Used by the thread of one test.
 */
@NullMarked
package trigon.testsupport.verbs;

import org.jspecify.annotations.NullMarked;
