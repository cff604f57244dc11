package trigon.handshake.message;

/**
 * The rules by which a process decides on collectives, for peers to compare: NCCL hangs where ranks decide differently.
 *
 * @param tuner version of the built-in tuner's rules, 1 to 255; 0: it is off
 * @param hasPolicy whether the process's settings name a policy
 * @param policy the first 32 bits of the SHA-256 of the policy that decides for the communicator of the connection; 0:
 *     NCCL decides, or the connection has none
 */
public record Decider(int tuner, boolean hasPolicy, int policy) {

    private static final int MAX_TUNER = 0xFF;

    public Decider {
        if (tuner < 0 || tuner > MAX_TUNER) {
            throw new IllegalArgumentException("a tuner's version is in 0.." + MAX_TUNER + ", not " + tuner);
        }
        if (policy != 0 && !hasPolicy) {
            throw new IllegalArgumentException("policy %08x decides, and the settings name none".formatted(policy));
        }
    }
}
