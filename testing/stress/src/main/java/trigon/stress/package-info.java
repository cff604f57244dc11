/**
 * JCStress tests of the words by which threads tell each other something; docs/design/memory-order.md lists them. Each
 * test lies in the package of what it tries.
 */
@NullMarked
package trigon.stress;

import org.jspecify.annotations.NullMarked;
