/** Files of other users and other processes, which may be anything. Any thread, one at a time for each file. */
@NullMarked
package trigon.system.file;

import org.jspecify.annotations.NullMarked;
