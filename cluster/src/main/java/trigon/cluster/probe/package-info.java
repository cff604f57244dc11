/**
 * Examination of several nodes: the questions, and the agent on each of them. It looks, and sends to addresses that
 * answer; it changes nothing.
 */
@NullMarked
package trigon.cluster.probe;

import org.jspecify.annotations.NullMarked;
