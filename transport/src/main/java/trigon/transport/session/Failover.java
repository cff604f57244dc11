package trigon.transport.session;

import trigon.transport.path.PathChannel;

/** Keeps a session going when its path fails. */
public interface Failover extends AutoCloseable {

    /**
     * A path is of no use any more, by one of its requests; on the data path, so it returns at once.
     *
     * @return whether it takes care of that; false if it has given up
     */
    boolean recoverFrom(PathChannel path, String what);

    /** The session is being closed: nothing of it is touched any more once this returns. Closing twice is allowed. */
    @Override
    void close();
}
