/** Tests that need RDMA devices: they run in the guest of the SoftRoCE lab ({@code lab/run-tests.sh}). */
@NullMarked
package trigon.integration.lab;

import org.jspecify.annotations.NullMarked;
