package trigon.entry;

import org.slf4j.LoggerFactory;
import trigon.config.ConfigLoader;
import trigon.entry.host.AbiCheck;
import trigon.entry.host.CallFailures;
import trigon.entry.host.HostBlock;
import trigon.entry.host.NativeFunction;
import trigon.entry.log.NcclLog;
import trigon.entry.log.NcclLogger;
import trigon.entry.net.DataPathStubs;
import trigon.entry.net.NetBlock;
import trigon.entry.net.NetFacts;
import trigon.entry.net.UpcallTable;
import trigon.entry.policy.PolicyState;
import trigon.entry.policy.ProcessPolicy;
import trigon.entry.tuner.TunerBlock;
import trigon.entry.tuner.TunerFacts;
import trigon.entry.tuner.TunerStubs;
import trigon.entry.warmup.WarmUp;
import trigon.net.NcclResult;
import trigon.net.NetPlugin;
import trigon.transport.request.RequestTable;

/**
 * Java's side of the library: C makes one object of it per process, and has each kind of plugin made when NCCL first
 * wants it. One call at a time, each on a thread that ends afterwards.
 */
public final class PluginEntry {

    private final int pageBytes;
    private final CallFailures failures;
    private final ProcessPolicy policy = new ProcessPolicy();

    /**
     * What all kinds of plugins share: the log, and what is said of exceptions.
     *
     * @param hostBlock address of C's {@code host_block}
     * @throws trigon.entry.host.InstallationException where the library and the jars do not fit together
     */
    public PluginEntry(long hostBlock) {
        HostBlock host = HostBlock.read(hostBlock);
        NcclLogger nccl = new NcclLogger(host.logLine());
        NcclLog.connect(nccl, System.getenv());
        AbiCheck.check(HostBlock.expectedFacts(), host.facts());
        pageBytes = host.pageBytes();
        failures = new CallFailures(nccl);
        // not a field: the log must be connected before the first logger is asked for
        LoggerFactory.getLogger(PluginEntry.class)
                .info("started on Java {} ({})", Runtime.version(), System.getProperty("java.vm.name"));
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
            ProcessTrace.beginIfWanted(System.getenv(), net.trace(), new NativeFunction(net.sampleConnections()));
            policy.tell(new PolicyState(net.policy()));
            NetPluginFactory factory = NetPluginFactories.find(pageBytes, policy);
            NetPlugin plugin = factory.create(System.getenv(), RequestTable.of(net.requestTable()));
            DataPathStubs dataPath = UpcallTable.fill(
                    net.upcalls(), net.upcallCount(), plugin, failures, new NativeFunction(net.warmUp()));
            WarmUp.begin(factory::warmUpNodes, dataPath, failures);
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init", thrown);
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
            AbiCheck.check(TunerFacts.expected(), tuner.facts());
            policy.tell(new PolicyState(tuner.state()));
            if (!policy.isOpen()) {
                policy.open(ConfigLoader.load(System.getenv(), HostName.ofThisMachine()));
            }
            TunerStubs.fill(tuner, policy, failures);
            return NcclResult.SUCCESS.code();
        } catch (Throwable thrown) {
            return failures.report("init of the tuner", thrown);
        }
    }
}
