package trigon.cluster.probe;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import trigon.cluster.rdma.Transfer;

/**
 * Observations of one end of a link.
 *
 * @param routed true if the ends share no subnet
 * @param neighbour the other end in the kernel's neighbour table; empty if nobody asked for it
 * @param rdma of a transfer by RDMA; empty if there was none
 */
public record LinkResult(
        @JsonUnwrapped Ends ends,
        @JsonInclude(Include.NON_DEFAULT) boolean routed,
        @JsonUnwrapped Stream stream,
        @JsonUnwrapped Datagrams udpPackets,
        Optional<Neighbour> neighbour,
        Optional<Transfer> rdma) {

    /** The kernel's source where it has no route. */
    public static final String NO_SOURCE = "none";

    /**
     * Addresses, and how the kernel sends from one to the other.
     *
     * @param from at this end
     * @param source that the kernel takes to get there
     * @param gateway true if packets go through a gateway, as far as the kernel says
     * @param leavesBy the interface; empty where the kernel does not say
     * @param route the table of that route, and the rule that leads to it; empty where the kernel does not say
     */
    public record Ends(
            String from,
            String to,
            @JsonInclude(Include.NON_EMPTY) String source,
            @JsonInclude(Include.NON_DEFAULT) boolean gateway,
            @JsonInclude(Include.NON_EMPTY) String leavesBy,
            @JsonInclude(Include.NON_EMPTY) String route) {}

    /**
     * One TCP connection.
     *
     * @param data of a transfer; empty if there was none
     */
    public record Stream(
            @JsonSetter(nulls = Nulls.FAIL) Connection tcp,
            Optional<Connection> data,
            Optional<Long> roundTripMicros,
            Optional<Long> leastRoundTripMicros,
            Optional<Long> rateMbps) {}

    /**
     * Datagrams; empty where none were sent.
     *
     * @param roceUdp at RoCE's port
     * @param topologyUdp at the announcements' port
     * @param mtuArrives the longest packet that arrives in one piece
     * @param datagrams small ones that were sent, each of which is answered
     */
    public record Datagrams(
            Optional<Answer> udp,
            Optional<Answer> roceUdp,
            Optional<Answer> topologyUdp,
            Optional<Integer> mtuArrives,
            @JsonInclude(Include.NON_DEFAULT) int datagrams,
            @JsonInclude(Include.NON_DEFAULT) int datagramsLost) {

        static final Datagrams NONE =
                new Datagrams(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0, 0);
    }

    /** The end of a question by datagrams. */
    public enum Answer {
        OK("ok"),
        NONE("no answer");

        private final String text;

        Answer(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * The other end of a link, as the kernel's neighbour table has it.
     *
     * @param text its hardware address, or that it did not answer
     */
    public record Neighbour(@JsonValue String text) {

        /** One that the kernel has asked in vain. */
        public static final Neighbour SILENT = new Neighbour("no answer");

        @JsonCreator
        public Neighbour {}

        public boolean isSilent() {
            return equals(SILENT);
        }
    }

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

        /** Parses the text of a node. */
        @JsonCreator
        static Connection of(String text) {
            return Arrays.stream(Usual.values())
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

    LinkResult asRouted() {
        return new LinkResult(ends, true, stream, udpPackets, neighbour, rdma);
    }

    LinkResult with(Transfer transfer) {
        return new LinkResult(ends, routed, stream, udpPackets, neighbour, Optional.of(transfer));
    }
}
