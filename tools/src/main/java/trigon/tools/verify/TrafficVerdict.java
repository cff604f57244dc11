package trigon.tools.verify;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import trigon.tools.machine.OwnRights;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.Job.LinkUse;
import trigon.tools.verify.Watch.Seen;

/**
 * Verdict on a job's traffic. Pure: the same observations have the same verdict.
 *
 * @param wrong contradictions; without any, the traffic went over Trigon's links
 * @param notes remarks
 */
record TrafficVerdict(List<String> wrong, List<String> notes) {

    /** Share of the plugin's bytes that a NIC has to confirm: the two are not counted at the same moment. */
    private static final double MIN_SHARE = 0.9;

    /** Traffic over other NICs that is worth a note: a tenth of the plugin's, and no less than a megabyte. */
    private static final double SHARE_OF_OTHERS = 0.1;

    private static final long MIN_OF_OTHERS = 1_000_000;

    /**
     * Compares these observations.
     *
     * @param processes all that had Trigon
     * @param nics bytes over each NIC meanwhile
     * @param ncclVersion of a library
     * @param trigonVersion of a library
     */
    static TrafficVerdict of(
            List<Seen> processes,
            Map<String, Long> nics,
            Function<String, Optional<String>> ncclVersion,
            Function<String, Optional<String>> trigonVersion) {
        List<String> wrong = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        if (processes.isEmpty()) {
            return new TrafficVerdict(
                    List.of("no process loaded this version of Trigon; \"trigon env\" prints the settings that"
                            + " NCCL needs"),
                    notes);
        }
        libraries(processes, wrong, notes);
        sameVersion("NCCL", processes, ProcessFacts::nccl, ncclVersion, wrong);
        sameVersion("Trigon", processes, ProcessFacts::trigon, trigonVersion, wrong);
        traffic(processes, nics, wrong, notes);
        return new TrafficVerdict(wrong, notes);
    }

    boolean isGood() {
        return wrong.isEmpty();
    }

    private static void libraries(List<Seen> processes, List<String> wrong, List<String> notes) {
        Map<String, List<String>> sameOfSeveral = new LinkedHashMap<>();
        for (Seen seen : processes) {
            ProcessFacts facts = seen.facts();
            String name = facts.program() + " " + facts.pid();
            if (facts.mapped().isEmpty()) {
                sameOfSeveral
                        .computeIfAbsent("no mappings can be read; " + OwnRights.toInspect(), _ -> new ArrayList<>())
                        .add(name);
                continue;
            }
            if (facts.nccl().size() > 1) {
                wrong.add(name + " has " + facts.nccl().size() + " copies of NCCL mapped, and the one in use is"
                        + " unknown: "
                        + String.join(", ", facts.nccl()));
            } else if (facts.nccl().isEmpty()) {
                sameOfSeveral
                        .computeIfAbsent(
                                "no libnccl.so is mapped; NCCL is linked statically, or not used",
                                _ -> new ArrayList<>())
                        .add(name);
            }
            if (facts.trigon().size() != 1) {
                wrong.add(name + " has " + facts.trigon().size() + " copies of Trigon mapped instead of one: "
                        + String.join(", ", facts.trigon()));
            }
            facts.mapped().stream()
                    .filter(file -> file.endsWith(ProcessFacts.DELETED))
                    .filter(file ->
                            facts.nccl().contains(file) || facts.trigon().contains(file))
                    .forEach(file -> sameOfSeveral
                            .computeIfAbsent(
                                    "a library is mapped that was since replaced, " + file, _ -> new ArrayList<>())
                            .add(name));
        }
        sameOfSeveral.forEach((note, names) -> notes.add(String.join(", ", names) + ": " + note));
    }

    private static void sameVersion(
            String what,
            List<Seen> processes,
            Function<ProcessFacts, List<String>> libraries,
            Function<String, Optional<String>> version,
            List<String> wrong) {
        Set<String> versions = new TreeSet<>();
        for (Seen seen : processes) {
            libraries
                    .apply(seen.facts())
                    .forEach(library -> version.apply(library).ifPresent(versions::add));
        }
        if (versions.size() > 1) {
            wrong.add("there are several versions of " + what + ": " + String.join(", ", versions));
        }
    }

    private static void traffic(List<Seen> processes, Map<String, Long> nics, List<String> wrong, List<String> notes) {
        Map<String, Long> byNic = byNic(processes, nics.keySet());
        long all = byNic.values().stream().mapToLong(Long::longValue).sum();
        if (all == 0) {
            wrong.add("nothing went over Trigon: the job was idle, or its traffic goes elsewhere");
            return;
        }
        byNic.forEach((nic, ours) -> {
            Long counted = nics.get(nic);
            if (counted == null) {
                notes.add(nic + " has no counters, so only Trigon's counters are known");
            } else if (counted < ours * MIN_SHARE) {
                wrong.add(("Trigon says that %s went over %s, whose own counters show %s: the traffic took another"
                                + " interface")
                        .formatted(megabytes(ours), nic, megabytes(counted)));
            }
        });
        nics.forEach((nic, counted) -> {
            if (!byNic.containsKey(nic) && counted >= MIN_OF_OTHERS && counted > all * SHARE_OF_OTHERS) {
                notes.add("%s went over %s meanwhile, a link that Trigon did not use: by another program, or"
                                .formatted(megabytes(counted), nic)
                        + " other traffic of this job");
            }
        });
        for (Seen seen : processes) {
            for (LinkUse link : seen.links()) {
                if (link.counts().errors() > 0) {
                    notes.add("%s %d lost %d paths over %s meanwhile"
                            .formatted(
                                    seen.facts().program(),
                                    seen.facts().pid(),
                                    link.counts().errors(),
                                    link.name()));
                }
            }
        }
    }

    /** The plugin's bytes, by the NIC that its links are on. */
    static Map<String, Long> byNic(List<Seen> processes, Set<String> nics) {
        Map<String, Long> sums = new TreeMap<>();
        for (Seen seen : processes) {
            for (LinkUse link : seen.links()) {
                if (link.counts().bytes() > 0) {
                    sums.merge(nicOf(link, seen.place(), nics), link.counts().bytes(), Long::sum);
                }
            }
        }
        return Collections.unmodifiableMap(sums);
    }

    /** RDMA devices are this machine's, wherever a process is. */
    private static String nicOf(LinkUse link, String place, Set<String> nics) {
        Set<String> local = nics.stream()
                .filter(nic -> place.isEmpty() ? !nic.contains(NicTraffic.OF) : nic.endsWith(place))
                .map(nic -> nic.substring(0, nic.length() - place.length()))
                .collect(Collectors.toSet());
        String nic = nicOf(link.name(), local);
        return local.contains(nic) || link.carrier().equals("TCP") ? nic + place : nicOf(link.name(), nics);
    }

    /** A link over TCP has its interface's name, with a number from its second address on; an RDMA one its device's. */
    static String nicOf(String link, Set<String> nics) {
        Set<String> candidates =
                new HashSet<>(List.of(link, link.replaceFirst("_\\d+$", ""), link.replaceFirst(":\\d+$", "")));
        return candidates.stream()
                .filter(nics::contains)
                .max(Comparator.comparingInt(String::length))
                .orElse(link);
    }

    static String megabytes(long bytes) {
        return bytes < 10_000_000 ? bytes / 1000 + " kB" : bytes / 1_000_000 + " MB";
    }
}
