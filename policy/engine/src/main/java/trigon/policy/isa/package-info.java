/**
 * The eBPF instruction set: what the bytes of a program mean, as values.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9669">RFC 9669, BPF Instruction Set Architecture</a>
 */
@NullMarked
package trigon.policy.isa;

import org.jspecify.annotations.NullMarked;
