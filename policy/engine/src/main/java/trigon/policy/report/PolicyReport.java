package trigon.policy.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import trigon.policy.map.MapAccess;
import trigon.policy.map.MapSet;
import trigon.policy.map.PolicyMap;

/**
 * A process's report on its policy.
 *
 * @param file where it comes from
 * @param version what is current, as a line; empty: none
 * @param digest SHA-256 of that version; empty: none
 * @param refused why the version that was found last is refused; empty: it is not
 * @param stopped the programs of which runs were stopped
 * @param tuners the communicators that a policy decides for
 * @param maps what is in maps
 */
public record PolicyReport(
        String file,
        String version,
        String digest,
        String refused,
        List<Stopped> stopped,
        List<Tuner> tuners,
        List<MapContent> maps) {

    /**
     * Programs that were stopped.
     *
     * @param of whose they are: of a communicator, or of the process
     * @param section what kind of program it is
     * @param runs how many were stopped
     */
    public record Stopped(String of, String section, long runs) {}

    /**
     * A communicator and the counts of its decisions.
     *
     * @param communicator what it is, with its ranks and nodes
     * @param digest of the version that it began with
     * @param decided by the policy
     * @param left to NCCL by the policy
     * @param impossible as NCCL cannot use the algorithm with the protocol
     */
    public record Tuner(String communicator, String digest, long decided, long left, long impossible) {}

    /**
     * A map and a part of its entries.
     *
     * @param of whose it is: a communicator, or the process
     * @param name of the map
     * @param type of the map
     * @param entries some of what is in it
     */
    public record MapContent(String of, String name, String type, List<Entry> entries) {

        private static final int MAX_ENTRIES = 64;
        private static final int MAX_VALUE_BYTES = 256;

        public MapContent {
            entries = List.copyOf(entries);
        }

        /** The first entries of each map that programs may write; zeros and long values are left out. */
        public static List<MapContent> ofAll(String owner, MapSet maps) {
            return maps.all().stream()
                    .filter(map -> !map.spec().readOnly())
                    .map(map -> new MapContent(
                            owner,
                            map.spec().name(),
                            map.spec().type().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                            entries(map)))
                    .toList();
        }

        private static List<Entry> entries(PolicyMap map) {
            List<Entry> entries = new ArrayList<>();
            if (map.spec().valueBytes() > MAX_VALUE_BYTES) {
                return entries;
            }
            byte[] zeros = new byte[map.spec().valueBytes()];
            HexFormat hex = HexFormat.of();
            MapAccess access = new MapAccess(map);
            for (byte[] key : access.keys()) {
                for (byte[] value : access.getAll(key)) {
                    if (entries.size() < MAX_ENTRIES && !Arrays.equals(value, zeros)) {
                        entries.add(new Entry(hex.formatHex(key), hex.formatHex(value)));
                    }
                }
            }
            return entries;
        }
    }

    /** Key and value in hexadecimal, as they lie in memory. */
    public record Entry(String key, String value) {}

    public PolicyReport {
        stopped = List.copyOf(stopped);
        tuners = List.copyOf(tuners);
        maps = List.copyOf(maps);
    }
}
