/** The command demo: all-reduces of some processes of this machine, which are the nodes of a cluster. One thread. */
@NullMarked
package trigon.tools.demo;

import org.jspecify.annotations.NullMarked;
