/** SLF4J events into NCCL's log, through Logback configured in code. */
@NullMarked
package trigon.entry.log;

import org.jspecify.annotations.NullMarked;
