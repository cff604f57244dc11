package trigon.config.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.config.setting.ConfigException;

/** Whatever is in the file, the outcome is settings or a {@link ConfigException}. */
class ConfigFuzzTest {

    private static final int ROUNDS = 2000;
    private static final Path NAME = Path.of("/etc/trigon.yaml");
    private static final List<String> PIECES = List.of(
            ": ",
            "\n",
            "  ",
            "- ",
            "[",
            "]",
            "{",
            "}",
            "&a ",
            "*a",
            "!!map ",
            "? ",
            "|\n",
            ">\n",
            "'",
            "\"",
            "#",
            "---\n",
            "...\n",
            "%YAML 1.2\n",
            "%TAG ! x\n",
            "<<: ",
            "~",
            "null",
            "true",
            "0x7f",
            "1e999",
            "-1",
            "9".repeat(400),
            "\u0000",
            "\uFEFF",
            "\u0085",
            "\uD83D\uDE00",
            "\t",
            "/",
            "10.0.12.1/24",
            "fd00::1/64",
            "nodes:",
            "nics:",
            "\\",
            "\"\\x",
            "[".repeat(300),
            "? ".repeat(100),
            "version: 1\n");

    @Test
    @Timeout(300)
    void neverFailsOtherwise() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        byte[] example = Files.readAllBytes(Path.of("..", "docs", "examples", "triangle.yaml"));
        // without comments, so that most mutations hit something
        byte[] valid = new String(example, StandardCharsets.UTF_8)
                .replaceAll("(?m)\\s*#.*$", "")
                .getBytes(StandardCharsets.UTF_8);
        int accepted = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] mutated = valid;
            for (int i = random.nextInt(4); i >= 0; i--) {
                mutated = mutate(mutated, random);
            }
            accepted += outcome(mutated, seed, round) ? 1 : 0;
        }
        assertThat(accepted).isBetween(1, ROUNDS - 1);
    }

    private static boolean outcome(byte[] content, long seed, int round) {
        try {
            SettingsDecoder.Decoded decoded = SettingsDecoder.decode(ConfigFile.of(NAME, content));
            assertThat(decoded.settings()).isNotNull();
            return true;
        } catch (ConfigException e) {
            assertThat(e.getMessage()).startsWith(NAME.toString()).doesNotContain("\n");
            return false;
        } catch (RuntimeException | StackOverflowError e) {
            return fail("seed %d round %d: %s".formatted(seed, round, new String(content, StandardCharsets.UTF_8)), e);
        }
    }

    private static byte[] mutate(byte[] from, Random random) {
        int at = random.nextInt(from.length + 1);
        int to = Math.min(from.length, at + random.nextInt(12));
        byte[] head = Arrays.copyOf(from, at);
        byte[] cut = Arrays.copyOfRange(from, at, to);
        byte[] tail = Arrays.copyOfRange(from, to, from.length);
        byte[] piece = PIECES.get(random.nextInt(PIECES.size())).getBytes(StandardCharsets.UTF_8);
        return switch (random.nextInt(6)) {
            case 0 -> join(head, tail);
            case 1 -> join(head, piece, cut, tail);
            case 2 -> join(head, piece, tail);
            case 3 -> join(head, cut, cut, tail);
            case 4 -> join(head, new byte[] {(byte) random.nextInt(256)}, tail);
            default -> random.nextInt(10) == 0 ? head : join(head, cut, tail);
        };
    }

    private static byte[] join(byte[]... parts) {
        byte[] all = new byte[0];
        for (byte[] part : parts) {
            byte[] longer = Arrays.copyOf(all, all.length + part.length);
            System.arraycopy(part, 0, longer, all.length, part.length);
            all = longer;
        }
        return all;
    }
}
