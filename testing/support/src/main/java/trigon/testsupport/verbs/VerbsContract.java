package trigon.testsupport.verbs;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.LedgerAssert;

/**
 * The contract of every implementation of the verbs, by way of {@code trigon.verbs} only. A subclass says where to run
 * it.
 *
 * <p>It asks for nothing that adapters leave open, since it also runs on SoftRoCE: no time limits, no exact queue
 * depths, and more than one status where they differ. Each test opens what it needs; after each test nothing may be
 * open any more.
 */
@Timeout(180)
public abstract class VerbsContract
        implements DataTransferContract,
                CompletionContract,
                InjectedSendContract,
                RefusalContract,
                LostPeerContract,
                LifecycleContract,
                ReclaimContract {

    @AfterEach
    void leavesNothingOpen() {
        LedgerAssert.assertNothingOpen(fabric().first().provider());
        LedgerAssert.assertNothingOpen(fabric().second().provider());
    }
}
