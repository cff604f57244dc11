/**
 * Knowledge of a number of 64 bits without running the program: which bits are fixed, and bounds, signed and unsigned.
 * Everything here is sound: a result contains each number that a member of the operands can lead to.
 *
 * <p>There are no bounds of the low 32 bits of their own. Instructions of 32 bits clear the high ones, so that the
 * bounds of the whole are those of the low half wherever compilers use them.
 *
 * @see <a href="https://arxiv.org/abs/2105.05398">Vishwanathan and others, Sound, Precise, and Fast Abstract
 *     Interpretation with Tristate Numbers</a>
 */
@NullMarked
package trigon.policy.range;

import org.jspecify.annotations.NullMarked;
