/**
 * Policies as the host sees them: {@link trigon.policy.PolicyHost} loads an object and replaces it while it runs,
 * {@link trigon.policy.PolicyHost.Slot} runs the program of one kind.
 *
 * <p>The way of an object: read ({@code elf}), verified ({@code verify}, with a {@code verdict}), shown to decide alike
 * on all ranks ({@code uniformity}), bound to its maps ({@code map}), compiled ({@code compile}), warmed up, switched
 * in.
 */
@NullMarked
package trigon.policy;

import org.jspecify.annotations.NullMarked;
