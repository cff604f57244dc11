/**
 * The verifier's verdict on a program: a {@link trigon.policy.verdict.VerifiedProgram} with the facts that the compiler
 * and the check for uniformity go by, or a {@link trigon.policy.verdict.Rejection} with the rule that it breaks.
 *
 * <p>Values: made by one thread, then read by any.
 */
@NullMarked
package trigon.policy.verdict;

import org.jspecify.annotations.NullMarked;
