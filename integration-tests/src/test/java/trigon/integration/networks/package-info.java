/** Networks and machines of users, made of network namespaces. */
@NullMarked
package trigon.integration.networks;

import org.jspecify.annotations.NullMarked;
