package trigon.integration.structure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;
import trigon.integration.testsupport.ProjectFiles;

/**
 * A module of the build, and which others it may use: its README says it to people, its pom to Maven, and its
 * module-info to the compiler.
 *
 * @param name its artifact's, without the project's
 * @param folder where the root pom has it, from the project's root
 * @param readme the text of its README
 * @param mayUse modules that the README's sentence "May use" names
 * @param dependencies modules that its pom depends on, other than for tests or as services
 * @param sources its Java sources that are no tests, without what describes a package or the module
 */
record ReactorModule(
        String name, Path folder, String readme, Set<String> mayUse, Set<String> dependencies, List<Path> sources) {

    private static final String ARTIFACT = "trigon-";
    private static final String SOURCES = "src/main/java";
    private static final Pattern MAY_USE = Pattern.compile("(?s)\\*\\*May use\\*\\*(.*?)(?:[.]\\s|\\z)");
    private static final Pattern CODE = Pattern.compile("`([^`]*)`");
    private static final Pattern REQUIRED = Pattern.compile("requires (?:transitive |static )*(trigon[.\\w]+);");
    private static final Pattern MODULE_NAME = Pattern.compile("(?m)^(?:open )?module (trigon[.\\w]+) \\{");

    /** All of them, in the order of the root pom. */
    static List<ReactorModule> all() {
        List<Path> folders = children(pom(ProjectFiles.PROJECT), "modules").stream()
                .map(each -> Path.of(each.getTextContent()))
                .toList();
        List<String> names = folders.stream()
                .map(each -> nameOf(pom(ProjectFiles.PROJECT.resolve(each))))
                .toList();
        return folders.stream().map(each -> of(each, names)).toList();
    }

    private static ReactorModule of(Path place, List<String> names) {
        Path folder = ProjectFiles.PROJECT.resolve(place);
        Element pom = pom(folder);
        String readme = ProjectFiles.textOf(folder.resolve("README.md"));
        Set<String> mayUse = new TreeSet<>();
        Matcher sentence = MAY_USE.matcher(readme);
        if (sentence.find()) {
            CODE.matcher(sentence.group(1)).results().map(code -> code.group(1)).forEach(mayUse::add);
            mayUse.retainAll(names);
        }
        Set<String> dependencies = new TreeSet<>();
        for (Element each : children(pom, "dependencies")) {
            if (textOf(each, "groupId").equals("trigon")
                    && !Set.of("test", "runtime").contains(textOf(each, "scope"))) {
                dependencies.add(nameOf(each));
            }
        }
        return new ReactorModule(nameOf(pom), place, readme, mayUse, dependencies, sourcesIn(folder.resolve(SOURCES)));
    }

    /** The first part of its folder. */
    String topFolder() {
        return folder.getName(0).toString();
    }

    boolean hasModuleInfo() {
        return Files.exists(moduleInfo());
    }

    /** What its module-info is called. */
    String javaName() {
        Matcher matcher = MODULE_NAME.matcher(ProjectFiles.textOf(moduleInfo()));
        if (!matcher.find()) {
            throw new AssertionError("no module in " + moduleInfo());
        }
        return matcher.group(1);
    }

    /** The names of Trigon's modules that its module-info requires. */
    Set<String> required() {
        Set<String> required = new TreeSet<>();
        REQUIRED.matcher(ProjectFiles.textOf(moduleInfo()))
                .results()
                .map(each -> each.group(1))
                .forEach(required::add);
        return required;
    }

    /** The packages of these sources. */
    Set<String> packages() {
        Set<String> packages = new TreeSet<>();
        sources().forEach(source -> packages.add(packageOf(source)));
        return packages;
    }

    /** The package of one of these sources. */
    String packageOf(Path source) {
        return sourceRoot().relativize(source.resolveSibling("")).toString().replace('/', '.');
    }

    @Override
    public String toString() {
        return name;
    }

    private Path sourceRoot() {
        return ProjectFiles.PROJECT.resolve(folder).resolve(SOURCES);
    }

    private static List<Path> sourcesIn(Path root) {
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("module-info.java") && !file.endsWith("package-info.java"))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(root.toString(), e);
        }
    }

    private Path moduleInfo() {
        return sourceRoot().resolve("module-info.java");
    }

    private static Element pom(Path folder) {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(folder.resolve("pom.xml").toFile())
                    .getDocumentElement();
        } catch (IOException | ParserConfigurationException | SAXException e) {
            throw new AssertionError(folder.toString(), e);
        }
    }

    /** The elements of a list that is the project's own, and not of its plugins or profiles. */
    private static List<Element> children(Element project, String list) {
        return elements(project)
                .filter(each -> each.getTagName().equals(list))
                .flatMap(ReactorModule::elements)
                .toList();
    }

    private static Stream<Element> elements(Element parent) {
        NodeList nodes = parent.getChildNodes();
        return Stream.iterate(0, i -> i < nodes.getLength(), i -> i + 1)
                .map(nodes::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast);
    }

    /** Of a module's pom, or of a dependency on it. */
    private static String nameOf(Element pom) {
        return textOf(pom, "artifactId").substring(ARTIFACT.length());
    }

    private static String textOf(Element parent, String child) {
        return elements(parent)
                .filter(each -> each.getTagName().equals(child))
                .map(Node::getTextContent)
                .findFirst()
                .orElse("");
    }
}
