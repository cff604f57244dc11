/**
 * The verifier: runs a program on all inputs at once, along every path, with ranges for numbers. What it accepts ends,
 * touches only what it may, and returns what its kind allows; so that the compiled program needs no checks.
 * {@code verdict} has what it finds.
 *
 * <p>Loops are followed round by round. What a program may take is therefore known before it runs, as a number of
 * instructions. Division: an operand that may be zero is refused, although the instruction set defines the result,
 * since a policy that divides by zero is wrong.
 *
 * <p>A verification is done by one thread and shares nothing with others.
 */
@NullMarked
package trigon.policy.verify;

import org.jspecify.annotations.NullMarked;
