/**
 * The verbs of the software devices: {@link trigon.software.device.SoftwareVerbs} is the way in, and puts together what
 * the packages below have.
 */
@NullMarked
package trigon.software.device;

import org.jspecify.annotations.NullMarked;
