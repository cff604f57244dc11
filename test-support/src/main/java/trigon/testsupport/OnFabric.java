package trigon.testsupport;

/** A part of the contract; runs on a fabric. */
public interface OnFabric {

    /** The longest message of the contract's tests: any adapter takes it. */
    int LONGEST = 1 << 20;

    /** Where to run; the same for all tests of an instance. */
    VerbsFabric fabric();

    /** How queue pairs are made; slow devices override it with a longer timeout. */
    default QueuePairSettings settings() {
        return QueuePairSettings.DEFAULT;
    }
}
