package trigon.entry;

import java.time.Duration;
import java.util.Map;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.entry.log.NcclLog;
import trigon.entry.log.NcclLogger;
import trigon.transport.CompletionBoard;
import trigon.transport.NcclResult;
import trigon.transport.NetPlugin;

/** Where C enters Java for the first time. */
public final class PluginEntry {

    private static final Duration SIGNALS_INTERVAL = Duration.ofMillis(50);

    private PluginEntry() {}

    /**
     * Starts the Java side. Called once per process, by {@code entry.c}, on a thread that ends afterwards.
     *
     * @param hostBlock address of C's {@code host_block}
     * @return the code of an {@code ncclResult_t}; unless it is success, the log says why and no call comes here again
     */
    public static int boot(long hostBlock) {
        HostBlock host = HostBlock.read(hostBlock);
        NcclLogger nccl = new NcclLogger(host.logLine());
        CallFailures failures = new CallFailures(nccl);
        try {
            Map<String, String> environment = System.getenv();
            NcclLog.connect(nccl, environment);
            AbiCheck.check(host.facts());
            NetPluginFactory factory = PluginWiring.factory(host.pageBytes());
            NetPlugin plugin = factory.create(environment, CompletionBoard.of(host.board()));
            UpcallTable table = UpcallTable.fill(
                    host.upcalls(), host.upcallCount(), plugin, failures, new NativeFunction(host.practise()));
            guardSignals(factory, new NativeFunction(host.guardSignalsAgain()));
            Rehearsal.begin(factory, table.dataPath(), failures);
            logger().info("started on Java {} ({})", Runtime.version(), System.getProperty("java.vm.name"));
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init", thrown);
        }
    }

    /** A signal handler that the program installs after the JVM's must not shut that out: so it is looked for. */
    private static void guardSignals(NetPluginFactory factory, IntSupplier guardAgain) {
        if (guardAgain.getAsInt() != 0) {
            factory.repeat(
                    () -> {
                        var _ = guardAgain.getAsInt();
                    },
                    SIGNALS_INTERVAL);
        }
    }

    /** Not a field: the log must be connected before the first logger is asked for. */
    private static Logger logger() {
        return LoggerFactory.getLogger(PluginEntry.class);
    }
}
