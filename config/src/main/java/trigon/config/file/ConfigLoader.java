package trigon.config.file;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.UnknownVariable;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.ClusterKey;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Excerpt;
import trigon.config.setting.Setting;
import trigon.config.setting.SettingKey;
import trigon.config.setting.SettingValues;
import trigon.config.setting.Source;

/**
 * Puts the settings together: defaults, then the file, then environment variables; which there are is said by the table
 * of {@link Settings}.
 *
 * <p>Stateless. Reads the file once, and no YAML library is loaded when there is none.
 */
public final class ConfigLoader {

    private ConfigLoader() {}

    /**
     * Loads the settings.
     *
     * @param environment the process's environment variables; an empty one counts as not set
     * @param hostName the machine's name, with or without domain
     * @throws ConfigException if anything in the file or the variables is wrong
     */
    public static PluginConfig load(Map<String, String> environment, String hostName) {
        SettingValues ofEnvironment = ofEnvironment(environment);
        Optional<ConfigFile> file = ofEnvironment.get(Settings.CONFIG).value().map(ConfigFile::read);
        Optional<SettingsDecoder.Decoded> decoded = file.map(SettingsDecoder::decode);
        SettingValues settings = decoded.map(SettingsDecoder.Decoded::settings)
                .orElse(SettingValues.DEFAULTS)
                .with(ofEnvironment);
        Optional<ClusterConfig> cluster = decoded.flatMap(SettingsDecoder.Decoded::cluster);
        return new PluginConfig(
                file.map(ConfigFile::path),
                file.map(ConfigFile::fingerprint).orElse(0),
                settings,
                cluster,
                cluster.map(nodes -> thisNode(nodes, settings, hostName, file.orElseThrow())),
                clusterKey(settings.get(Settings.CLUSTER_KEY_FILE)),
                UnknownVariable.among(environment.keySet()));
    }

    private static SettingValues ofEnvironment(Map<String, String> environment) {
        SettingValues settings = SettingValues.DEFAULTS;
        for (SettingKey<?> key : Settings.all()) {
            if (key.reader() == SettingKey.Reader.LOADER && key.variable().isPresent()) {
                String text = environment.getOrDefault(key.variable().get(), "");
                if (!text.isEmpty()) {
                    settings = settings.with(set(key, key.variable().get(), text));
                }
            }
        }
        return settings;
    }

    private static <T> SettingValues set(SettingKey<T> key, String variable, String text) {
        T value = key.type()
                .parse(text)
                .orElseThrow(() -> new ConfigException("the environment variable %s is %s: %s"
                        .formatted(variable, Excerpt.quoted(text), key.type().rule())));
        return SettingValues.DEFAULTS.with(key, value, new Source.Environment(variable));
    }

    private static Optional<ClusterKey> clusterKey(Setting<Optional<Path>> file) {
        return file.value().map(path -> ClusterKey.read(path, file.source()));
    }

    private static Setting<NodeConfig> thisNode(
            ClusterConfig cluster, SettingValues settings, String hostName, ConfigFile file) {
        Setting<Optional<String>> named = settings.get(Settings.NODE);
        if (named.value().isPresent()) {
            NodeConfig node = cluster.node(named.value().get())
                    .orElseThrow(() -> new ConfigException(
                            "the environment variable %s is %s: no such node is in %s; its nodes are %s"
                                    .formatted(
                                            Settings.NODE,
                                            Excerpt.quoted(named.value().get()),
                                            file.path(),
                                            cluster.names())));
            return new Setting<>(node, named.source());
        }
        int dot = hostName.indexOf('.');
        String shortName = dot < 0 ? hostName : hostName.substring(0, dot);
        Set<String> names = new LinkedHashSet<>();
        names.add(hostName);
        names.add(shortName);
        for (String name : names) {
            Optional<NodeConfig> node = cluster.node(name);
            if (node.isPresent()) {
                return new Setting<>(node.get(), new Source.HostName(name));
            }
        }
        throw new ConfigException(
                ("this machine is not among the nodes of %s: looked for %s (not set), host name %s, short host name %s;"
                                + " the nodes are %s. Add this machine to the file, or set %s to its name there")
                        .formatted(
                                file.path(),
                                Settings.NODE,
                                Excerpt.quoted(hostName),
                                Excerpt.quoted(shortName),
                                cluster.names(),
                                Settings.NODE));
    }
}
