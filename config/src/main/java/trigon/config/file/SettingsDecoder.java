package trigon.config.file;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.setting.SettingKey;
import trigon.config.setting.SettingValues;
import trigon.config.setting.ValueType;

/** Reads a whole file: the settings by the table of {@link Settings}, and the cluster. */
final class SettingsDecoder {

    private static final String VERSION = "version";
    private static final String NODES = "nodes";
    private static final String PEERS = "peers";
    private static final ValueType.WholeNumber KNOWN_VERSION = new ValueType.WholeNumber(1, 1);

    private SettingsDecoder() {}

    /** Contents of a file. */
    record Decoded(SettingValues settings, Optional<ClusterConfig> cluster) {}

    static Decoded decode(ConfigFile file) {
        YamlNode root = YamlReader.read(file.path(), file.text());
        return decode(new FileValue(file.path(), "", root.line(), root));
    }

    private static Decoded decode(FileValue root) {
        // the version comes first: another one may have other keys
        FileValue version =
                root.entries("must be a mapping that begins with version: 1").get(VERSION);
        if (version == null) {
            throw root.bad("its version is missing: it must begin with version: 1");
        }
        version.only(KNOWN_VERSION);
        Map<String, FileValue> entries = root.entriesOf(keysBelow(""));
        FileValue nodes = entries.get(NODES);
        FileValue peers = entries.get(PEERS);
        if (nodes == null && peers != null) {
            throw peers.bad("it refers to nodes: add nodes");
        }
        SettingValues settings = SettingValues.DEFAULTS;
        for (Map.Entry<String, FileValue> entry : entries.entrySet()) {
            if (!List.of(VERSION, NODES, PEERS).contains(entry.getKey())) {
                settings = settings.with(settings(entry.getValue()));
            }
        }
        return new Decoded(
                settings, nodes == null ? Optional.empty() : Optional.of(ClusterDecoder.decode(nodes, peers)));
    }

    /** Decodes a setting, or a mapping of them. */
    private static SettingValues settings(FileValue value) {
        Optional<SettingKey<?>> setting = Settings.withFileKey(value.key());
        if (setting.isPresent()) {
            return set(setting.get(), value);
        }
        SettingValues settings = SettingValues.DEFAULTS;
        for (FileValue entry : value.entriesOf(keysBelow(value.key() + ".")).values()) {
            settings = settings.with(settings(entry));
        }
        return settings;
    }

    private static <T> SettingValues set(SettingKey<T> key, FileValue value) {
        return SettingValues.DEFAULTS.with(key, value.value(key.type()), value.source());
    }

    /** The keys that a mapping may have, by the table. */
    private static List<String> keysBelow(String prefix) {
        Set<String> keys = new LinkedHashSet<>(prefix.isEmpty() ? List.of(VERSION, NODES, PEERS) : List.of());
        for (SettingKey<?> setting : Settings.all()) {
            setting.fileKey()
                    .filter(key -> key.startsWith(prefix))
                    .map(key -> key.substring(prefix.length()).split("\\.", 2)[0])
                    .ifPresent(keys::add);
        }
        return new ArrayList<>(keys);
    }
}
