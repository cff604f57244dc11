package trigon.entry.onesided;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.util.List;
import trigon.entry.host.CallFailures;
import trigon.entry.host.InstallationException;
import trigon.entry.host.UpcallStubs;
import trigon.onesided.OneSided;
import trigon.system.Memory;

/**
 * Fills C's table ({@code struct one_sided_upcalls} in {@code one_sided/upcalls.h}) with upcall stubs, which live as
 * long as the process.
 */
public final class OneSidedStubs {

    private static final long POINTER_BYTES = 8;

    private OneSidedStubs() {}

    /**
     * Fills the table.
     *
     * @throws InstallationException where C expects another number of calls
     */
    public static void fill(OneSidedBlock block, OneSided oneSided, CallFailures failures) {
        OneSidedUpcalls target = new OneSidedUpcalls(oneSided, failures);
        List<Long> inOrderOfC = List.of(
                stub(target, "control", 7),
                stub(target, "put", 13),
                stub(target, "get", 9),
                stub(target, "flush", 3),
                stub(target, "test", 3),
                stub(target, "progress", 1));
        if (inOrderOfC.size() != block.upcallCount()) {
            throw new InstallationException(
                    ("libnccl-net-trigon.so has %d calls of one-sided communication and the jars have %d; install both"
                                    + " from one package")
                            .formatted(block.upcallCount(), inOrderOfC.size()));
        }
        for (int i = 0; i < inOrderOfC.size(); i++) {
            Memory.putLong(block.upcalls() + POINTER_BYTES * i, inOrderOfC.get(i));
        }
    }

    private static long stub(OneSidedUpcalls target, String method, int arguments) {
        return UpcallStubs.stub(MethodHandles.lookup(), target, method, arguments, Arena.global())
                .address();
    }
}
