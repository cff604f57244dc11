package trigon.policy.uniformity;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapSet;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.map.NcclBpfMaps;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.FunctionFacts.Touch;
import trigon.policy.verdict.Rejection;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;

/** Dependence on the rank in the programs of an object, which share their maps. */
public final class RankDependence {

    private final List<VerifiedProgram> programs;
    private final List<MapSpec> maps;
    private final BitSet differingMaps = new BitSet();
    private final List<ProgramFlow> flows = new ArrayList<>();

    private RankDependence(List<VerifiedProgram> programs, List<MapSpec> maps) {
        this.programs = programs;
        this.maps = maps;
        for (int map = 0; map < maps.size(); map++) {
            // which thread NCCL calls on is another matter on each rank
            differingMaps.set(map, maps.get(map).type() == MapType.THREAD_ARRAY || isTelemetry(maps.get(map)));
        }
        for (VerifiedProgram program : programs) {
            flows.add(new ProgramFlow(program, runsInStep(program), differingMaps));
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (ProgramFlow flow : flows) {
                changed |= flow.round();
            }
        }
    }

    /** The host writes to it what this rank has measured. */
    private boolean isTelemetry(MapSpec map) {
        return map.name().equals(NcclBpfMaps.TELEMETRY_MAP) && programs.stream().anyMatch(RankDependence::isOfNcclBpf);
    }

    /**
     * Programs and uses of maps, as the search leaves them.
     *
     * @param programs of the object: those of NCCLbpf's, whose sources know nothing of ranks that have to agree, are
     *     advisory where they are not shown to
     * @param uses how they use their maps
     */
    public record Verdict(List<VerifiedProgram> programs, List<MapSet.Use> uses) {

        public Verdict {
            programs = List.copyOf(programs);
            uses = List.copyOf(uses);
        }
    }

    /**
     * Follows what differs between ranks through all programs of an object.
     *
     * @throws VerificationException if an output that ranks have to agree on may differ, in a program that is not
     *     advisory
     */
    public static Verdict check(List<VerifiedProgram> programs, List<MapSpec> maps) throws VerificationException {
        RankDependence dependence = new RankDependence(programs, maps);
        List<VerifiedProgram> checked = new ArrayList<>();
        boolean changed = false;
        for (int i = 0; i < programs.size(); i++) {
            VerifiedProgram program = programs.get(i);
            ProgramFlow flow = dependence.flows.get(i);
            if (isOfNcclBpf(program) && !program.advisory() && flow.firstFinding() != null) {
                program = program.asAdvisory();
                changed = true;
            }
            dependence.checkOutputs(program, flow);
            checked.add(program);
        }
        // one that has become advisory runs out of step, which its maps show
        return changed ? check(checked, maps) : new Verdict(programs, dependence.uses());
    }

    private static boolean isOfNcclBpf(VerifiedProgram program) {
        return program.type().equals(ProgramType.NCCLBPF);
    }

    /**
     * Tells whether all ranks run it at the same calls, and have to decide alike there. Events end, and connections
     * begin, at another moment on each rank; an advisory tuner is asked by one of them.
     */
    private static boolean runsInStep(VerifiedProgram program) {
        return program.type().ranksMustAgree() && !program.advisory();
    }

    private void checkOutputs(VerifiedProgram program, ProgramFlow flow) throws VerificationException {
        ProgramFlow.Finding finding = flow.firstFinding();
        if (finding == null || !runsInStep(program)) {
            return;
        }
        PolicyObject.Function function = program.object().functions().get(finding.function());
        Set<String> sources = new LinkedHashSet<>(flow.sources());
        for (int map = differingMaps.nextSetBit(0); map >= 0; map = differingMaps.nextSetBit(map + 1)) {
            sources.add("map " + maps.get(map).name() + usersOutOfStep(map));
        }
        throw new VerificationException(new Rejection(
                program.object().name(),
                program.object().functions().get(program.entry()).section(),
                program.name(),
                function.name(),
                finding.slot(),
                finding.instruction(),
                function.lineOf(finding.slot()),
                Rule.RANK_DEPENDENT,
                ("%s may differ between ranks, and NCCL hangs if it does; it comes from %s. Decide by something else,"
                                + " or put the program into the section %s/advisory")
                        .formatted(
                                finding.what(),
                                String.join(", ", sources),
                                program.type().section()),
                List.of()));
    }

    /** For messages: the programs that explain why a map differs. */
    private String usersOutOfStep(int map) {
        String users = programs.stream()
                .filter(program -> !runsInStep(program) && mapsOf(program).get(map))
                .map(program ->
                        program.object().functions().get(program.entry()).section() + " " + program.name())
                .collect(Collectors.joining(" and "));
        return users.isEmpty() ? "" : " (used by %s, which runs at another moment on each rank)".formatted(users);
    }

    private List<MapSet.Use> uses() {
        BitSet trusted = new BitSet();
        for (VerifiedProgram program : programs) {
            if (runsInStep(program)) {
                trusted.or(mapsOf(program));
            }
        }
        List<MapSet.Use> uses = new ArrayList<>();
        for (int map = 0; map < maps.size(); map++) {
            uses.add(new MapSet.Use(
                    maps.get(map).name(), trusted.get(map) && !differingMaps.get(map), differingMaps.get(map)));
        }
        return uses;
    }

    private static BitSet mapsOf(VerifiedProgram program) {
        BitSet used = new BitSet();
        for (VerifiedProgram.Function function : program.functions().values()) {
            for (int slot = 0; slot < function.code().length; slot++) {
                function.facts().maps(slot).forEach(used::set);
                for (Touch touch : function.facts().touches(slot)) {
                    if (touch.region() == Region.MAP_VALUE) {
                        used.set(touch.index());
                    }
                }
            }
        }
        return used;
    }
}
