package trigon.entry.host;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import trigon.entry.log.NcclLogger;
import trigon.nccl.NcclResult;
import trigon.system.GpuVendor;
import trigon.system.Memory;

/**
 * The block that C gives to Java at the start ({@code host_block} in {@code host/start.c}), whichever plugin is wanted.
 *
 * @param facts what C was compiled with, by name
 * @param logLine address of {@code int32_t log_line(int32_t level, int64_t subsystems, const char *text)}
 * @param pageBytes size of the kernel's pages
 * @param vendor of the GPUs, whose library calls
 */
public record HostBlock(Map<String, Long> facts, long logLine, int pageBytes, GpuVendor vendor) {

    private static final int WORD = 8;

    /** Reads the block, which C has filled and keeps. */
    public static HostBlock read(long address) {
        return new HostBlock(
                Facts.read(address),
                Memory.getLong(address + 2 * WORD),
                Math.toIntExact(Memory.getLong(address + 3 * WORD)),
                GpuVendor.ofPciNumber(Memory.getLong(address + 4 * WORD)));
    }

    /** The facts that Java was written for. */
    public static Map<String, Long> expectedFacts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("pointer", (long) WORD);
        facts.put("log.warn", (long) NcclLogger.WARN);
        facts.put("log.info", (long) NcclLogger.INFO);
        facts.put("log.trace", (long) NcclLogger.TRACE);
        facts.put("log.init", NcclLogger.INIT);
        facts.put("log.net", NcclLogger.NET);
        facts.put("log.all", NcclLogger.ALL);
        for (GpuVendor vendor : GpuVendor.values()) {
            facts.put("vendor." + vendor.name().toLowerCase(Locale.ROOT), (long) vendor.pciNumber());
        }
        for (NcclResult result : NcclResult.values()) {
            facts.put("result." + result.name().toLowerCase(Locale.ROOT), (long) result.code());
        }
        return facts;
    }
}
