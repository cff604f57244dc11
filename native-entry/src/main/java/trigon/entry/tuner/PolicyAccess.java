package trigon.entry.tuner;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.PolicyMode;
import trigon.config.setting.TuningUse;
import trigon.entry.host.InstallationException;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.PolicyService;
import trigon.nccl.TunerAdvice;
import trigon.system.GpuVendor;
import trigon.trace.RecordListener;

/** The policy of this process, if the settings name one, and C's knowledge of it. Thread-safe. */
public final class PolicyAccess {

    /** The policy's use for NCCL's events. */
    private enum Events {
        UNKNOWN,
        UNWANTED,
        WANTED
    }

    private final GpuVendor vendor;
    private @Nullable PolicyState state;
    private @Nullable Consumer<RecordListener> recorder; // null once it has the listener
    private @Nullable PolicyService service;
    private Events events = Events.UNKNOWN;
    private boolean isOpen;
    private boolean isTuningOff;

    /**
     * Access that has taken no settings.
     *
     * @param vendor of the GPUs; the built-in tuner's rules are for NVIDIA's alone
     */
    public PolicyAccess(GpuVendor vendor) {
        this.vendor = vendor;
    }

    /** Takes the settings, once; and loads the policy, if they name or require one. */
    public synchronized void open(PluginConfig config) {
        if (isOpen) {
            return;
        }
        isOpen = true;
        isTuningOff = vendor != GpuVendor.NVIDIA || config.value(Settings.TUNING) == TuningUse.OFF;
        @Nullable Path file = config.value(Settings.POLICY_FILE).orElse(null);
        boolean required = config.value(Settings.POLICY_MODE) == PolicyMode.REQUIRED;
        if (file != null || required) {
            // not the thread's context class loader: NCCL's threads have none
            service = ServiceLoader.load(PolicyService.class, PolicyAccess.class.getClassLoader())
                    .findFirst()
                    .orElseThrow(() -> new InstallationException(
                            "the settings name a policy, and no jar can run it: install Trigon again"));
            service.open(file, required, this::look);
        } else {
            events = Events.UNWANTED;
        }
        publish();
    }

    /** Tells whether the settings have been taken. */
    public synchronized boolean isOpen() {
        return isOpen;
    }

    /**
     * Tells C from now on whether there is a policy, and whether the built-in tuner decides.
     *
     * @param address of C's {@code struct policy_state}
     */
    public synchronized void attach(long address) {
        state = new PolicyState(address);
        publish();
    }

    /**
     * Takes the source of NCCL's events, which is asked for them once the policy has a program for events.
     *
     * @param toBegin takes the listener, once
     */
    public synchronized void onEvents(Consumer<RecordListener> toBegin) {
        recorder = toBegin;
        publish();
    }

    private synchronized void look(boolean wanted) {
        events = wanted ? Events.WANTED : Events.UNWANTED;
        publish();
    }

    private void publish() {
        Consumer<RecordListener> begin = recorder;
        if (events == Events.WANTED && begin != null && service != null) {
            recorder = null;
            begin.accept(listener(service));
        }
        if (isOpen && state != null) {
            state.publishTuning(isTuningOff);
            state.publishSet(service != null);
            if (events != Events.UNKNOWN) {
                state.publishEvents(events == Events.WANTED);
            }
        }
    }

    private static RecordListener listener(PolicyService service) {
        return new RecordListener() {

            @Override
            public void heard(ByteBuffer records) {
                service.heard(records);
            }

            @Override
            public void caughtUp(long since) {
                service.caughtUp(since);
            }
        };
    }

    /** Advice on connections, by the policy if there is one. */
    public synchronized ConnectionAdvice connections() {
        return service == null ? ConnectionAdvice.NONE : service.connections();
    }

    /** Begins to advise a communicator's tuner; null: NCCL decides. See {@link PolicyService#forCommunicator}. */
    @Nullable
    TunerAdvice begin(long id, int ranks, int nodes) {
        PolicyService policy = service();
        TunerAdvice advice = policy == null ? null : policy.forCommunicator(id, ranks, nodes);
        if (advice != null) {
            countDeciding(1);
        }
        return advice;
    }

    void end(TunerAdvice advice) {
        countDeciding(-1);
        advice.close();
    }

    private synchronized @Nullable PolicyService service() {
        return service;
    }

    private synchronized void countDeciding(int change) {
        if (state != null) {
            state.addDeciding(change);
        }
    }
}
