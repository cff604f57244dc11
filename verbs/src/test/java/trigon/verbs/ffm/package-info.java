@NullMarked
package trigon.verbs.ffm;

import org.jspecify.annotations.NullMarked;
