package trigon.policy.map;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import trigon.policy.map.MapSpec.MapType;

/**
 * The maps that the host shares with a policy of NCCLbpf's, laid out as its headers have them. A map of such a name
 * with another layout is the policy's own. Any thread.
 */
public final class NcclBpfMaps {

    /** The map into which the host writes how long collectives took. Each rank has measured its own. */
    public static final String TELEMETRY_MAP = "telemetry_map";

    /** The map in which programs find what was set for them. */
    private static final String CONFIG_MAP = "config_map";

    private static final int COLLECTIVES = 5;

    private static final MapLayout TELEMETRY = new MapLayout(MapType.HASH, 8, 48);
    private static final MapLayout CONFIG = new MapLayout(MapType.ARRAY, 4, 24);

    // what NCCLbpf sets if nobody says otherwise
    private static final long TARGET_P99_NANOS = 150;
    private static final int MIN_CHANNELS = 1;
    private static final int MAX_CHANNELS = 8;
    private static final int STEP = 1;

    /** Offset of the average in a value of telemetry, which begins with the last time, in nanoseconds. */
    public static final int AVERAGE = 8;

    /** Offset of the 99th percentile in a value of telemetry, in nanoseconds. */
    public static final int P99 = 16;

    private static final int LAST_BYTES = 24;
    private static final int SAMPLES = 32;

    private record MapLayout(MapType type, int keyBytes, int valueBytes) {
        boolean isOf(MapSpec spec) {
            return spec.type() == type && spec.keyBytes() == keyBytes && spec.valueBytes() == valueBytes;
        }
    }

    private NcclBpfMaps() {}

    /** The map of the times of collectives, if a policy has one. */
    public static Optional<PolicyMap> telemetry(MapSet maps) {
        return maps.find(TELEMETRY_MAP).filter(map -> TELEMETRY.isOf(map.spec()));
    }

    /** Puts what NCCLbpf sets by default where a policy looks for it. */
    public static void configure(List<PolicyMap> maps) throws MapException {
        for (PolicyMap map : maps) {
            if (map.spec().name().equals(CONFIG_MAP) && CONFIG.isOf(map.spec())) {
                for (int collective = 0;
                        collective < Math.min(COLLECTIVES, map.spec().entries());
                        collective++) {
                    new MapAccess(map).put(buffer(4).putInt(collective).array(), configuration());
                }
            }
        }
    }

    private static byte[] configuration() {
        return buffer(CONFIG.valueBytes())
                .putLong(TARGET_P99_NANOS)
                .putInt(MIN_CHANNELS)
                .putInt(MAX_CHANNELS)
                .putInt(STEP)
                .array();
    }

    /**
     * Notes how long a collective took. The average is over some eight, the 99th percentile a rough one that decays.
     * What a program writes to the same entry meanwhile may be lost.
     *
     * @throws MapException if the map is full
     */
    public static void record(PolicyMap telemetry, int collective, int nodes, long bytes, long nanos)
            throws MapException {
        byte[] key =
                buffer(TELEMETRY.keyBytes()).putInt(collective).putInt(nodes).array();
        MapAccess access = new MapAccess(telemetry);
        ByteBuffer value = ByteBuffer.wrap(access.get(key).orElseGet(() -> new byte[TELEMETRY.valueBytes()]))
                .order(ByteOrder.LITTLE_ENDIAN);
        long average = value.getLong(AVERAGE);
        long p99 = value.getLong(P99);
        int samples = value.getInt(SAMPLES);
        value.putLong(0, nanos);
        value.putLong(AVERAGE, average == 0 ? nanos : (average * 7 + nanos) / 8);
        value.putLong(P99, nanos > p99 ? nanos : (p99 * 99 + nanos) / 100);
        value.putLong(LAST_BYTES, bytes);
        value.putInt(SAMPLES, samples == -1 ? samples : samples + 1);
        access.put(key, value.array());
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
