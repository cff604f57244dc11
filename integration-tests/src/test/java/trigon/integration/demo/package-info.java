/** The command {@code trigon demo}. */
@NullMarked
package trigon.integration.demo;

import org.jspecify.annotations.NullMarked;
