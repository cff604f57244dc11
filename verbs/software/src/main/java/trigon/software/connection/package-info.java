/**
 * TCP connections that never block: how one is opened, what is read from it and written to it, and who does that.
 *
 * <ul>
 *   <li><b>Event loop</b>: the provider's background thread with its selector.
 *   <li><b>Progress</b>: sending and receiving what there is. Whoever has the {@link
 *       trigon.software.connection.ProgressLock} of a queue pair makes progress for it: the thread that posts or
 *       polls, or the event loop where nobody polls.
 *   <li><b>Armed</b>: a connection whose socket the event loop's selector watches; it is disarmed while its queue pair
 *       is polled.
 * </ul>
 */
@NullMarked
package trigon.software.connection;

import org.jspecify.annotations.NullMarked;
