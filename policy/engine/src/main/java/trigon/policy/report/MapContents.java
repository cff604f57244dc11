package trigon.policy.report;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import trigon.policy.map.MapAccess;
import trigon.policy.map.MapSet;
import trigon.policy.map.PolicyMap;

/** Samples the maps of a set for a report. */
public final class MapContents {

    private static final int MAX_ENTRIES = 64;
    private static final int MAX_VALUE_BYTES = 256;

    private MapContents() {}

    /** The first entries of each map that programs may write; values that are zero, and long ones, are left out. */
    public static List<PolicyReport.MapContent> of(String owner, MapSet maps) {
        List<PolicyReport.MapContent> contents = new ArrayList<>();
        for (PolicyMap map : maps.all()) {
            if (!map.spec().readOnly()) {
                contents.add(new PolicyReport.MapContent(
                        owner,
                        map.spec().name(),
                        map.spec().type().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                        entries(map)));
            }
        }
        return contents;
    }

    private static List<PolicyReport.Entry> entries(PolicyMap map) {
        List<PolicyReport.Entry> entries = new ArrayList<>();
        if (map.spec().valueBytes() > MAX_VALUE_BYTES) {
            return entries;
        }
        MapAccess access = new MapAccess(map);
        for (byte[] key : access.keys()) {
            for (byte[] value : access.getAll(key)) {
                if (entries.size() < MAX_ENTRIES && !isZero(value)) {
                    HexFormat hex = HexFormat.of();
                    entries.add(new PolicyReport.Entry(hex.formatHex(key), hex.formatHex(value)));
                }
            }
        }
        return entries;
    }

    private static boolean isZero(byte[] value) {
        for (byte each : value) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }
}
