/**
 * The hardware behind the links: the PCIe link that a NIC's functions share, and the cable that several functions lead
 * to. Control path only.
 */
@NullMarked
package trigon.routing.hardware;

import org.jspecify.annotations.NullMarked;
