package trigon.entry.net;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.function.IntSupplier;
import trigon.entry.host.CallFailures;
import trigon.entry.host.UpcallStubs;
import trigon.nccl.NetPlugin;

/**
 * Fills C's table ({@code struct net_upcalls} in {@code net/upcalls.h}) with upcall stubs, which live as long as the
 * process.
 */
public final class UpcallTable {

    private static final int MAX_ARGUMENTS = 6;
    private static final int ARGUMENTS_OF_TEST = 3;

    private UpcallTable() {}

    /**
     * Fills the table, and has C call every entry often before the calls go anywhere.
     *
     * <p>The JDK gives a handle that is called often code of its own, outside of the target and of what that catches
     * ({@code java.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD}, 127 calls), and links it in the call after that.
     * Where there is no memory left for it by then, the process ends. So it happens here.
     *
     * @param address of the table
     * @param entries that C expects
     * @param plugin where the calls go
     * @param failures where what they throw goes
     * @param warmUp calls each entry often enough, with arguments that a {@link WarmUpPlugin} takes
     * @throws trigon.entry.host.InstallationException where Java has more or fewer
     */
    public static void fill(long address, long entries, NetPlugin plugin, CallFailures failures, IntSupplier warmUp) {
        ControlUpcalls control = new ControlUpcalls(new WarmUpPlugin(), failures);
        DataPathUpcalls dataPath = new DataPathUpcalls(new WarmUpPlugin(), failures);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        UpcallStubs.fill(
                address,
                entries,
                List.of(
                        UpcallStubs.stub(lookup, control, "call", MAX_ARGUMENTS, Arena.global()),
                        UpcallStubs.stub(lookup, dataPath, "isend", MAX_ARGUMENTS, Arena.global()),
                        UpcallStubs.stub(lookup, dataPath, "irecv", MAX_ARGUMENTS, Arena.global()),
                        UpcallStubs.stub(lookup, dataPath, "test", ARGUMENTS_OF_TEST, Arena.global())));
        var _ = warmUp.getAsInt();
        control.replacePlugin(plugin);
        dataPath.replacePlugin(plugin);
    }
}
