/**
 * Kinds of programs, as data: what they are called with, what they may decide, which helpers they may call. A new
 * kind is a constant in {@link trigon.policy.program.ProgramType}, and its structure in {@code trigon_policy.h}.
 */
@NullMarked
package trigon.policy.program;

import org.jspecify.annotations.NullMarked;
