package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The number of a machine's processors that are for one of the job's processes there: each has threads that look for
 * work all the time, and together they must not be more than the processors.
 */
final class ProcessorShare {

    /**
     * Variables by which launchers say how many of the job's processes are on this machine: torchrun, Open MPI, Slurm,
     * and the MPIs that are derived from MPICH.
     */
    private static final List<String> LOCAL_PROCESSES =
            List.of("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE", "MPI_LOCALNRANKS");

    private ProcessorShare() {}

    /**
     * The share of a process, at least 1. Where the processes could all have as many processors as this one may use,
     * the launcher has bound each to its own, and they are not divided again.
     *
     * @param environment the process's
     * @param available processors that this process may use, by its affinity and its control group
     * @param online processors of the machine
     */
    static int of(Map<String, String> environment, int available, int online) {
        int processes = localProcesses(environment).orElse(1);
        boolean bound = (long) available * processes <= online;
        return bound ? available : Math.max(1, available / processes);
    }

    /** Counts the processors of a list of the kernel's, for example 0-3,8; see sysfs-devices-system-cpu in its ABI. */
    static int count(String list) {
        return Stream.of(list.strip().split(","))
                .map(range -> range.split("-", 2))
                .mapToInt(ends -> Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1)
                .sum();
    }

    /** The first variable that is a number of processes; what else is in them is not Trigon's to judge. */
    private static OptionalInt localProcesses(Map<String, String> environment) {
        return LOCAL_PROCESSES.stream()
                .flatMap(name -> Stream.ofNullable(environment.get(name)))
                .map(String::strip)
                .filter(text -> text.matches("[1-9][0-9]{0,5}"))
                .mapToInt(Integer::parseInt)
                .findFirst();
    }
}
