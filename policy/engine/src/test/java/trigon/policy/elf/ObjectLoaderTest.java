package trigon.policy.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.Objects;
import trigon.policy.PolicyException;
import trigon.policy.PolicyLoader;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.verify.VerifierLimits;

/** An object's content is found, and a file that is none is refused with its section and offset. */
class ObjectLoaderTest {

    private static final VerifierLimits LIMITS = new VerifierLimits(5_000, 500, 50_000);
    private static final int MUTANTS = 3_000;

    @Test
    void programsFunctionsAndMapsAreFound() throws Exception {
        PolicyObject slo = ObjectLoader.load("slo.o", Objects.example("slo"));
        assertThat(slo.functions())
                .extracting(PolicyObject.Function::name)
                .containsExactlyInAnyOrder("observe", "enforce");
        assertThat(slo.programs()).hasSize(2);
        assertThat(slo.maps().getFirst()).isEqualTo(MapSpec.of("measured", MapType.LRU_HASH, 8, 16, 128));
        assertThat(slo.maps().get(1)).satisfies(data -> {
            assertThat(data.readOnly()).isTrue();
            assertThat(ByteBuffer.wrap(data.content())
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getLong())
                    .isEqualTo(2_000_000);
        });
        PolicyObject hierarchy = ObjectLoader.load("h.o", Objects.example("hierarchy"));
        assertThat(hierarchy.functions())
                .extracting(PolicyObject.Function::name)
                .contains("log2_of");
        assertThat(hierarchy.programs()).hasSize(1);
        assertThat(hierarchy.functions().getFirst().lineOf(0))
                .hasValueSatisfying(line -> assertThat(line.file()).endsWith("hierarchy.c"));
    }

    private static ObjectException refused(byte[] bytes) {
        ObjectException refused =
                catchThrowableOfType(ObjectException.class, () -> ObjectLoader.load("broken.o", bytes));
        assertThat(refused).isNotNull();
        assertThat(refused).hasMessageStartingWith("broken.o: section ").hasMessageContaining("offset");
        return refused;
    }

    private static byte[] patched(int at, int... values) throws IOException {
        byte[] bytes = Objects.example("slo");
        for (int i = 0; i < values.length; i++) {
            bytes[at + i] = (byte) values[i];
        }
        return bytes;
    }

    @Test
    void otherFilesAreRefused() throws Exception {
        assertThat(refused(new byte[0])).hasMessageContaining("no ELF file");
        assertThat(refused("int x;".repeat(50).getBytes(StandardCharsets.UTF_8)))
                .hasMessageContaining("not its source");
        assertThat(refused(patched(4, 1))).hasMessageContaining("64 bits");
        assertThat(refused(patched(5, 2))).hasMessageContaining("bpfel");
        assertThat(refused(patched(18, 62))).hasMessageContaining("machine 62");
        assertThat(refused(patched(40, -1, -1, -1, -1, -1, -1, -1, -1))).hasMessageContaining("section headers");
        assertThat(refused(patched(60, 0, 0))).hasMessageContaining("0 sections");
        assertThat(refused(new byte[5 << 20])).hasMessageContaining("more than");
    }

    @Test
    void whatItNeedsIsNamed() throws Exception {
        byte[] unknownType = replaced("slo", ".maps", ".mapz");
        assertThat(refused(unknownType)).hasMessageContaining("measured");
        byte[] withoutTypes = replaced("slo", ".BTF\0", ".BTX\0");
        assertThat(refused(withoutTypes)).hasMessageContaining("-g");
    }

    @Test
    void onlyRelocationsNameMaps() throws Exception {
        byte[] bytes = Objects.example("explore");
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        // the low half of the constant that it multiplies by
        int constant = text.indexOf("\u0015|J\u007f");
        assertThat(constant).isPositive();
        for (int source : new int[] {Encoding.SOURCE_MAP, Encoding.SOURCE_MAP_VALUE}) {
            bytes[constant - 3] = (byte) (source << 4 | (bytes[constant - 3] & 15));
            assertThat(refused(bytes)).hasMessageContaining("without a relocation");
        }
    }

    /** An object whose section of a name has another content, which is put at its end. */
    private static byte[] withSection(byte[] object, String name, byte[] content) {
        byte[] bytes = Arrays.copyOf(object, object.length + content.length);
        System.arraycopy(content, 0, bytes, object.length, content.length);
        ByteBuffer elf = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int headers = (int) elf.getLong(40);
        int names = (int) elf.getLong(headers + 64 * elf.getShort(62) + 24);
        for (int section = 0; section < elf.getShort(60); section++) {
            int header = headers + 64 * section;
            int at = names + elf.getInt(header);
            String found = new String(bytes, at, name.length() + 1, StandardCharsets.ISO_8859_1);
            if (found.equals(name + "\0")) {
                elf.putLong(header + 24, object.length).putLong(header + 32, content.length);
                return bytes;
            }
        }
        throw new AssertionError("no section " + name);
    }

    private static byte[] btf(ByteBuffer types, String strings) {
        byte[] text = strings.getBytes(StandardCharsets.ISO_8859_1);
        return ByteBuffer.allocate(24 + types.position() + text.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) 0xeb9f)
                .putShort((short) 1)
                .putInt(24)
                .putInt(0)
                .putInt(types.position())
                .putInt(types.position())
                .putInt(text.length)
                .put(types.flip())
                .put(text)
                .array();
    }

    /** Reading takes as long as there is to read, whatever refers to what. */
    @Test
    void manyMapsOfManyMembersAreRefusedAtOnce() throws Exception {
        int many = 65_535;
        ByteBuffer types = ByteBuffer.allocate(100 + 24 * many).order(ByteOrder.LITTLE_ENDIAN);
        types.putInt(0).putInt(2 << 24).putInt(0); // a pointer
        types.putInt(0).putInt(4 << 24 | many).putInt(8 * many);
        for (int i = 0; i < many; i++) {
            types.putInt(9).putInt(1).putInt(0);
        }
        types.putInt(7).putInt(14 << 24).putInt(2).putInt(1);
        types.putInt(1).putInt(15 << 24 | many).putInt(0);
        for (int i = 0; i < many; i++) {
            types.putInt(3).putInt(0).putInt(8);
        }
        byte[] object = withSection(Objects.example("slo"), ".BTF", btf(types, "\0.maps\0m\0type\0"));
        assertThat(refused(object)).hasMessageContaining(".maps has 65535 parts, more than 64");
    }

    @Test
    void anObjectOfVeryLongLinesIsReadWithoutThem() throws Exception {
        byte[] noop = Objects.example("noop");
        PolicyObject.Function before =
                ObjectLoader.load("noop.o", noop).functions().getFirst();
        assertThat(before.lineOf(0)).isPresent();
        int lines = 100_000;
        ByteBuffer extension = ByteBuffer.allocate(36 + 16 * lines).order(ByteOrder.LITTLE_ENDIAN);
        extension
                .putShort((short) 0xeb9f)
                .putShort((short) 1)
                .putInt(24)
                .putInt(0)
                .putInt(0);
        extension.putInt(0).putInt(12 + 16 * lines).putInt(16).putInt(1).putInt(lines);
        for (int i = 0; i < lines; i++) {
            // each text is another one, all of them nearly as long as a text may be
            extension.putInt(8 * i).putInt(7 + i % 4000).putInt(7 + i % 4000).putInt(1 << 10);
        }
        byte[] types = btf(ByteBuffer.allocate(0), "\0tuner\0" + "a".repeat(4090) + "\0");
        byte[] object = withSection(withSection(noop, ".BTF", types), ".BTF.ext", extension.array());
        assertThat(ObjectLoader.load("noop.o", object).functions().getFirst().lineOf(0))
                .isEmpty();
    }

    private static byte[] replaced(String example, String from, String to) throws IOException {
        String text = new String(Objects.example(example), StandardCharsets.ISO_8859_1);
        assertThat(text).contains(from);
        return text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void everyPrefixIsRefused() throws Exception {
        byte[] whole = Objects.example("table");
        // the section headers are at the end, the last of them to its last field but two
        for (int length = 0; length < whole.length - 24; length += 7) {
            refused(Arrays.copyOf(whole, length));
        }
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void mutantsAreReadOrRefused() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        PolicyLoader loader = new PolicyLoader(LIMITS);
        List<String> names = Objects.in(Objects.EXAMPLES, "");
        int accepted = 0;
        for (int i = 0; i < MUTANTS; i++) {
            byte[] bytes = Objects.example(names.get(random.nextInt(names.size())));
            for (int change = random.nextInt(6); change >= 0; change--) {
                int at = random.nextInt(bytes.length);
                bytes[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : bytes[at] ^ 1 << random.nextInt(8));
            }
            try {
                loader.verify("mutant.o", bytes);
                accepted++;
            } catch (PolicyException e) {
                assertThat(e.getMessage()).contains("mutant.o");
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed %d, mutant %d".formatted(seed, i), e);
            }
        }
        assertThat(accepted).isBetween(1, MUTANTS - 1);
    }
}
