package trigon.transport.failure;

import java.util.List;
import trigon.transport.session.Session;

/** A unit that fails as a whole: the sessions of one of NCCL's communicators. Thread-safe. */
public interface Communicator {

    /** NCCL's hash of it; 0 where the API version has none: all communicators are this one then. */
    long commId();

    List<Session> sessions();

    /** Takes note of a failure, unless there was one before, or it may be another communicator's. Whether it did. */
    boolean failsBy(CommunicatorFailure first);
}
