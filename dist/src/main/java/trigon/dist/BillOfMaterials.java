package trigon.dist;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * Writes what the distribution is made of, and under which licences, into the distribution: {@code bom.json}
 * (CycloneDX), {@code THIRD-PARTY.txt} and {@code licences}.
 *
 * <p>Maven's CycloneDX plugin knows the jars. This adds the Java runtime, the programs in C and what is inside of
 * jars, and takes the texts of the licences out into files. Run by the build from its source: {@code java -cp JARS
 * BillOfMaterials.java DISTRIBUTION BOM JDK}, JDK being what the runtime was linked from, which may be another
 * processor's.
 */
final class BillOfMaterials {

    private static final Pattern LEGAL = Pattern.compile("META-INF/[^/]*(LICEN[CS]E|NOTICE|COPYING)[^/]*");
    private static final Pattern INNER = Pattern.compile("META-INF/maven/[^/]+/[^/]+/pom\\.properties");
    private static final List<String> FOLDERS = List.of("jars", "tools");
    private static final List<String> FOLDERS_OF_PROGRAMS = List.of("lib", "libexec");
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};
    private static final String OWN_LICENCE = "Apache-2.0";
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final Path distribution;
    private final Path licences;
    private final Path jdk;
    private final ObjectNode bom;

    /** The list's lines, by component. */
    private final Map<String, String> lines = new TreeMap<>();

    /** SPDX expressions of all that is shipped. */
    private final Set<String> expressions = new TreeSet<>(Set.of(OWN_LICENCE));

    private BillOfMaterials(Path distribution, Path jars, Path jdk) throws IOException {
        this.distribution = distribution;
        this.jdk = jdk;
        this.licences = distribution.resolve("licences");
        this.bom = (ObjectNode) JSON.readTree(jars.toFile());
    }

    public static void main(String[] arguments) throws IOException {
        new BillOfMaterials(Path.of(arguments[0]), Path.of(arguments[1]), Path.of(arguments[2])).write();
    }

    private void write() throws IOException {
        delete(licences);
        Files.createDirectories(licences);
        Map<String, Path> unlisted = jars();
        for (JsonNode component : bom.withArray("components")) {
            ObjectNode jar = (ObjectNode) component;
            String file = jar.path("name").asText() + "-" + jar.path("version").asText() + ".jar";
            Path path = unlisted.remove(file);
            if (path == null) {
                throw new IOException(
                        file + " is in the bill of materials, but not in " + distribution + "'s " + FOLDERS);
            }
            describe(jar, path);
            setChecksum(jar, path); // Maven's may be that of an earlier build's jar
        }
        if (!unlisted.isEmpty()) {
            throw new IOException("left from an earlier build: " + unlisted.values() + "; run ./mvnw clean -pl dist");
        }
        licenceIds((ObjectNode) bom.path("metadata").path("component"));
        addRuntime();
        addPrograms();
        addLibraryOfTheImage();
        Files.writeString(distribution.resolve("bom.json"), JSON.writeValueAsString(bom) + "\n");
        Files.writeString(
                distribution.resolve("THIRD-PARTY.txt"),
                """
                What Trigon's distribution contains of others, and under which licence. The texts of the licences are in
                licences/, and in a folder there for each jar that brings notices of its own. The same for programs to
                read: bom.json (CycloneDX).

                """ + String.join("\n", lines.values()) + """


                Licences of Trigon and all of these, as an SPDX expression:
                """ + String.join(" AND ", expressions) + "\n");
    }

    private Map<String, Path> jars() throws IOException {
        Map<String, Path> jars = new TreeMap<>();
        for (String folder : FOLDERS) {
            try (Stream<Path> files = Files.list(distribution.resolve(folder))) {
                files.forEach(file -> jars.put(file.getFileName().toString(), file));
            }
        }
        return jars;
    }

    private void describe(ObjectNode component, Path jar) throws IOException {
        String group = component.path("group").asText();
        String name = component.path("name").asText();
        String version = component.path("version").asText();
        boolean own = group.equals("trigon");
        List<String> ids = licenceIds(component);
        if (ids.isEmpty() && !own) {
            throw new IOException(jar.getFileName() + ": its POM names no licence that SPDX knows");
        }
        String expression = String.join(" OR ", ids);
        expressions.add(ids.size() > 1 ? "(" + expression + ")" : expression);
        StringBuilder line = new StringBuilder("%s:%s %s: %s".formatted(group, name, version, expression));
        try (JarFile file = new JarFile(jar.toFile())) {
            for (ZipEntry entry : file.stream().toList()) {
                if (LEGAL.matcher(entry.getName()).matches() && !entry.isDirectory()) {
                    Path to = licences.resolve(name + "-" + version)
                            .resolve(Path.of(entry.getName()).getFileName());
                    Files.createDirectories(to.getParent());
                    Files.write(to, file.getInputStream(entry).readAllBytes());
                } else if (INNER.matcher(entry.getName()).matches()) {
                    Properties inner = new Properties();
                    try (InputStream in = file.getInputStream(entry)) {
                        inner.load(in);
                    }
                    String innerGroup = inner.getProperty("groupId");
                    String innerName = inner.getProperty("artifactId");
                    String innerVersion = inner.getProperty("version");
                    if (!innerGroup.equals(group) || !innerName.equals(name)) {
                        line.append("\n    contains %s:%s %s".formatted(innerGroup, innerName, innerVersion));
                        String purl = "pkg:maven/" + innerGroup + "/" + innerName + "@" + innerVersion + "?type=jar";
                        component
                                .withArray("components")
                                .addObject()
                                .put("type", "library")
                                .put("bom-ref", component.path("bom-ref").asText() + "#" + innerName)
                                .put("group", innerGroup)
                                .put("name", innerName)
                                .put("version", innerVersion)
                                .put("purl", purl);
                    }
                }
            }
        }
        if (!own) {
            lines.put(group + ":" + name, line.toString());
        }
    }

    /** The SPDX names of a component's licences; takes their texts out of the bill of materials, into files. */
    private List<String> licenceIds(ObjectNode component) throws IOException {
        List<String> ids = new ArrayList<>();
        for (JsonNode choice : component.path("licenses")) {
            JsonNode licence = choice.path("license");
            if (licence.hasNonNull("id")) {
                String id = licence.path("id").asText();
                ids.add(id);
                String text = licence.path("text").path("content").asText();
                Files.write(
                        licences.resolve(id + ".txt"),
                        Base64.getMimeDecoder().decode(text.getBytes(StandardCharsets.US_ASCII)));
                ((ObjectNode) licence).remove("text");
            }
        }
        return ids;
    }

    /** The Java runtime, which was linked from the JDK. Its licences are in its own folder legal. */
    private void addRuntime() throws IOException {
        Properties release = releaseOf(distribution.resolve("runtime"));
        Properties origin = releaseOf(jdk);
        if (!unquoted(release, "JAVA_VERSION").equals(unquoted(origin, "JAVA_VERSION"))) {
            throw new IOException("the runtime is of Java " + release + ", the JDK " + jdk + " is " + origin);
        }
        String vendor = unquoted(origin, "IMPLEMENTOR");
        String version = unquoted(origin, "JAVA_RUNTIME_VERSION");
        String licence = "GPL-2.0-only WITH Classpath-exception-2.0";
        expressions.add(licence);
        ObjectNode runtime = bom.withArray("components")
                .addObject()
                .put("type", "platform")
                .put("bom-ref", "runtime")
                .put("publisher", vendor)
                .put("name", "openjdk")
                .put("version", version)
                .put("description", "Java runtime, folder runtime; modules: " + unquoted(release, "MODULES"));
        ArrayNode choices = runtime.putArray("licenses");
        choices.addObject().put("expression", licence);
        runtime.put("purl", "pkg:generic/openjdk@" + version.replace("+", "%2B"));
        lines.put(
                "openjdk",
                "openjdk %s (%s), folder runtime: %s\n    licences, and what it contains of others: runtime/legal"
                        .formatted(version, vendor, licence));
    }

    /** The C library inside of the image's only program, which the packages of other kinds do not have. */
    private void addLibraryOfTheImage() {
        String licence = "LGPL-2.1-or-later";
        ObjectNode library = bom.withArray("components")
                .addObject()
                .put("type", "platform")
                .put("bom-ref", "glibc")
                .put("name", "glibc")
                .put("description", "only in the image: its program install is linked with it statically");
        library.putArray("licenses").addObject().put("expression", licence);
        lines.put("glibc", "glibc in the image's program install, and in no package of another kind: " + licence);
    }

    /** Trigon's own programs and libraries in C, whose names are their paths in the distribution. */
    private void addPrograms() throws IOException {
        for (String folder : FOLDERS_OF_PROGRAMS) {
            try (Stream<Path> files = Files.walk(distribution.resolve(folder))) {
                for (Path file :
                        files.filter(BillOfMaterials::isProgram).sorted().toList()) {
                    String name = distribution.relativize(file).toString();
                    ObjectNode program = bom.withArray("components")
                            .addObject()
                            .put("type", "file")
                            .put("bom-ref", name)
                            .put("name", name);
                    setChecksum(program, file);
                    ObjectNode choice = program.putArray("licenses").addObject();
                    choice.putObject("license").put("id", OWN_LICENCE);
                }
            }
        }
    }

    /** The AOT caches are ELF files, too, but no programs: each machine may make its own. */
    private static boolean isProgram(Path file) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                || file.toString().endsWith(".aot")) {
            return false;
        }
        try (InputStream in = Files.newInputStream(file)) {
            return Arrays.equals(in.readNBytes(ELF.length), ELF);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void setChecksum(ObjectNode component, Path file) throws IOException {
        component.putArray("hashes").addObject().put("alg", "SHA-256").put("content", sha256(file));
    }

    private static String sha256(Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IOException(e);
        }
    }

    private static Properties releaseOf(Path java) throws IOException {
        Properties release = new Properties();
        try (InputStream in = Files.newInputStream(java.resolve("release"))) {
            release.load(in);
        }
        return release;
    }

    private static String unquoted(Properties release, String key) throws IOException {
        String value = release.getProperty(key);
        if (value == null) {
            throw new IOException("the Java runtime's or the JDK's file release has no " + key);
        }
        return value.replace("\"", "");
    }

    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
