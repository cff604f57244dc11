package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.policy.elf.ObjectLoader;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapAccess;
import trigon.policy.map.MapSet;
import trigon.policy.map.NcclBpfMaps;
import trigon.policy.map.PolicyMap;
import trigon.policy.program.NcclBpf;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** Policies in the dialect of NCCLbpf: seven are accepted, seven refused, and the host shares their maps. */
class NcclBpfTest {

    private static List<VerifiedProgram> safe() throws Exception {
        PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);
        List<VerifiedProgram> programs = new ArrayList<>();
        for (String name : Objects.in(Objects.PROGRAMS, "ncclbpf_safe_")) {
            programs.addAll(loader.verify(name, Objects.program(name)).programs());
        }
        return programs;
    }

    @Test
    void theContextHas72Bytes() {
        assertThat(ProgramType.NCCLBPF.contextBytes()).isEqualTo(72);
        assertThat(ProgramType.NCCLBPF.field("call_count").offset()).isEqualTo(32);
        assertThat(ProgramType.NCCLBPF.field("reserved").offset()).isEqualTo(64);
    }

    @Test
    void sevenAreAcceptedAndThoseThatGoByWhatOneRankMeasuresAreAdvisory() throws Exception {
        List<VerifiedProgram> programs = safe();
        assertThat(programs).hasSize(7);
        assertThat(programs.stream().filter(VerifiedProgram::advisory).map(VerifiedProgram::name))
                .containsExactly("adapts", "enforces");
        Random random = new Random(1);
        for (VerifiedProgram program : programs) {
            try (Bench bench = new Bench(program)) {
                for (int run = 0; run < 100; run++) {
                    var _ = bench.run(random);
                }
            }
        }
    }

    @Test
    void sevenAreRefusedEachForItsOwnReason() throws Exception {
        PolicyObject object = ObjectLoader.load("unsafe", Objects.program("ncclbpf_unsafe"));
        assertThat(object.programs()).hasSize(7);
        Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED);
        for (int entry : object.programs()) {
            VerificationException refused =
                    catchThrowableOfType(VerificationException.class, () -> verifier.verify(object, entry));
            assertThat(refused).as(object.functions().get(entry).name()).isNotNull();
            assertThat(refused.rejection().rule().name())
                    .isEqualTo(object.functions().get(entry).name().toUpperCase(Locale.ROOT));
        }
    }

    @Test
    void aResultIsUnpackedAsFarAsNcclHasIt() {
        long ringSimple8 = 1 | 2 << 8 | 8 << 16 | 3L << 24 | 0xfL << 32;
        assertThat(NcclBpf.algorithm(ringSimple8)).isEqualTo(1);
        assertThat(NcclBpf.protocol(ringSimple8)).isEqualTo(2);
        assertThat(NcclBpf.channels(ringSimple8)).isEqualTo(8);
        assertThat(NcclBpf.chooses(ringSimple8)).isTrue();
        long nothing = 1 | 2 << 8 | 8 << 16 | 8L << 32;
        assertThat(NcclBpf.chooses(nothing)).as("aggressiveness alone").isFalse();
        long tooMuch = 9 | 9 << 8 | 255 << 16 | 7L << 32;
        assertThat(NcclBpf.algorithm(tooMuch)).isEqualTo(-1);
        assertThat(NcclBpf.protocol(tooMuch)).isEqualTo(-1);
        assertThat(NcclBpf.channels(tooMuch)).isEqualTo(64);
    }

    @Test
    void theHostSetsItsMapsAndNotesWhatCollectivesTook() throws Exception {
        MapSet maps = new MapSet();
        for (VerifiedProgram program : safe()) {
            NcclBpfMaps.configure(maps.bind(program.object().maps()));
        }
        ByteBuffer config = value(maps.find("config_map").orElseThrow(), 4, 4);
        assertThat(List.of(config.getLong(0), (long) config.getInt(8), (long) config.getInt(12)))
                .containsExactly(150L, 1L, 8L);

        PolicyMap telemetry = NcclBpfMaps.telemetry(maps).orElseThrow();
        for (long nanos : new long[] {800, 1600, 100}) {
            NcclBpfMaps.record(telemetry, 4, 2, 4096, nanos);
        }
        ByteBuffer noted = value(telemetry, 8, 4, 2);
        assertThat(List.of(noted.getLong(0), noted.getLong(8), noted.getLong(16), noted.getLong(24)))
                .containsExactly(100L, 800L, 1585L, 4096L);
        assertThat(noted.getInt(32)).isEqualTo(3);
    }

    private static ByteBuffer value(PolicyMap map, int keyBytes, int... key) {
        ByteBuffer bytes = ByteBuffer.allocate(keyBytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int part : key) {
            bytes.putInt(part);
        }
        return ByteBuffer.wrap(new MapAccess(map).get(bytes.array()).orElseThrow())
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
