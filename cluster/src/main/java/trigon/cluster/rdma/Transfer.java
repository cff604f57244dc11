package trigon.cluster.rdma;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Optional;

/** The end of an RDMA WRITE between two nodes. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "outcome")
@JsonSubTypes({
    @JsonSubTypes.Type(Transfer.Right.class),
    @JsonSubTypes.Type(Transfer.Wrong.class),
    @JsonSubTypes.Type(Transfer.NotUp.class),
    @JsonSubTypes.Type(Transfer.NoAcknowledgement.class),
    @JsonSubTypes.Type(Transfer.Failed.class),
    @JsonSubTypes.Type(Transfer.NotTried.class)
})
public sealed interface Transfer {

    /** A device with the GID that it used; all is empty for an end without a device. */
    record End(String device, int gidIndex, String gidType, String gidText, int mtu) {

        private static final String NONE = "an end without a device";

        @Override
        public String toString() {
            return device.isEmpty() ? NONE : "%s GID %d %s %s".formatted(device, gidIndex, gidType, gidText);
        }
    }

    record Ends(Optional<End> from, Optional<End> to) {

        @Override
        public String toString() {
            return text(from) + " to " + text(to);
        }

        private static String text(Optional<End> end) {
            return end.map(End::toString).orElse(End.NONE);
        }
    }

    /**
     * The sender's view.
     *
     * @param pathMtu bytes of each piece
     * @param bytes that were written until it ended
     * @param rateMbps of a transfer of a second, where it was asked for
     * @param burstMbps of all that was written at once, where a gateway is between
     * @param status of the first completion that says no; none if nothing completes
     * @param why in words, unless it is a success
     */
    record Written(
            int pathMtu,
            long bytes,
            long micros,
            Optional<Long> rateMbps,
            Optional<Long> burstMbps,
            String status,
            @JsonInclude(Include.NON_EMPTY) String why) {

        /** The status of a transfer that has ended without a word. */
        public static final String NO_COMPLETION = "none";
    }

    /** Each byte arrived as it was sent. */
    @JsonTypeName("right")
    record Right(@JsonUnwrapped Ends ends, @JsonUnwrapped Written written) implements Transfer {}

    /**
     * Others arrived.
     *
     * @param wrong bytes that differ
     * @param firstWrong the place of the first of these
     */
    @JsonTypeName("wrong")
    record Wrong(@JsonUnwrapped Ends ends, @JsonUnwrapped Written written, long wrong, long firstWrong)
            implements Transfer {}

    /** The peer did not acknowledge what was written. */
    @JsonTypeName("no acknowledgement")
    record NoAcknowledgement(
            @JsonUnwrapped Ends ends, @JsonUnwrapped Written written) implements Transfer {}

    /** The NIC or the peer has refused it. */
    @JsonTypeName("failed")
    record Failed(@JsonUnwrapped Ends ends, @JsonUnwrapped Written written) implements Transfer {}

    /**
     * A queue pair did not come up.
     *
     * @param at the node
     */
    @JsonTypeName("not up")
    record NotUp(
            @JsonUnwrapped Ends ends,
            String at,
            @JsonUnwrapped FailedStep step) implements Transfer {}

    /**
     * A step that an end has failed to do.
     *
     * @param failed its name
     * @param errno its name; empty if there is none
     */
    record FailedStep(String failed, String errno, String why) {}

    /** Something else kept nodes from trying. */
    @JsonTypeName("not tried")
    record NotTried(String why) implements Transfer {}

    /** A node's word for how it has ended. */
    default String outcome() {
        return getClass().getAnnotation(JsonTypeName.class).value();
    }

    /** The sender's view; empty if nothing was written. */
    default Optional<Written> seen() {
        return switch (this) {
            case Right right -> Optional.of(right.written());
            case Wrong wrong -> Optional.of(wrong.written());
            case NoAcknowledgement silent -> Optional.of(silent.written());
            case Failed failed -> Optional.of(failed.written());
            case NotUp _, NotTried _ -> Optional.empty();
        };
    }
}
