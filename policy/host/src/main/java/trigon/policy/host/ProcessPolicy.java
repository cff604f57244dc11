package trigon.policy.host;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.Settings;
import trigon.config.setting.ConfigException;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.PolicyService;
import trigon.nccl.TunerAdvice;
import trigon.policy.PolicyException;
import trigon.policy.PolicyFile;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.VerifiedPolicy;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.report.PolicyReport;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.VerifierLimits;

/**
 * The policy of this process. A thread of its own reads the file, tries what it finds, and looks at it again and again.
 * Programs of connections and events change with the file; a communicator keeps the tuner that it began with.
 * Thread-safe.
 */
public final class ProcessPolicy implements PolicyService {

    private static final Logger log = LoggerFactory.getLogger(ProcessPolicy.class);

    /** Between lines of the log that say what is waited for. */
    private static final Duration SAID_AFTER = Duration.ofSeconds(30);

    /** A file system in memory, see shm_overview(7). */
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /** Ranks come to their tuner within the time that NCCL's search for rings takes, less than a second. */
    private static final Duration FOR_ALL_RANKS = Duration.ofMillis(Long.getLong("trigon.agreement.millis", 5000));

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

    private final Supplier<MapSet> mapsOfCommunicator;
    private final Executor background;
    private final PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);
    private final PolicyHost shared = new PolicyHost(loader, new MapSet());
    private final AdvisoryTuner advisory = new AdvisoryTuner(shared, new Agreement(SHARED_MEMORY, FOR_ALL_RANKS));
    private final CountDownLatch looked = new CountDownLatch(1);
    private final Set<CommunicatorTuner> tuners = ConcurrentHashMap.newKeySet();
    private final CommunicatorVersions ofCommunicators = new CommunicatorVersions();
    private final EventAssembly events = new EventAssembly(new EventPrograms(shared, tuners));

    // set once, before there is another thread
    private volatile @Nullable PolicyFile file;
    private volatile boolean isRequired;
    private volatile Consumer<Boolean> wantsEvents = _ -> {};

    // of the file's thread
    private final Publication publication = new Publication(SHARED_MEMORY);
    private String refused = "";

    /** A policy that watches its file on a thread of its own. */
    public ProcessPolicy() {
        this(
                MapSet::new,
                watch -> Thread.ofPlatform().name("trigon-policy").daemon().start(watch));
    }

    /**
     * A policy with the tests' maps and thread.
     *
     * @param mapsOfCommunicator makes the maps for each communicator
     * @param background runs what watches the file, on a thread of its own
     */
    ProcessPolicy(Supplier<MapSet> mapsOfCommunicator, Executor background) {
        this.mapsOfCommunicator = mapsOfCommunicator;
        this.background = background;
    }

    @Override
    public void open(@Nullable Path path, boolean required, Consumer<Boolean> toTell) {
        isRequired = required;
        wantsEvents = toTell;
        if (path == null) {
            log.warn(
                    "{} is required, but {} names none: communicators fail",
                    Settings.POLICY_MODE,
                    Settings.POLICY_FILE);
            toTell.accept(false);
        } else {
            file = new PolicyFile(path, loader);
            watch(path);
        }
    }

    /** A process that gets no thread more has its policy all the same: the other ranks decide by it. */
    private void watch(Path path) {
        try {
            background.execute(
                    new FileWatch(path, BETWEEN_LOOKS, this::pollFile, () -> publication.publish(reported())));
        } catch (OutOfMemoryError e) {
            log.warn("{} is not watched for new versions: cannot start a thread: {}", path, e);
            pollFile();
        }
    }

    @Override
    public void heard(ByteBuffer records) {
        events.heard(records);
    }

    @Override
    public void caughtUp(long since) {
        events.caughtUp(since);
    }

    @Override
    public ConnectionAdvice connections() {
        return new ConnectionPolicy(shared.slot(ProgramType.CONNECT), this::current, ofCommunicators);
    }

    @Override
    public @Nullable TunerAdvice forCommunicator(long id, int ranks, int nodes) {
        PolicyCommunicator communicator = new PolicyCommunicator(id, ranks, nodes);
        Optional<VerifiedPolicy> version = ofCommunicators.of(communicator.id(), current());
        if (version.isEmpty()) {
            return none();
        }
        List<VerifiedProgram> programs = Stream.of(ProgramType.TUNER, ProgramType.NCCLBPF, ProgramType.CHUNK)
                .flatMap(type -> version.get().program(type).stream())
                .toList();
        if (programs.isEmpty()) {
            return null;
        }
        boolean isAlone = communicator.ranks() == 1;
        boolean agrees = !isAlone && programs.stream().anyMatch(VerifiedProgram::advisory);
        PolicyHost host;
        try {
            host = host(version.get()); // before the ranks agree: where one takes no part, NCCL decides on all of them
        } catch (PolicyException e) {
            if (!isAlone && !agrees && !ofCommunicators.withdraw(communicator.id())) {
                throw new ConfigException(
                        ("%s fails, since its policy cannot be loaded: %s; peers have been told that it decides, and"
                                        + " NCCL would hang: mend that, or unset %s on all ranks")
                                .formatted(communicator, e.summary(), Settings.POLICY_FILE));
            }
            log.warn("{}: NCCL decides, since its policy cannot be loaded: {}", communicator, e.summary());
            return none();
        }
        Optional<DecisionTable> table = agrees ? advisory.agree(communicator, version.get()) : Optional.empty();
        if (agrees && table.isEmpty()) {
            return null;
        }
        log.info("communicator 0x{}: policy {}", Long.toHexString(communicator.id()), version.get());
        CommunicatorTuner tuner = new CommunicatorTuner(
                communicator,
                host,
                table.<Decisions>map(each -> each).orElseGet(() -> Decisions.byProgram(host, communicator)),
                this::closed);
        tuners.add(tuner);
        return tuner;
    }

    /** Its events go to no program any more. */
    private void closed(CommunicatorTuner tuner) {
        tuners.remove(tuner);
        ofCommunicators.forget(tuner.communicator().id());
    }

    /** NCCL decides, if it may. */
    private @Nullable TunerAdvice none() {
        if (isRequired) {
            throw new ConfigException("%s is required, and there is none: the log above says why; mend it, or set %s"
                    .formatted(Settings.POLICY_MODE, "TRIGON_POLICY_MODE=optional"));
        }
        return null;
    }

    /** Makes a host for a communicator, on maps of the communicator's own. */
    private PolicyHost host(VerifiedPolicy version) throws PolicyException {
        PolicyHost host = new PolicyHost(loader, mapsOfCommunicator.get());
        var _ = host.replace(version);
        return host;
    }

    private Optional<VerifiedPolicy> current() {
        PolicyFile policy = file;
        if (policy == null) {
            return Optional.empty();
        }
        awaitFirstLook(policy.path());
        return policy.current();
    }

    /**
     * However long that takes: loading is bounded by work, and on a slow machine a rank that gives up would decide
     * otherwise than the others, which wait for it in NCCL's {@code init} as they do for any slow rank.
     */
    private void awaitFirstLook(Path path) {
        boolean interrupted = false;
        while (looked.getCount() > 0) {
            try {
                if (!looked.await(SAID_AFTER.toSeconds(), TimeUnit.SECONDS)) {
                    log.warn(
                            "the policy {} has not been loaded for {} s, and what it decides about waits: is its file"
                                    + " system there?",
                            path,
                            SAID_AFTER.toSeconds());
                }
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** On the thread of the file. */
    private void pollFile() {
        PolicyFile policy = file;
        try {
            if (policy != null) {
                take(policy, policy.refresh());
            }
        } catch (RuntimeException | Error e) {
            log.warn("the policy cannot be loaded: {}", e.toString(), e);
        } finally {
            looked.countDown();
            wantsEvents.accept(EventPrograms.areWantedBy(shared));
        }
    }

    private PolicyReport reported() {
        List<PolicyReport.Stopped> stopped = new ArrayList<>(stopped("process", shared));
        List<PolicyReport.Tuner> reports = new ArrayList<>();
        List<PolicyReport.MapContent> maps = new ArrayList<>(PolicyReport.MapContent.ofAll("process", shared.maps()));
        for (CommunicatorTuner tuner : tuners) {
            PolicyReport.Tuner report = tuner.report();
            reports.add(report);
            stopped.addAll(stopped(report.communicator(), tuner.host()));
            maps.addAll(PolicyReport.MapContent.ofAll(
                    report.communicator(), tuner.host().maps()));
        }
        PolicyFile policy = file;
        Optional<VerifiedPolicy> version = policy == null ? Optional.empty() : policy.current();
        return new PolicyReport(
                policy == null ? "" : policy.path().toString(),
                version.map(VerifiedPolicy::toString).orElse(""),
                version.map(VerifiedPolicy::digest).orElse(""),
                refused,
                stopped,
                reports,
                maps);
    }

    private static List<PolicyReport.Stopped> stopped(String of, PolicyHost host) {
        return host.faults().stream()
                .map(each -> new PolicyReport.Stopped(of, each.type().section(), each.runs()))
                .toList();
    }

    private void take(PolicyFile policy, PolicyFile.Outcome outcome) {
        switch (outcome) {
            case PolicyFile.Outcome.Unchanged() -> {}
            case PolicyFile.Outcome.Refused(String reason) -> {
                refused = reason;
                log.warn(
                        "policy refused: {}; {}",
                        reason,
                        policy.current()
                                .map(version -> "the version before stays: " + version)
                                .orElse("NCCL's own choices stand"));
            }
            case PolicyFile.Outcome.Accepted(VerifiedPolicy version) -> {
                refused = "";
                take(version);
            }
        }
    }

    private void take(VerifiedPolicy version) {
        try {
            var _ = shared.replace(version);
            log.info(
                    "policy {}{}",
                    version,
                    tuners.isEmpty() ? "" : ": for connections from now on, for tuners of new communicators");
        } catch (PolicyException e) {
            log.warn("policy {}: its programs of connections and events stay as they were: {}", version, e.summary());
        }
    }
}
