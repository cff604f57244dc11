package trigon.cluster.probe;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;
import java.util.stream.Stream;

/** The end of an attempt to connect, and to transfer data over a connection. */
public sealed interface Connection {

    /** One of the usual ends. */
    enum Usual implements Connection {
        /** A connection came up. */
        OK,
        /** Data arrived as they were sent. */
        RIGHT,
        /** Data arrived with another checksum. */
        WRONG,
        TIMEOUT,
        REFUSED,
        UNREACHABLE,
        /** The other end's address cannot be listened on, so nothing was tried. */
        NO_LISTENER,
        /** There was no connection to transfer data over. */
        NONE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /** Another end, in words. */
    record Failed(String why) implements Connection {

        @Override
        public String toString() {
            return why;
        }
    }

    /** Of what a node says. */
    @JsonCreator
    static Connection of(String text) {
        return Stream.of(Usual.values())
                .filter(each -> each.toString().equals(text))
                .<Connection>map(each -> each)
                .findFirst()
                .orElseGet(() -> new Failed(text));
    }

    @JsonValue
    default String text() {
        return toString();
    }
}
