package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.HostProgram;

/** What the distribution says that it is made of is what it is made of. */
class SupplyChainIT {

    private final Path distribution = HostProgram.distribution();

    @Test
    void theBillOfMaterialsHasEveryJarWithItsChecksum() throws Exception {
        Map<String, String> listed = new TreeMap<>();
        for (JsonNode component : components()) {
            if (component.path("type").asText().equals("library")) {
                listed.put(fileName(component), sha256(component));
            }
        }

        Map<String, String> present = new TreeMap<>();
        for (Path jar : jars()) {
            present.put(jar.getFileName().toString(), sha256(jar));
        }
        assertThat(listed).isEqualTo(present).isNotEmpty();
    }

    @Test
    void theBillOfMaterialsHasTheJavaRuntime() throws IOException {
        String version = Files.readString(distribution.resolve("runtime/release"))
                .lines()
                .filter(line -> line.startsWith("JAVA_VERSION="))
                .map(line -> line.replaceAll("JAVA_VERSION=|\"", ""))
                .collect(Collectors.joining());

        assertThat(components()).anySatisfy(component -> {
            assertThat(component.path("name").asText()).isEqualTo("openjdk");
            assertThat(component.path("version").asText()).startsWith(version + "+");
            assertThat(component.path("description").asText()).contains("jdk.jfr");
        });
    }

    @Test
    void theBillOfMaterialsHasEveryProgramWithItsChecksum() throws Exception {
        Map<String, String> listed = new TreeMap<>();
        for (JsonNode component : components()) {
            if (component.path("type").asText().equals("file")) {
                listed.put(component.path("name").asText(), sha256(component));
            }
        }

        Map<String, String> present = new TreeMap<>();
        for (Path program : programs()) {
            present.put(distribution.relativize(program).toString(), sha256(program));
        }
        assertThat(listed).isEqualTo(present).containsKey("lib/libnccl-net-trigon.so");
    }

    @Test
    void everyForeignPartHasItsLicenceAndThatLicenceItsText() throws IOException {
        String list = Files.readString(distribution.resolve("THIRD-PARTY.txt"));
        assertThat(distribution.resolve("LICENSE")).hasSameTextualContentAs(Path.of("..", "LICENSE"));
        for (JsonNode component : components()) {
            if (component.path("group").asText().equals("trigon")) {
                assertThat(component.at("/licenses/0/license/id").asText()).isEqualTo("Apache-2.0");
                continue;
            }
            if (component.path("type").asText().equals("file")) {
                assertThat(component.at("/licenses/0/license/id").asText()).isEqualTo("Apache-2.0");
                continue;
            }
            String name = component.path("name").asText();
            assertThat(list).contains(name + " " + component.path("version").asText());
            assertThat(component.path("licenses")).as(name).isNotEmpty();
            for (JsonNode choice : component.path("licenses")) {
                String id = choice.path("license").path("id").asText();
                if (id.isEmpty()) {
                    assertThat(list).contains(choice.path("expression").asText());
                } else {
                    assertThat(list).contains(id);
                    assertThat(distribution.resolve("licences/" + id + ".txt"))
                            .content()
                            .hasSizeGreaterThan(500);
                }
            }
        }
        // the Java runtime's licences are in its own folder, by module
        assertThat(distribution.resolve("runtime/legal/java.base/LICENSE"))
                .content()
                .contains("GNU General Public License");
        assertThat(distribution.resolve("runtime/legal/java.base/ASSEMBLY_EXCEPTION"))
                .isNotEmptyFile();
    }

    /** Files for the processor, but for the Java runtime's, whose AOT caches are such files, too. */
    private List<Path> programs() throws IOException {
        try (Stream<Path> files = Files.walk(distribution)) {
            return files.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .filter(file -> !file.startsWith(distribution.resolve("runtime")))
                    .filter(file -> !file.toString().matches(".*\\.(aot|o)"))
                    .filter(SupplyChainIT::isForAProcessor)
                    .toList();
        }
    }

    private static boolean isForAProcessor(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(4), StandardCharsets.ISO_8859_1).equals("\u007fELF");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private JsonNode components() throws IOException {
        JsonNode bom =
                new ObjectMapper().readTree(distribution.resolve("bom.json").toFile());
        assertThat(bom.path("bomFormat").asText()).isEqualTo("CycloneDX");
        assertThat(bom.path("components")).isNotEmpty();
        return bom.path("components");
    }

    private Iterable<Path> jars() throws IOException {
        try (Stream<Path> plugin = Files.list(distribution.resolve("jars"));
                Stream<Path> tools = Files.list(distribution.resolve("tools"))) {
            return Stream.concat(plugin, tools).toList();
        }
    }

    private static String fileName(JsonNode component) {
        return component.path("name").asText() + "-" + component.path("version").asText() + ".jar";
    }

    private static String sha256(JsonNode component) {
        for (JsonNode hash : component.path("hashes")) {
            if (hash.path("alg").asText().equals("SHA-256")) {
                return hash.path("content").asText();
            }
        }
        return "none";
    }

    private static String sha256(Path file) throws IOException, NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }
}
