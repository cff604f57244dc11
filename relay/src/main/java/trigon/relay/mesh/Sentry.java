package trigon.relay.mesh;

import java.io.IOException;
import java.nio.channels.SelectableChannel;

/** A thread that is there anyway, and looks at what others listen on while they sleep. */
@FunctionalInterface
public interface Sentry {

    /**
     * Has a task run once, on that thread, as soon as a channel has something to read or to accept.
     *
     * @throws IOException if it cannot look at the channel
     */
    void whenReady(SelectableChannel channel, Runnable task) throws IOException;
}
