package trigon.software.responder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/** What tests ask of a responder; racy outside of its queue pair's lock. */
public final class ResponderState {

    private ResponderState() {}

    /** How many bytes have come on the peer's connection that nobody has read. */
    public static int unread(Responder responder) {
        InboundConnection connection = Objects.requireNonNull(responder.connection(), "the peer's connection");
        try {
            return connection.channel().socket().getInputStream().available();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
