package trigon.cluster.machine;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.file.OpenFile;

/**
 * Takes secrets out of texts: values that are known to be secret, wherever they stand, and what looks like one. It
 * rather takes too much. Immutable.
 */
public final class Redaction {

    /** Text in a secret's place. */
    public static final String HIDDEN = "(not shown)";

    private static final String WORD = "(?:key|token|secret|pass|credential|auth)";

    /** In a text, where a name ends with what names do not have. */
    private static final String REST_OF_NAME = "(?=[\\w.-]*?" + WORD + ")[\\w.-]++";

    /** From its first character on: who looks from each on takes the square of a long one's time. */
    private static final String NAME = "(?<![\\w.-])" + REST_OF_NAME;

    /** Names whose values may be secrets, or lead to one. */
    private static final Pattern SECRET_NAME = Pattern.compile(".*" + WORD + ".*", Pattern.CASE_INSENSITIVE);

    private static final Pattern FILE_OF_KEY = Pattern.compile("(?m)clusterKeyFile[\"']?\\s*:\\s*[\"']?([^\\s\"',}]+)");
    private static final Pattern OPTION = Pattern.compile("(?i)-{1,2}" + REST_OF_NAME);

    private static final List<Pattern> VALUES = List.of(
            Pattern.compile("(?is)(-----BEGIN [A-Z ]*)PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\\z)"),
            Pattern.compile("(?i)(" + NAME + "[\"']?\\s*[=:]\\s*\\\\?\")(?!\\Q" + HIDDEN + "\\E)[^\"\\n]*"),
            Pattern.compile("(?i)(" + NAME + "[\"']?\\s*[=:]\\s*')(?!\\Q" + HIDDEN + "\\E)[^'\\n]*"),
            Pattern.compile("(?i)(" + NAME + "\\s*=\\s*)(?![\"'\\s]|\\Q" + HIDDEN + "\\E)[^\\s\"]+"),
            Pattern.compile("(?i)(" + NAME + "\\s*:[ \\t]+)(?![\"'\\s]|\\Q" + HIDDEN + "\\E)[^\\n\"]+"),
            Pattern.compile("(?i)((?:^|[\\s\"'])-{1,2}" + REST_OF_NAME + "\\s+)(?!-|\\Q" + HIDDEN + "\\E)[^\\s\"]+"),
            Pattern.compile("(?i)(\\bbearer\\s+)[^\\s\"]+"),
            Pattern.compile("([a-z0-9+.-]://)[^\\s/@\"]++(?=@)"),
            Pattern.compile("()\\b(?:hf_|gh[opsu]_|github_pat_|glpat-|sk-|xox[abp]-|AKIA)[A-Za-z0-9_-]{12,}"));

    /** Shorter ones are in too many words. */
    private static final int MIN_LENGTH = 4;

    private static final int MAX_KEY_BYTES = 1 << 16;

    /** Secrets in one environment of another process. */
    private static final int MAX_NAMED = 256;

    /** Limit for the secrets of all environments, in all their encodings. */
    private static final int MAX_KNOWN = 8192;

    private final List<String> known;

    private Redaction(Set<String> known) {
        this.known = known.stream()
                .sorted(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    /** Knows the secrets in this environment, and in the files that it names. */
    public static Redaction of(Map<String, String> environment) {
        Set<String> known = new HashSet<>();
        environment.forEach((name, value) -> {
            if (isSecret(name)) {
                add(value, known);
                addContent(value, known);
            }
        });
        Matcher named = FILE_OF_KEY.matcher(text(environment.getOrDefault("TRIGON_CONFIG", "")));
        while (named.find()) {
            addContent(named.group(1), known);
        }
        return new Redaction(known);
    }

    /**
     * These secrets, and those of another process's environment; empty if they are more than are looked for in all of a
     * text: a stranger may name any number.
     */
    public Optional<Redaction> with(Map<String, String> environment) {
        long named = environment.keySet().stream().filter(Redaction::isSecret).count();
        if (named > MAX_NAMED) {
            return Optional.empty();
        }
        Set<String> all = new HashSet<>(known);
        all.addAll(of(environment).known);
        return all.size() > MAX_KNOWN ? Optional.empty() : Optional.of(new Redaction(all));
    }

    /** Tells whether a variable or an option of this name may be secret. */
    public static boolean isSecret(String name) {
        return SECRET_NAME.matcher(name).matches();
    }

    /** The text without secrets. */
    public String of(String text) {
        String shown = text;
        for (String secret : known) {
            shown = shown.replace(secret, HIDDEN);
        }
        for (Pattern pattern : VALUES) {
            shown = pattern.matcher(shown).replaceAll("$1" + Matcher.quoteReplacement(HIDDEN));
        }
        return shown;
    }

    /** A command line, word by word: what follows the option of a secret is one. */
    public List<String> words(List<String> words) {
        List<String> shown = new ArrayList<>();
        boolean secret = false;
        for (String word : words) {
            shown.add(secret && !word.startsWith("-") ? HIDDEN : of(word));
            secret = OPTION.matcher(word).matches();
        }
        return shown;
    }

    private static void addContent(String file, Set<String> known) {
        if (!file.startsWith("/")) {
            return;
        }
        byte[] content = bytes(file);
        String text = new String(content, StandardCharsets.ISO_8859_1).strip();
        add(text, known);
        text.lines().forEach(line -> add(line.strip(), known));
        byte[] stripped = text.getBytes(StandardCharsets.ISO_8859_1);
        if (stripped.length >= MIN_LENGTH) {
            add(HexFormat.of().formatHex(stripped), known);
            add(HexFormat.of().withUpperCase().formatHex(stripped), known);
        }
    }

    private static void add(String value, Set<String> known) {
        String text = value.strip();
        boolean isWord =
                text.toLowerCase(Locale.ROOT).matches("true|false|none|null|auto|default|disabled|enabled|root");
        if (text.length() < MIN_LENGTH || isWord) {
            return;
        }
        known.add(text);
        known.add(text.replace("\\", "\\\\").replace("\"", "\\\""));
        known.add(URLEncoder.encode(text, StandardCharsets.UTF_8));
        String encoded = Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
        known.add(encoded);
        known.add(encoded.replace("=", ""));
    }

    private static String text(String file) {
        return file.isEmpty() ? "" : new String(bytes(file), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String file) {
        try (OpenFile open = OpenFile.open(Path.of(file))) {
            return open.size() <= MAX_KEY_BYTES ? open.read(MAX_KEY_BYTES) : new byte[0];
        } catch (IOException | InvalidPathException _) {
            return new byte[0];
        }
    }
}
