package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Whether the launcher says that all ranks of the job are on this machine; NCCL's init says nothing of it. */
final class LocalJob {

    /** How many processes are here, and how many there are: torchrun, Open MPI, MPICH and its kin, MVAPICH. */
    private static final List<Map.Entry<String, String>> COUNTS = List.of(
            Map.entry("LOCAL_WORLD_SIZE", "WORLD_SIZE"),
            Map.entry("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"),
            Map.entry("MPI_LOCALNRANKS", "PMI_SIZE"),
            Map.entry("MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_SIZE"));

    private static final List<String> SLURM_NODES = List.of("SLURM_STEP_NUM_NODES", "SLURM_NNODES");

    private LocalJob() {}

    /** False where it says otherwise, and where it says nothing. */
    static boolean isCertain(Map<String, String> environment) {
        for (Map.Entry<String, String> count : COUNTS) {
            String here = environment.get(count.getKey());
            String all = environment.get(count.getValue());
            if (here != null && all != null) {
                return here.strip().equals(all.strip());
            }
        }
        return SLURM_NODES.stream()
                .flatMap(name -> Optional.ofNullable(environment.get(name)).stream())
                .findFirst()
                .map(nodes -> nodes.strip().equals("1"))
                .orElse(false);
    }
}
