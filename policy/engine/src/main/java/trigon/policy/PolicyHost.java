package trigon.policy;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import trigon.policy.compile.PolicyCode;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/**
 * The policy that is active, and the way to another one. Runs go on while it is replaced: each is made by one policy
 * from its start to its end, and after {@link #replace} has returned, by the new one.
 */
public final class PolicyHost {

    /** So many runs may fail before the policy is switched off. */
    private static final int MAX_FAULTS = 3;

    private final PolicyLoader loader;
    private final MapSet maps;
    private final AtomicLong faults = new AtomicLong();
    private volatile @Nullable Active active;

    /** The active policy; its programs' code by the index of their kind. */
    private static final class Active {
        final Policy policy;
        final @Nullable PolicyCode[] code = new PolicyCode[ProgramTypes.all().size()];
        final AtomicLong faults = new AtomicLong();

        Active(Policy policy) {
            this.policy = policy;
            for (Policy.Program program : policy.programs()) {
                code[ProgramTypes.all().indexOf(program.type())] = program.code();
            }
        }
    }

    public PolicyHost(PolicyLoader loader, MapSet maps) {
        this.loader = loader;
        this.maps = maps;
    }

    /**
     * Loads an object and switches to it. The maps keep what is in them. Blocks for milliseconds; not on NCCL's
     * threads.
     *
     * @throws PolicyException if it is refused; the one before stays
     */
    public synchronized Policy replace(String name, byte[] object) throws PolicyException {
        Active before = active;
        Policy policy = loader.load(name, object, maps, before == null ? name : before.policy.name());
        active = new Active(policy);
        return policy;
    }

    /** Switches the policy off: the host decides as if there was none. */
    public synchronized void remove() {
        Active before = active;
        active = null;
        if (before != null) {
            maps.release(before.policy.name());
        }
    }

    /** The active policy, if any. */
    public Optional<Policy> active() {
        Active now = active;
        return now == null ? Optional.empty() : Optional.of(now.policy);
    }

    /** The maps of its programs. */
    public MapSet maps() {
        return maps;
    }

    /** How many runs failed since the host exists. */
    public long faults() {
        return faults.get();
    }

    /** Where the host runs the programs of a kind. Get it once, and keep it. */
    public PolicySlot slot(ProgramType type) {
        return new PolicySlot(this, type);
    }

    boolean has(int type) {
        Active now = active;
        return now != null && now.code[type] != null;
    }

    /** Runs on a policy that may be replaced at any moment: it is read once. */
    long run(int type, long context, long stackTop) {
        Active now = active;
        if (now == null) {
            return ProgramType.PASS;
        }
        PolicyCode code = now.code[type];
        if (code == null) {
            return ProgramType.PASS;
        }
        try {
            return code.run(context, stackTop, 0);
        } catch (RuntimeException | StackOverflowError | InternalError e) {
            failed(now);
            return ProgramType.PASS;
        }
    }

    private void failed(Active policy) {
        faults.incrementAndGet();
        if (policy.faults.incrementAndGet() >= MAX_FAULTS) {
            switchOff(policy);
        }
    }

    private synchronized void switchOff(Active policy) {
        if (active == policy) {
            active = null;
            maps.release(policy.policy.name());
        }
    }
}
