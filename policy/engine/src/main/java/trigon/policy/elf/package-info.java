/**
 * Objects: what {@code clang -target bpf -g} writes, read and checked. Every defect of a file is an
 * {@link trigon.policy.elf.ObjectException}.
 *
 * @see <a href="https://docs.kernel.org/bpf/llvm_reloc.html">Linux, BPF LLVM relocations</a>
 * @see <a href="https://docs.kernel.org/bpf/btf.html">Linux, BPF Type Format</a>
 */
@NullMarked
package trigon.policy.elf;

import org.jspecify.annotations.NullMarked;
