package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The ranks on this machine, by the launcher's variables: NCCL's init does not tell them. */
final class LocalJob {

    /** Variables with the number of processes here, and of all: torchrun, Open MPI, MPICH and its kin, MVAPICH. */
    private static final List<Map.Entry<String, String>> COUNTS = List.of(
            Map.entry("LOCAL_WORLD_SIZE", "WORLD_SIZE"),
            Map.entry("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"),
            Map.entry("MPI_LOCALNRANKS", "PMI_SIZE"),
            Map.entry("MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_SIZE"));

    private static final List<String> SLURM_NODES = List.of("SLURM_STEP_NUM_NODES", "SLURM_NNODES");

    /** The process's number here: torchrun, Open MPI, MPICH and its kin, MVAPICH, Slurm. */
    private static final List<String> LOCAL_RANKS = List.of(
            "LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "MPI_LOCALRANKID",
            "MV2_COMM_WORLD_LOCAL_RANK",
            "SLURM_LOCALID");

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,6}");

    private LocalJob() {}

    /** The process's number among those of the job on this machine; 0 where it says nothing. */
    static int localRank(Map<String, String> environment) {
        return LOCAL_RANKS.stream()
                .flatMap(name -> Optional.ofNullable(environment.get(name)).stream())
                .map(String::strip)
                .filter(text -> NUMBER.matcher(text).matches())
                .findFirst()
                .map(Integer::parseInt)
                .orElse(0);
    }

    /** True if the launcher says that all ranks of the job are here; false where it says nothing. */
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
