package trigon.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import trigon.policy.compile.PolicyCode;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;

/**
 * The policy that is active, and the way to another one. Runs go on while it is replaced: each is made by one policy
 * from its start to its end, and after {@link #replace} has returned, by the new one.
 */
public final class PolicyHost {

    /** So many runs of a program may fail before it is switched off. */
    private static final int MAX_FAULTS = 3;

    private static final int TYPES = ProgramType.all().size();

    private final PolicyLoader loader;
    private final MapSet maps;
    private final AtomicLongArray faults = new AtomicLongArray(TYPES);
    private volatile @Nullable Active active;

    /**
     * The active policy; its programs' code by the index of their kind. The code of a program that is switched off is
     * null: threads that run it may see that a little later.
     */
    private static final class Active {
        final Policy policy;
        final @Nullable PolicyCode[] code = new PolicyCode[TYPES];
        final AtomicLongArray faults = new AtomicLongArray(TYPES);

        Active(Policy policy) {
            this.policy = policy;
            for (Policy.Program program : policy.programs()) {
                code[ProgramType.all().indexOf(program.type())] = program.code();
            }
        }
    }

    public PolicyHost(PolicyLoader loader, MapSet maps) {
        this.loader = loader;
        this.maps = maps;
    }

    /**
     * Verifies and loads an object, and switches to it. Blocks for tenths of a second; not on NCCL's threads.
     *
     * @param name its identity: maps and global variables of an earlier version with the same name are kept
     * @throws PolicyException if it is refused; the one before stays
     */
    public Policy replace(String name, byte[] object) throws PolicyException {
        return replace(loader.verify(name, object));
    }

    /** The same for one that was verified before. The maps keep what is in them. */
    public synchronized Policy replace(VerifiedPolicy verified) throws PolicyException {
        Active before = active;
        Policy policy = loader.load(verified, maps, before == null ? verified.name() : before.policy.name());
        activate(policy);
        return policy;
    }

    /** Switches to a policy whose maps are bound. */
    void activate(Policy policy) {
        active = new Active(policy);
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

    /**
     * A kind of programs whose runs failed.
     *
     * @param runs how many failed since the host exists, whichever version of the policy they were of
     */
    public record Faults(ProgramType type, long runs) {}

    /** The kinds of programs whose runs failed; none of them is the normal case. */
    public List<Faults> faults() {
        List<Faults> failed = new ArrayList<>();
        for (int type = 0; type < TYPES; type++) {
            if (faults.get(type) > 0) {
                failed.add(new Faults(ProgramType.all().get(type), faults.get(type)));
            }
        }
        return failed;
    }

    /** The slot in which the host runs the programs of a kind. Get it once, and keep it. */
    public Slot slot(ProgramType type) {
        return new Slot(type);
    }

    private boolean has(int type) {
        Active now = active;
        return now != null && now.code[type] != null;
    }

    /** Runs on a policy that may be replaced at any moment: it is read once. */
    private long run(int type, long context, long stackTop) {
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
            failed(now, type);
            return ProgramType.PASS;
        }
    }

    /**
     * Switches off the program that failed too often, and no other: one that runs at another moment on each rank, as
     * for events, must not take the tuner of its rank away.
     */
    private void failed(Active policy, int type) {
        faults.incrementAndGet(type);
        if (policy.faults.incrementAndGet(type) >= MAX_FAULTS) {
            policy.code[type] = null;
        }
    }

    /** Runs the active policy's program of one kind. Any thread; neither blocks nor allocates nor throws. */
    public final class Slot {

        private final int type;
        private final long stackTop;

        private Slot(ProgramType type) {
            this.type = ProgramType.all().indexOf(type);
            stackTop = ProgramContext.stackTop(type);
        }

        /** Tells whether there is a program to run at the moment. */
        public boolean isFilled() {
            return has(type);
        }

        /**
         * Runs the program on a context whose inputs are set, and whose outputs say what holds if the program says
         * nothing.
         *
         * @return what it returned, or {@link ProgramType#PASS} if there is none, or if it failed: then the outputs do
         *     not count
         */
        public long run(ProgramContext context) {
            return run(context.address());
        }

        /**
         * The same on the caller's own memory.
         *
         * @param context address of the context, with {@link ProgramContext#bytes} of memory; a multiple of
         *     {@link ProgramContext#ALIGNMENT}
         */
        public long run(long context) {
            return PolicyHost.this.run(type, context, context + stackTop);
        }
    }
}
