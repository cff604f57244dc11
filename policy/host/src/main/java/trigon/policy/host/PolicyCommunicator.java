package trigon.policy.host;

/**
 * A communicator as NCCL tells its tuner of it, alike on all ranks.
 *
 * @param id NCCL's number for it; 0: this version of NCCL does not say
 */
record PolicyCommunicator(long id, int ranks, int nodes) {

    @Override
    public String toString() {
        return "communicator 0x%x of %d ranks on %d nodes".formatted(id, ranks, nodes);
    }
}
