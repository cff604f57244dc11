/** Tables, pages and files for people and other programs. */
@NullMarked
package trigon.report.view;

import org.jspecify.annotations.NullMarked;
