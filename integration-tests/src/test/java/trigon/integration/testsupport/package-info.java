/** Nodes, jobs, devices and files of the project that tests of several packages use. */
@NullMarked
package trigon.integration.testsupport;

import org.jspecify.annotations.NullMarked;
