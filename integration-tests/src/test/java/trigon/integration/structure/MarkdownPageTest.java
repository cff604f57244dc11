package trigon.integration.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import trigon.integration.structure.MarkdownPage.Sentence;
import trigon.integration.testsupport.ProjectFiles.TextFile;

/** What the rules for the docs see of a page. */
class MarkdownPageTest {

    @Test
    void paragraphsAreTakenApartIntoSentences() {
        assertThat(page("One thought,\nin 2.5 lines. Another (of course!) thought?\n\nA third")
                        .sentences())
                .containsExactly(
                        new Sentence("One thought, in 2.5 lines.", 5),
                        new Sentence("Another (of course!)", 3),
                        new Sentence("thought?", 1),
                        new Sentence("A third", 2));
    }

    @Test
    void itemsAndCellsAreTextsOfTheirOwn() {
        assertThat(page("- an item,\n  that goes on\n- another\n\n| a | long row |\n|---|---|\n| x | y<br>z |\n")
                        .sentences())
                .extracting(Sentence::text)
                .containsExactly("an item, that goes on", "another", "a", "long row", "x", "y", "z");
    }

    @Test
    void codeIsOneWordAndCodeBlocksAreNone() {
        assertThat(page("Run `a b c d` now:\n\n    not a [link](x) here\n\n```\nnor [here](y)\n```\n"))
                .satisfies(page -> assertThat(page.sentences()).containsExactly(new Sentence("Run code now:", 3)))
                .satisfies(page -> assertThat(page.links()).isEmpty());
    }

    @Test
    void linksCountByTheirTextAndAreKnownByTheirTarget() {
        MarkdownPage page =
                page("See [the second\npart](../b.md#part-2), ![](a.svg), `[no](link)`," + " <img src=\"c.png\">.");

        assertThat(page.links()).containsExactly("../b.md#part-2", "a.svg", "c.png");
        assertThat(page.sentences()).extracting(Sentence::words).containsExactly(5);
        assertThat(page.resolve("../b.md")).isEqualTo(Path.of("b.md"));
    }

    @Test
    void anchorsAreThoseOfTheHeadings() {
        assertThat(page("# The `code`, and more\n\n## It's [here](x.md)\n\n## Twice\n\n## Twice\n")
                        .anchors())
                .containsExactlyInAnyOrder("the-code-and-more", "its-here", "twice", "twice-1");
    }

    private static MarkdownPage page(String text) {
        return MarkdownPage.of(new TextFile("folder/a.md", text));
    }
}
