package trigon.integration.structure;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/**
 * What a page of Markdown says: its sentences, its links, and the anchors that others may link to. Code is none of it.
 *
 * @param path from the project's root
 * @param sentences of paragraphs, items and cells of tables; a piece of code counts as one word
 * @param links targets as they are written
 * @param anchors of the headings, as GitHub makes them
 */
record MarkdownPage(String path, List<Sentence> sentences, List<String> links, Set<String> anchors) {

    private static final Pattern FENCE = Pattern.compile("\\s*```.*");
    private static final Pattern INDENTED = Pattern.compile(" {4}.*");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*)");
    private static final Pattern ITEM = Pattern.compile("\\s*(?:[-*]|\\d+\\.) +(.*)");
    private static final Pattern TABLE_ROW = Pattern.compile("\\s*\\|(.*)\\|\\s*");
    private static final Pattern CELL_BORDER = Pattern.compile("(?<!\\\\)\\||<br>");
    private static final Pattern CODE = Pattern.compile("`[^`]*`");
    private static final Pattern LINK = Pattern.compile("!?\\[([^\\]]*)]\\(([^)\\s]*)\\)");
    private static final Pattern IMAGE = Pattern.compile("<img [^>]*src=\"([^\"]*)\"[^>]*>");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?][)\"*_]{0,3})\\s+");
    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");

    static MarkdownPage of(TextFile file) {
        Blocks blocks = new Blocks();
        for (String line : file.text().lines().toList()) {
            blocks.add(line);
        }
        blocks.end();
        List<Sentence> sentences =
                blocks.texts.stream().flatMap(MarkdownPage::sentencesOf).toList();
        List<String> links = Stream.concat(
                        LINK.matcher(blocks.prose).results().map(link -> link.group(2)),
                        IMAGE.matcher(blocks.prose).results().map(image -> image.group(1)))
                .toList();
        return new MarkdownPage(file.path(), sentences, links, anchorsOf(blocks.headings));
    }

    /** Of a link's target, from the project's root. */
    Path resolve(String target) {
        return Path.of(path).resolveSibling(target).normalize();
    }

    private static Stream<Sentence> sentencesOf(String text) {
        return SENTENCE_END
                .splitAsStream(plain(text))
                .map(sentence -> new Sentence(
                        sentence.strip(), (int) WORD.matcher(sentence).results().count()))
                .filter(sentence -> sentence.words() > 0);
    }

    private static String plain(String text) {
        return CODE.matcher(IMAGE.matcher(LINK.matcher(text).replaceAll(MarkdownPage::textOfLink))
                        .replaceAll(""))
                .replaceAll("code");
    }

    private static String textOfLink(MatchResult link) {
        return link.group(1).replace("$", "");
    }

    private static Set<String> anchorsOf(List<String> headings) {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> times = new HashMap<>();
        for (String heading : headings) {
            String anchor = LINK.matcher(heading)
                    .replaceAll(MarkdownPage::textOfLink)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            int before = times.merge(anchor, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? anchor : anchor + "-" + before);
        }
        return anchors;
    }

    /** A sentence and its length. */
    record Sentence(String text, int words) {}

    /** Takes a page apart, line by line. */
    private static final class Blocks {

        final List<String> texts = new ArrayList<>();
        final List<String> headings = new ArrayList<>();
        final StringBuilder prose = new StringBuilder();
        private final StringBuilder paragraph = new StringBuilder();
        private boolean fenced;
        private boolean inList;

        void add(String line) {
            if (FENCE.matcher(line).matches()) {
                end();
                fenced = !fenced;
            } else if (!fenced && !isIndentedCode(line)) {
                prose.append(CODE.matcher(line).replaceAll("code")).append('\n');
                addProse(line);
            }
        }

        void end() {
            if (!paragraph.isEmpty()) {
                texts.add(paragraph.toString());
                paragraph.setLength(0);
            }
        }

        private boolean isIndentedCode(String line) {
            return paragraph.isEmpty() && !inList && INDENTED.matcher(line).matches();
        }

        private void addProse(String line) {
            var heading = HEADING.matcher(line);
            var item = ITEM.matcher(line);
            var row = TABLE_ROW.matcher(line);
            if (heading.matches()) {
                end();
                inList = false;
                headings.add(heading.group(1));
                texts.add(heading.group(1));
            } else if (row.matches()) {
                end();
                inList = false;
                texts.addAll(
                        List.of(CELL_BORDER.split(CODE.matcher(row.group(1)).replaceAll("code"))));
            } else if (item.matches()) {
                end();
                inList = true;
                paragraph.append(item.group(1)).append(' ');
            } else if (line.isBlank()) {
                end();
            } else {
                inList &= line.startsWith(" ");
                paragraph.append(line.strip()).append(' ');
            }
        }
    }
}
