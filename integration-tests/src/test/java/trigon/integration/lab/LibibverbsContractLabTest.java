package trigon.integration.lab;

import java.util.Optional;
import trigon.testsupport.verbs.ReadContract;
import trigon.testsupport.verbs.VerbsContract;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** The contract on SoftRoCE: the lab's link a-b, and a device of the link a-c, which a-b does not reach. */
class LibibverbsContractLabTest extends VerbsContract implements ReadContract {

    private static final VerbsProvider PROVIDER = ((Available) Libibverbs.load()).provider();

    private static final VerbsFabric FABRIC = new VerbsFabric(
            new VerbsFabric.End(PROVIDER, "rxe_ab", 1, SoftRoceLink.GID_INDEX),
            new VerbsFabric.End(PROVIDER, "rxe_ba", 1, SoftRoceLink.GID_INDEX),
            Optional.of(new VerbsFabric.End(PROVIDER, "rxe_ca", 1, SoftRoceLink.GID_INDEX)));

    @Override
    public VerbsFabric fabric() {
        return FABRIC;
    }

    @Override
    public boolean mayStrandRequests() {
        return true;
    }
}
