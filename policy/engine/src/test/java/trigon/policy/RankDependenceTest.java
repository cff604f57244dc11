package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSet;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.uniformity.RankDependence;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** A tuner's decision must not depend on what differs between ranks, however it gets there. */
class RankDependenceTest {

    private static final Field RANK = ProgramType.TUNER.field("rank");
    private static final Field NODES = ProgramType.TUNER.field("n_nodes");
    private static final Field CHANNELS = ProgramType.TUNER.field("n_channels");
    private static final List<MapSpec> MAPS = List.of(
            MapSpec.of("array", MapType.ARRAY, 4, 8, 1),
            MapSpec.of("threads", MapType.THREAD_ARRAY, 4, 8, 1),
            MapSpec.of("lru", MapType.LRU_HASH, 4, 8, 4));

    /** r6 is the context, r7 a field of it. */
    private static Code reading(Field field) {
        return new Code().move(6, 1).slot(0x61, 7, 6, field.offset(), 0);
    }

    private static Code deciding(Code code, int register) {
        return code.slot(0x57, register, 0, 0, 15)
                .slot(0x63, 6, register, CHANNELS.offset(), 0)
                .set(0, 0)
                .exit();
    }

    private static Code lookup(Code code, int map) {
        return code.slot(0x62, 10, 0, -4, 0)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -4)
                .map(1, map)
                .call(1)
                .slot(0x55, 0, 0, 2, 0)
                .set(0, 1)
                .exit();
    }

    private static List<MapSet.Use> check(String section, long[]... functions) throws Exception {
        PolicyObject object = Code.object(section, MAPS, functions);
        return RankDependence.check(
                        List.of(new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED).verify(object, 0)), MAPS)
                .uses();
    }

    private static void refused(Code code) throws Exception {
        VerificationException refused =
                catchThrowableOfType(VerificationException.class, () -> check("tuner", code.slots()));
        assertThat(refused).isNotNull();
        assertThat(refused.rejection().rule()).isEqualTo(Rule.RANK_DEPENDENT);
        assertThat(check("tuner/advisory", code.slots())).hasSize(MAPS.size());
    }

    @Test
    void whatAllRanksShareDecides() throws Exception {
        assertThat(check("tuner", deciding(reading(NODES), 7).slots())).noneMatch(use -> use.trusted());
        check(
                "tuner",
                deciding(reading(NODES).set(8, 3).slot(0x15, 7, 0, 1, 2).set(8, 9), 8)
                        .slots());
    }

    @Test
    void theRankItself() throws Exception {
        refused(deciding(reading(RANK), 7));
    }

    @Test
    void throughTheStack() throws Exception {
        refused(deciding(reading(RANK).store64(10, -8, 7).load64(8, 10, -8), 8));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void throughABranch(boolean written) throws Exception {
        // one way writes the register, and the other leaves what was there
        Code code = reading(RANK).set(8, written ? 3 : 4).slot(0x15, 7, 0, 1, 2).set(8, 9);
        refused(deciding(code, 8));
    }

    @Test
    void throughAWriteThatABranchDecidesAbout() throws Exception {
        refused(reading(RANK)
                .slot(0x15, 7, 0, 1, 2)
                .slot(0x62, 6, 0, CHANNELS.offset(), 3)
                .set(0, 0)
                .exit());
    }

    @Test
    void throughTheResult() throws Exception {
        refused(reading(RANK).set(0, 0).slot(0x15, 7, 0, 1, 2).set(0, 1).exit());
    }

    @Test
    void throughTheRoundsOfALoop() throws Exception {
        Code code = reading(RANK).slot(0x57, 7, 0, 0, 3).set(8, 0);
        code.slot(0x07, 8, 0, 0, 1).slot(0x07, 7, 0, 0, 1).slot(0xa5, 7, 0, -3, 5);
        refused(deciding(code, 8));
    }

    @Test
    void throughAMapThatSomethingDifferentIsWrittenTo() throws Exception {
        Code code = lookup(reading(RANK), 0).store64(0, 0, 7).load64(8, 0, 0);
        refused(deciding(code, 8));
    }

    @Test
    void throughTheClockAndThroughThreads() throws Exception {
        refused(deciding(reading(NODES).call(5).move(8, 0), 8));
        refused(deciding(lookup(reading(NODES), 1).load64(8, 0, 0), 8));
    }

    @Test
    void throughWhatALookupDrops() throws Exception {
        Code code = reading(RANK).slot(0x63, 10, 7, -8, 0).move(2, 10).slot(0x07, 2, 0, 0, -8);
        code.map(1, 2).call(1);
        refused(deciding(lookup(code, 2).load64(8, 0, 0), 8));
    }

    @Test
    void throughAFunction() throws Exception {
        Code main = reading(RANK).move(1, 7).slot(0x85, 0, 1, 0, 1).move(8, 0);
        long[] called = new Code().move(0, 1).exit().slots();
        long[] code = deciding(main, 8).slots();
        VerificationException refused =
                catchThrowableOfType(VerificationException.class, () -> check("tuner", code, called));
        assertThat(refused.rejection().reason()).contains("n_channels", "rank (instruction 1)", "tuner/advisory");
    }

    /** Two programs of one object, which share its maps. */
    private static List<MapSet.Use> together(String section, Code one, String other, Code two) throws Exception {
        List<PolicyObject.Function> functions = List.of(
                new PolicyObject.Function("one", section, one.slots(), new TreeMap<>()),
                new PolicyObject.Function("two", other, two.slots(), new TreeMap<>()));
        PolicyObject object = new PolicyObject("test.o", functions, List.of(0, 1), MAPS);
        Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED);
        return RankDependence.check(List.of(verifier.verify(object, 0), verifier.verify(object, 1)), MAPS)
                .uses();
    }

    private static void refusedBeside(String section, Code writing, int map) {
        Code tuner = deciding(lookup(reading(NODES), map).load64(8, 0, 0), 8);
        VerificationException refused =
                catchThrowableOfType(VerificationException.class, () -> together(section, writing, "tuner", tuner));
        assertThat(refused).isNotNull();
        assertThat(refused.rejection().rule()).isEqualTo(Rule.RANK_DEPENDENT);
        assertThat(refused.rejection().reason())
                .contains("map " + MAPS.get(map).name(), section + " one", "runs at another moment on each rank");
    }

    private static Code done(Code code) {
        return code.set(0, 0).exit();
    }

    @ParameterizedTest
    @ValueSource(strings = {"profiler", "net/connect", "tuner/advisory"})
    void throughTheMomentAtWhichAProgramRuns(String section) {
        Code counting =
                lookup(new Code(), 0).load64(7, 0, 0).slot(0x07, 7, 0, 0, 1).store64(0, 0, 7);
        Code chunk = lookup(new Code().move(6, 1), 0).load64(8, 0, 0).slot(0x57, 8, 0, 0, 15);
        chunk.store64(6, ProgramType.CHUNK.field("chunk_bytes").offset(), 8);
        VerificationException refused = catchThrowableOfType(
                VerificationException.class, () -> together(section, done(counting), "chunk", done(chunk)));
        assertThat(refused).isNotNull();
        assertThat(refused.rejection().rule()).isEqualTo(Rule.RANK_DEPENDENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"profiler", "net/connect"})
    void throughACountOfRuns(String section) {
        refusedBeside(
                section,
                done(lookup(new Code(), 0)
                        .load64(7, 0, 0)
                        .slot(0x07, 7, 0, 0, 1)
                        .store64(0, 0, 7)),
                0);
        refusedBeside(section, done(lookup(new Code(), 0).set(7, 1).slot(0xdb, 0, 7, 0, 0)), 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"profiler", "net/connect"})
    void throughAConstantThatIsThereAtSomeMoment(String section) {
        Code global = new Code().slot(0x18, 1, 2, 0, 0).slot(0, 0, 0, 0, 0).slot(0x7a, 1, 0, 0, 1);
        refusedBeside(section, done(global), 0);
        Code update = new Code()
                .slot(0x7a, 10, 0, -8, 1)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -8)
                .move(3, 2);
        refusedBeside(section, done(update.set(4, 0).map(1, 2).call(2)), 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"profiler", "net/connect"})
    void throughALookupThatKeepsAnEntry(String section) {
        refusedBeside(section, done(lookup(new Code(), 2)), 2);
    }

    @Test
    void whatAnotherProgramOnlyReadsIsTrusted() throws Exception {
        Code tuner = deciding(lookup(reading(NODES), 0).load64(8, 0, 0), 8);
        assertThat(together("profiler", done(lookup(new Code(), 0)), "tuner", tuner)
                        .getFirst())
                .isEqualTo(new MapSet.Use("array", true, false));
    }

    @Test
    void aMapOfAllRanksIsTrustedUntilAnotherObjectSpoilsIt() throws Exception {
        List<MapSet.Use> tuner = check(
                "tuner", deciding(lookup(reading(NODES), 0).load64(8, 0, 0), 8).slots());
        assertThat(tuner.getFirst()).isEqualTo(new MapSet.Use("array", true, false));
        Code profiling = new Code()
                .move(6, 1)
                .slot(0x61, 7, 6, ProgramType.PROFILER.field("rank").offset(), 0);
        List<MapSet.Use> profiler = check(
                "profiler",
                lookup(profiling, 0).store64(0, 0, 7).set(0, 0).exit().slots());
        assertThat(profiler.getFirst()).isEqualTo(new MapSet.Use("array", false, true));
        MapSet maps = new MapSet();
        maps.claim("tuner", "tuner", tuner);
        assertThat(catchThrowableOfType(MapException.class, () -> maps.claim("profiler", "profiler", profiler)))
                .hasMessageContaining("array");
        maps.release("tuner");
        maps.claim("profiler", "profiler", profiler);
        assertThat(catchThrowableOfType(MapException.class, () -> maps.claim("tuner", "tuner", tuner)))
                .hasMessageContaining("tuner decides by it");
    }
}
