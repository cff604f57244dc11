/** Rules for sources, modules, folders, classes and docs. */
@NullMarked
package trigon.integration.structure;

import org.jspecify.annotations.NullMarked;
