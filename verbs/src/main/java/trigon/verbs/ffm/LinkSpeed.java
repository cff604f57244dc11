package trigon.verbs.ffm;

import java.util.function.IntSupplier;

/** Data rate of a port, from the codes in {@code struct ibv_port_attr}; see {@code ibv_query_port(3)}. */
final class LinkSpeed {

    /** The fastest that fits into {@code active_speed}: it stands for XDR, too, whose code has nine bits. */
    private static final int NDR = 128;

    private LinkSpeed() {}

    /**
     * Lanes times data rate per lane.
     *
     * @param activeWidth code of the number of lanes
     * @param activeSpeed code of the signalling rate of one lane
     * @param kernels what the kernel says, asked for where the codes may say less; 0: nothing
     * @return Mbit/s; 0 if nobody knows
     */
    static int megabitsPerSecond(int activeWidth, int activeSpeed, IntSupplier kernels) {
        int coded = lanes(activeWidth) * laneMegabitsPerSecond(activeSpeed);
        return coded == 0 || activeSpeed == NDR ? Math.max(coded, kernels.getAsInt()) : coded;
    }

    private static int lanes(int activeWidth) {
        return switch (activeWidth) {
            case 1 -> 1;
            case 2 -> 4;
            case 4 -> 8;
            case 8 -> 12;
            case 16 -> 2;
            default -> 0;
        };
    }

    private static int laneMegabitsPerSecond(int activeSpeed) {
        return switch (activeSpeed) {
            case 1 -> 2_500; // SDR
            case 2 -> 5_000; // DDR
            case 4, 8 -> 10_000; // QDR, FDR10
            case 16 -> 14_000; // FDR
            case 32 -> 25_000; // EDR
            case 64 -> 50_000; // HDR
            case NDR -> 100_000;
            default -> 0;
        };
    }
}
