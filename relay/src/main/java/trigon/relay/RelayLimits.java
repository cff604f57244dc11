package trigon.relay;

import java.time.Duration;

/**
 * The limits of a relay.
 *
 * @param circuits open at the same time, those that connect included
 * @param bytesPerSecond passed on in all; 0: no limit
 * @param strangers connections that have not been admitted, at the same time
 * @param strangersOfOneAddress of these, from one address
 * @param requestTime how long a connection may take to say what it wants
 * @param connectTime longest time to connect to the next hop
 * @param spin how long it looks for more before it sleeps
 */
public record RelayLimits(
        int circuits,
        long bytesPerSecond,
        int strangers,
        int strangersOfOneAddress,
        Duration requestTime,
        Duration connectTime,
        Duration spin) {

    /** Bytes of each of the two slots of a circuit. */
    public static final int SLOT_BYTES = 32 << 10;

    /** 1024 circuits, 64 MiB. */
    public static final RelayLimits DEFAULT =
            new RelayLimits(1024, 0, 256, 64, Duration.ofSeconds(5), Duration.ofSeconds(8), Duration.ZERO);

    /** The same with another number of circuits. */
    public RelayLimits withCircuits(int other) {
        return new RelayLimits(other, bytesPerSecond, strangers, strangersOfOneAddress, requestTime, connectTime, spin);
    }

    /** The same with another rate. */
    public RelayLimits withBytesPerSecond(long other) {
        return new RelayLimits(circuits, other, strangers, strangersOfOneAddress, requestTime, connectTime, spin);
    }

    /** The same with another time to look for more. */
    public RelayLimits withSpin(Duration other) {
        return new RelayLimits(
                circuits, bytesPerSecond, strangers, strangersOfOneAddress, requestTime, connectTime, other);
    }
}
