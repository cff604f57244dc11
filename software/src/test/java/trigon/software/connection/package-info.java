@NullMarked
package trigon.software.connection;

import org.jspecify.annotations.NullMarked;
