/** The command explain: which path would be taken to another node, and by which rule. */
@NullMarked
package trigon.tools.explain;

import org.jspecify.annotations.NullMarked;
