package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.integration.testsupport.ProjectFiles;

/**
 * The examples for Kubernetes have only fields of {@code kubernetes-fields.txt}, with values of their kinds, and each
 * name in them that stands for something else leads to it.
 */
class KubernetesExamplesTest {

    private static final Path EXAMPLES = ProjectFiles.PROJECT.resolve("docs/examples/kubernetes");
    private static final Path FIELDS = Path.of("src/test/resources/kubernetes-fields.txt");
    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    /** By type and field. */
    private static final Map<String, Map<String, Field>> TYPES = types();

    private final List<String> wrong = new ArrayList<>();

    private record Field(String kind, boolean isRequired) {}

    @Test
    void theExamplesHaveKnownFieldsAlone() throws IOException {
        Map<String, JsonNode> objects = objects();
        objects.forEach(
                (name, object) -> check(name, object, object.path("kind").asText()));

        assertThat(wrong).isEmpty();
        assertThat(objects.keySet()).anyMatch(name -> name.endsWith("DaemonSet"));
    }

    @Test
    void mountsLeadToVolumesAndSelectorsToLabels() throws IOException {
        objects().forEach((name, object) -> {
            for (JsonNode template : object.findValues("template")) {
                Set<String> mounted = new TreeSet<>();
                template.findValues("volumeMounts")
                        .forEach(mounts -> mounts.forEach(
                                mount -> mounted.add(mount.path("name").asText())));
                Set<String> volumes = new TreeSet<>();
                template.at("/spec/volumes")
                        .forEach(volume -> volumes.add(volume.path("name").asText()));
                assertThat(mounted).as("volumes of " + name).isEqualTo(volumes);

                JsonNode labels = template.at("/metadata/labels");
                JsonNode selector = object.at("/spec/selector/matchLabels");
                assertThat(selector.isMissingNode() || selector.equals(labels))
                        .as("labels of %s: %s, selected by %s", name, labels, selector)
                        .isTrue();
                template.findValues("labelSelector")
                        .forEach(each ->
                                assertThat(each.path("matchLabels")).as(name).isEqualTo(labels));
            }
        });
    }

    @Test
    void aWrongExampleIsRefused() throws IOException {
        JsonNode object = YAML.readTree("""
                apiVersion: v1
                kind: Service
                metadata: {nam: a}
                spec: {clusterIP: 5, selector: {a: [b]}}
                """);

        check("example", object, "Service");

        assertThat(wrong)
                .containsExactlyInAnyOrder(
                        "example.metadata.nam: unknown",
                        "example.spec.clusterIP: 5 is no /None/",
                        "example.spec.selector.a: [\"b\"] is no text");
    }

    private void check(String place, JsonNode value, String kind) {
        if (kind.endsWith("[]")) {
            if (!value.isArray() || value.isEmpty()) {
                wrong.add(place + ": no list, or an empty one");
            }
            value.forEach(each -> check(place + "[]", each, kind.substring(0, kind.length() - 2)));
        } else if (kind.equals("texts")) {
            value.properties().forEach(each -> check(place + "." + each.getKey(), each.getValue(), "text"));
        } else if (TYPES.containsKey(kind)) {
            checkFields(place, value, TYPES.get(kind));
        } else if (!isOf(kind, value)) {
            wrong.add("%s: %s is no %s".formatted(place, value, kind));
        }
    }

    private void checkFields(String place, JsonNode object, Map<String, Field> fields) {
        object.properties().forEach(each -> {
            Field field = fields.get(each.getKey());
            String at = place + "." + each.getKey();
            if (field == null) {
                wrong.add(at + ": unknown");
            } else {
                check(at, each.getValue(), field.kind());
            }
        });
        fields.forEach((name, field) -> {
            if (field.isRequired() && !object.has(name)) {
                wrong.add(place + "." + name + ": missing");
            }
        });
    }

    private static boolean isOf(String kind, JsonNode value) {
        return switch (kind) {
            case "text" -> value.isTextual();
            case "number" -> value.isIntegralNumber();
            case "bool" -> value.isBoolean();
            default ->
                kind.startsWith("/")
                        && value.isTextual()
                        && value.asText().matches(kind.substring(1, kind.length() - 1));
        };
    }

    private static Map<String, JsonNode> objects() throws IOException {
        Map<String, JsonNode> objects = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            for (Path file : files.sorted().toList()) {
                try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile())) {
                    documents.forEachRemaining(each -> objects.put(
                            file.getFileName() + " " + each.path("kind").asText(), each));
                }
            }
        }
        return objects;
    }

    private static Map<String, Map<String, Field>> types() {
        Map<String, Map<String, Field>> types = new HashMap<>();
        ProjectFiles.textOf(FIELDS)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .forEach(line -> {
                    String[] words = line.split(" ", 3);
                    types.computeIfAbsent(words[0], _ -> new LinkedHashMap<>())
                            .put(words[1].replace("!", ""), new Field(words[2], words[1].endsWith("!")));
                });
        return types;
    }
}
