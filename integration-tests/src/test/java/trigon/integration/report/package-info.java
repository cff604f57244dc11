/** Causes planted in real runs, and what the report on their traces says. */
@NullMarked
package trigon.integration.report;

import org.jspecify.annotations.NullMarked;
