@NullMarked
package trigon.verbs;

import org.jspecify.annotations.NullMarked;
