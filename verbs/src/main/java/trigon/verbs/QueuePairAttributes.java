package trigon.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of one {@code ibv_modify_qp(3)} call ({@code struct ibv_qp_attr}), and which of them are set. Reading
 * one that is not in {@link #mask()} gives 0.
 */
public final class QueuePairAttributes {

    private final EnumSet<QueuePairAttribute> mask;
    private final QueuePairStateCode state;
    private final EnumMap<QueuePairAttribute, Integer> values;
    private final int accessFlags;
    private final Mtu pathMtu;
    private final @Nullable AddressVector addressVector;
    private final @Nullable ConnectionKey connectionKey;

    private QueuePairAttributes(Builder builder) {
        mask = EnumSet.copyOf(builder.mask);
        state = builder.state;
        values = new EnumMap<>(builder.values);
        accessFlags = builder.accessFlags;
        pathMtu = builder.pathMtu;
        addressVector = builder.addressVector;
        connectionKey = builder.connectionKey;
    }

    /** Starts the attributes of a change to that state. */
    public static Builder to(QueuePairStateCode state) {
        return new Builder(state);
    }

    /** The attributes that are set; always contains {@link QueuePairAttribute#STATE}. */
    public Set<QueuePairAttribute> mask() {
        return Collections.unmodifiableSet(mask);
    }

    public QueuePairStateCode state() {
        return state;
    }

    /** Or-ed {@link AccessFlag} bits: what the peer may do through the queue pair. */
    public int accessFlags() {
        return accessFlags;
    }

    public Mtu pathMtu() {
        return pathMtu;
    }

    /** Set if, and only if, the mask contains {@link QueuePairAttribute#ADDRESS_VECTOR}. */
    public AddressVector addressVector() {
        return Objects.requireNonNull(addressVector, "ADDRESS_VECTOR is not in the mask");
    }

    /**
     * With READY_TO_RECEIVE: what the peer is to prove that it knows, before its requests are taken. No attribute of
     * ibv_modify_qp(3), and not in the mask: RDMA devices have no use for it and ignore it. Null for no such proof.
     */
    public @Nullable ConnectionKey connectionKey() {
        return connectionKey;
    }

    public int port() {
        return value(QueuePairAttribute.PORT);
    }

    public int pkeyIndex() {
        return value(QueuePairAttribute.PKEY_INDEX);
    }

    /** Number of the peer's queue pair. */
    public int destinationNumber() {
        return value(QueuePairAttribute.DESTINATION_NUMBER);
    }

    /** First packet sequence number expected from the peer, 24 bits. */
    public int receivePsn() {
        return value(QueuePairAttribute.RECEIVE_PSN);
    }

    /** First packet sequence number sent, 24 bits. */
    public int sendPsn() {
        return value(QueuePairAttribute.SEND_PSN);
    }

    /** READs and atomics the peer may have outstanding here. */
    public int maxDestinationReadAtomic() {
        return value(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
    }

    /** READs and atomics to have outstanding at the peer. */
    public int maxReadAtomic() {
        return value(QueuePairAttribute.MAX_READ_ATOMIC);
    }

    /** Code of the delay that the peer is asked for when no receive is posted here; see ibv_modify_qp(3). */
    public int minRnrTimer() {
        return value(QueuePairAttribute.MIN_RNR_TIMER);
    }

    /** Time to wait for an acknowledgement: 4.096 microseconds times 2 to this power; 0 waits for ever. */
    public int timeout() {
        return value(QueuePairAttribute.TIMEOUT);
    }

    /** Retransmissions before the request fails with RETRY_EXCEEDED. Some devices take 7 for "without end". */
    public int retryCount() {
        return value(QueuePairAttribute.RETRY_COUNT);
    }

    /** Retries after "receiver not ready"; 7 means without end. */
    public int rnrRetry() {
        return value(QueuePairAttribute.RNR_RETRY);
    }

    private int value(QueuePairAttribute attribute) {
        return values.getOrDefault(attribute, 0);
    }

    @Override
    public String toString() {
        return "to " + state + " with " + mask;
    }

    /** Collects attributes; each setter adds its attribute to the mask. */
    public static final class Builder {
        private final EnumSet<QueuePairAttribute> mask = EnumSet.of(QueuePairAttribute.STATE);
        private final QueuePairStateCode state;
        private final EnumMap<QueuePairAttribute, Integer> values = new EnumMap<>(QueuePairAttribute.class);
        private int accessFlags;
        private Mtu pathMtu = Mtu.MTU_256;
        private @Nullable AddressVector addressVector;
        private @Nullable ConnectionKey connectionKey;

        private Builder(QueuePairStateCode state) {
            this.state = state;
        }

        public Builder accessFlags(Set<AccessFlag> flags) {
            mask.add(QueuePairAttribute.ACCESS_FLAGS);
            accessFlags = AccessFlag.bits(flags);
            return this;
        }

        public Builder pathMtu(Mtu mtu) {
            mask.add(QueuePairAttribute.PATH_MTU);
            pathMtu = mtu;
            return this;
        }

        public Builder addressVector(AddressVector vector) {
            mask.add(QueuePairAttribute.ADDRESS_VECTOR);
            addressVector = vector;
            return this;
        }

        /** {@link QueuePairAttributes#connectionKey}; adds nothing to the mask. */
        public Builder connectionKey(@Nullable ConnectionKey key) {
            connectionKey = key;
            return this;
        }

        public Builder port(int port) {
            return set(QueuePairAttribute.PORT, port);
        }

        public Builder pkeyIndex(int index) {
            return set(QueuePairAttribute.PKEY_INDEX, index);
        }

        public Builder destinationNumber(int number) {
            return set(QueuePairAttribute.DESTINATION_NUMBER, number);
        }

        public Builder receivePsn(int psn) {
            return set(QueuePairAttribute.RECEIVE_PSN, psn);
        }

        public Builder sendPsn(int psn) {
            return set(QueuePairAttribute.SEND_PSN, psn);
        }

        public Builder maxDestinationReadAtomic(int count) {
            return set(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC, count);
        }

        public Builder maxReadAtomic(int count) {
            return set(QueuePairAttribute.MAX_READ_ATOMIC, count);
        }

        public Builder minRnrTimer(int code) {
            return set(QueuePairAttribute.MIN_RNR_TIMER, code);
        }

        public Builder timeout(int exponent) {
            return set(QueuePairAttribute.TIMEOUT, exponent);
        }

        public Builder retryCount(int count) {
            return set(QueuePairAttribute.RETRY_COUNT, count);
        }

        public Builder rnrRetry(int count) {
            return set(QueuePairAttribute.RNR_RETRY, count);
        }

        private Builder set(QueuePairAttribute attribute, int value) {
            mask.add(attribute);
            values.put(attribute, value);
            return this;
        }

        public QueuePairAttributes build() {
            return new QueuePairAttributes(this);
        }
    }
}
