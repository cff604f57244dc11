package trigon.stream;

import java.nio.ByteBuffer;

/**
 * One side of what is said on a fresh connection, without I/O: who has the connection reads what is {@link #expected}
 * and no more, and then asks for the {@link #next} step. One thread at a time.
 */
public interface Conversation {

    /** The next action of the caller, who has the socket. */
    sealed interface Step {

        /** Read what is expected now. */
        record Read() implements Step {}

        /** Send these bytes, then read what is expected now. */
        @SuppressWarnings("ArrayRecordComponent") // never compared, and nobody else has it
        record Send(byte[] bytes) implements Step {}

        /** All is said: what follows is for who comes next. */
        record Open() implements Step {}

        /** The other side refuses, or is not who it should be. */
        record Refused(String why) implements Step {}

        /** A relay opens no circuit; the end has had no say in it, unless the cause tells of the end. */
        record NotOpened(RefusalCause cause, String why) implements Step {}
    }

    /** The buffer for what is read next; full before {@link #next} is called. */
    ByteBuffer expected();

    /** Takes what was expected. */
    Step next();
}
