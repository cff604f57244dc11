package trigon.entry.tuner;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.util.List;
import trigon.entry.host.CallFailures;
import trigon.entry.host.InstallationException;
import trigon.entry.host.UpcallStubs;
import trigon.system.Memory;

/**
 * Fills C's table ({@code struct tuner_upcalls} in {@code tuner/upcalls.h}) with upcall stubs, which live as long as
 * the process.
 */
public final class TunerStubs {

    private static final long POINTER_BYTES = 8;

    private TunerStubs() {}

    /**
     * Fills the table.
     *
     * @throws InstallationException where C expects another number of calls
     */
    public static void fill(TunerBlock block, PolicyAccess policy, CallFailures failures) {
        TunerUpcalls target = new TunerUpcalls(policy, failures);
        List<Long> inOrderOfC = List.of(
                stub(target, "open", 4),
                stub(target, "getCollInfo", 10),
                stub(target, "getChunkSize", 8),
                stub(target, "close", 1));
        if (inOrderOfC.size() != block.upcallCount()) {
            throw new InstallationException(
                    ("libnccl-net-trigon.so has %d calls of the tuner and the jars have %d; install both from one"
                                    + " package")
                            .formatted(block.upcallCount(), inOrderOfC.size()));
        }
        for (int i = 0; i < inOrderOfC.size(); i++) {
            Memory.putLong(block.upcalls() + POINTER_BYTES * i, inOrderOfC.get(i));
        }
    }

    private static long stub(TunerUpcalls target, String method, int arguments) {
        return UpcallStubs.stub(MethodHandles.lookup(), target, method, arguments, Arena.global())
                .address();
    }
}
