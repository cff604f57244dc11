package trigon.integration.structure;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/**
 * A javadoc comment, and what it is on.
 *
 * @param place the source and the line
 * @param text without asterisks, in one line
 * @param names of the member or type that it is on, and of the source's type
 */
record DocComment(String place, String text, String names) {

    private static final String ANNOTATIONS = "(?:@\\w+(?:\\([^)]*\\))?\\s+)*";
    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*\\*(.*?)\\*/\\s*" + ANNOTATIONS + "([^;{=]*)");
    private static final Pattern METHOD = Pattern.compile("(\\w+)\\s*\\(");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record)\\s+(\\w+)");
    private static final Pattern LAST_WORD = Pattern.compile("(\\w+)\\s*$");
    private static final Pattern WORD = Pattern.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+");
    private static final List<String> ENDINGS = List.of("ing", "ies", "es", "ed", "s", "d", "e");

    /** Words that say nothing without others. */
    private static final Set<String> FILLERS =
            Set.of(("a an the this that it its they them their these those here there all one some what which who whose"
                            + " of for to in on by at and or with from as is are be has have does do get gets set sets"
                            + " return returns")
                    .split(" "));

    /** All that a source has. */
    static List<DocComment> in(TextFile source) {
        String type = Path.of(source.path()).getFileName().toString().replaceFirst("\\..*", "");
        List<DocComment> found = new ArrayList<>();
        Matcher matcher = COMMENT.matcher(source.text());
        while (matcher.find()) {
            long line = source.text().substring(0, matcher.start()).lines().count() + 1;
            String text = matcher.group(1).replaceAll("(?m)^\\s*\\*", " ").replaceAll("\\s+", " ");
            found.add(new DocComment(source.path() + ":" + line, text.strip(), nameIn(matcher.group(2)) + " " + type));
        }
        return found;
    }

    private static String nameIn(String declaration) {
        for (Pattern each : List.of(TYPE, METHOD, LAST_WORD)) {
            Matcher matcher = each.matcher(declaration);
            if (matcher.find()) {
                return matcher.group(1);
            }
        }
        return "";
    }

    /** Whether it has no tags, and no word that the names and the grammar do not have. */
    boolean onlyRepeatsItsName() {
        if (text.contains("@")) {
            return false;
        }
        Set<String> known = new HashSet<>(stems(names));
        Set<String> said = stems(text);
        FILLERS.forEach(each -> said.remove(stem(each)));
        return known.containsAll(said);
    }

    private static Set<String> stems(String words) {
        Set<String> stems = new HashSet<>();
        WORD.matcher(words).results().forEach(word -> stems.add(stem(word.group())));
        return stems;
    }

    /** Without an ending of the verb or the plural; the same for all forms of most words. */
    private static String stem(String word) {
        String lower = word.toLowerCase(Locale.ROOT);
        for (String ending : ENDINGS) {
            if (lower.length() > ending.length() + 2 && lower.endsWith(ending)) {
                return lower.substring(0, lower.length() - ending.length());
            }
        }
        return lower;
    }
}
