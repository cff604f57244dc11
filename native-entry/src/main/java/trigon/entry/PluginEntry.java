package trigon.entry;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.file.ConfigLoader;
import trigon.config.setting.ConfigException;
import trigon.config.setting.OneSidedUse;
import trigon.entry.host.AbiCheck;
import trigon.entry.host.CallFailures;
import trigon.entry.host.HostBlock;
import trigon.entry.host.InstallationException;
import trigon.entry.log.NcclLog;
import trigon.entry.log.NcclLogger;
import trigon.entry.net.NetBlock;
import trigon.entry.net.NetFacts;
import trigon.entry.net.UpcallTable;
import trigon.entry.onesided.OneSidedBlock;
import trigon.entry.onesided.OneSidedState;
import trigon.entry.onesided.OneSidedUpcalls;
import trigon.entry.tuner.PolicyAccess;
import trigon.entry.tuner.TunerBlock;
import trigon.entry.tuner.TunerUpcalls;
import trigon.entry.warmup.WarmUp;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.onesided.OneSided;
import trigon.software.device.SoftwareVerbs;
import trigon.system.NativeFunction;
import trigon.trace.ProcessTrace;
import trigon.trace.Recorder;
import trigon.transport.request.LaneFunctions;
import trigon.transport.request.RequestTable;

/**
 * Java's side of the library: C makes one object of it per process, and has each kind of plugin made when NCCL first
 * wants it. One call at a time, each on a thread that ends afterwards.
 */
public final class PluginEntry {

    private final long start = System.nanoTime();
    private final int pageBytes;
    private final CallFailures failures;
    private final Gpus gpus;
    private final PolicyAccess policy;
    private boolean isRecording;
    private @Nullable NetPlugin plugin;
    private @Nullable PluginConfig config;

    /**
     * The parts that all kinds of plugins share: the log, and the handling of exceptions.
     *
     * @param hostBlock address of C's {@code host_block}
     * @throws InstallationException where the library and the jars do not fit together
     */
    public PluginEntry(long hostBlock) {
        HostBlock host = HostBlock.read(hostBlock);
        NcclLogger nccl = new NcclLogger(host.logLine());
        NcclLog.connect(nccl, System.getenv());
        AbiCheck.check(HostBlock.expectedFacts(), host.facts());
        pageBytes = host.pageBytes();
        gpus = new Gpus(host.vendor());
        policy = new PolicyAccess(host.vendor());
        failures = new CallFailures(nccl);
        // not a field: the log must be connected before the first logger is asked for
        LoggerFactory.getLogger(PluginEntry.class)
                .info(
                        "started on Java {} ({}) for {}",
                        Runtime.version(),
                        System.getProperty("java.vm.name"),
                        host.vendor().library());
    }

    /**
     * Makes the net plugin, and fills C's table of its calls. Once.
     *
     * @param netBlock address of C's {@code net_block}
     * @return the code of an {@code ncclResult_t}; unless it is success, the log says why and no call of the net
     * plugin's
     *     comes to Java
     */
    public int bindNet(long netBlock) {
        try {
            NetBlock net = NetBlock.read(netBlock);
            AbiCheck.check(NetFacts.expected(), net.facts());
            record(net.trace(), net.sampleConnections());
            policy.attach(net.policy());
            NetPluginFactory factory = factory();
            SoftwareVerbs.moveDataBy(net.softwareFunctions());
            NetPlugin created = factory.create(System.getenv(), tables(net));
            plugin = created;
            config = factory.config().orElse(null);
            factory.config().ifPresent(settings -> publish(new OneSidedState(net.oneSided()), settings));
            NativeFunction warmUp = NativeFunction.at(net.warmUp());
            UpcallTable.fill(net.upcalls(), net.upcallCount(), created, failures, () -> (int) warmUp.call());
            WarmUp.begin(factory::warmUpNodes);
            LoggerFactory.getLogger(PluginEntry.class)
                    .info("init took {} ms since Java runs", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init", thrown);
        }
    }

    private static RequestTable tables(NetBlock net) {
        return RequestTable.of(net.requestTable(), net.memoryTable(), LaneFunctions.at(net.laneFunctions()));
    }

    /** Begins the trace, if there is to be one; and lets the policy hear of events, by it or without. Once. */
    private void record(long table, long sampleConnections) {
        if (isRecording) {
            return;
        }
        isRecording = true;
        NativeFunction sample = NativeFunction.at(sampleConnections);
        Optional<Recorder> trace = ProcessTrace.beginIfWanted(System.getenv(), table, () -> (int) sample.call());
        policy.onEvents(listener -> {
            if (trace.isPresent()) {
                trace.get().listen(listener);
            } else {
                Recorder.listening(table, listener);
            }
        });
    }

    /** Hides one-sided calls that are wanted in vain from the library; the log says why. */
    private void publish(OneSidedState state, PluginConfig settings) {
        Optional<String> obstacle = gpus.oneSidedObstacle(settings);
        state.publishOn(obstacle.isEmpty());
        obstacle.filter(_ -> settings.value(Settings.ONE_SIDED) == OneSidedUse.ON)
                .ifPresent(why -> LoggerFactory.getLogger(PluginEntry.class).warn("{}", why));
    }

    /**
     * Makes one-sided communication, and fills C's table of its calls. Once, after {@link #bindNet}.
     *
     * @param oneSidedBlock address of C's {@code one_sided_block}
     * @return as of {@link #bindNet}
     */
    public int bindOneSided(long oneSidedBlock) {
        try {
            OneSidedBlock block = OneSidedBlock.read(oneSidedBlock);
            AbiCheck.check(OneSidedBlock.expectedFacts(), block.facts());
            NetPlugin net = plugin;
            if (net == null) {
                throw new IllegalStateException("there is no net plugin");
            }
            PluginConfig known = config;
            PluginConfig settings =
                    known == null ? ConfigLoader.load(System.getenv(), HostName.ofThisMachine()) : known;
            gpus.oneSidedObstacle(settings).ifPresent(why -> {
                throw new ConfigException(why);
            });
            Duration limit = settings.value(Settings.HANDSHAKE_TIMEOUT).plus(settings.value(Settings.PEER_TIMEOUT));
            OneSided oneSided = new OneSided(net, gpus.memory(), System::nanoTime, limit);
            OneSidedUpcalls.fill(block, oneSided, failures);
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init of one-sided communication", thrown);
        }
    }

    /**
     * Makes the tuner, and fills C's table of its calls. Once.
     *
     * @param tunerBlock address of C's {@code tuner_block}
     * @return as of {@link #bindNet}
     */
    public int bindTuner(long tunerBlock) {
        try {
            TunerBlock tuner = TunerBlock.read(tunerBlock);
            AbiCheck.check(TunerBlock.expectedFacts(), tuner.facts());
            record(tuner.trace(), tuner.sampleConnections());
            policy.attach(tuner.state());
            if (!policy.isOpen()) {
                policy.open(ConfigLoader.load(System.getenv(), HostName.ofThisMachine()));
            }
            TunerUpcalls.fill(tuner, policy, failures);
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init of the tuner", thrown);
        }
    }

    /**
     * Finds Trigon's own, or the one among the jars that takes its place.
     *
     * @throws InstallationException where the installation is incomplete
     */
    private NetPluginFactory factory() {
        // not the thread's context class loader: NCCL's threads have none
        List<NetPluginFactory> factories =
                ServiceLoader.load(NetPluginFactory.class, NetPluginFactory.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        return switch (factories.size()) {
            case 1 -> factories.getFirst();
            case 0 -> new TransportFactory(pageBytes, gpus, policy);
            default ->
                throw new InstallationException("several transports among the jars (%s): remove them, or all but one"
                        .formatted(factories.stream()
                                .map(factory -> factory.getClass().getName())
                                .toList()));
        };
    }
}
