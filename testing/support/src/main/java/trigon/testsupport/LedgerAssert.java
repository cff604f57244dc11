package trigon.testsupport;

import trigon.verbs.VerbsProvider;

/** Asserts that nothing opened was left open. */
public final class LedgerAssert {

    private LedgerAssert() {}

    /** Fails if something that was opened through the provider is still open. */
    public static void assertNothingOpen(VerbsProvider provider) {
        if (!provider.ledger().outstanding().isEmpty()) {
            throw new AssertionError(provider.name() + " has objects left open: "
                    + provider.ledger().outstanding());
        }
    }
}
