package trigon.config.setting;

import java.util.HashMap;
import java.util.Map;

/**
 * Values of settings; what is not among them has its default. Immutable.
 *
 * @param set those that were set, each of its key's type
 */
public record SettingValues(Map<SettingKey<?>, Setting<?>> set) {

    /** Nothing is set, so that every setting has its default. */
    public static final SettingValues DEFAULTS = new SettingValues(Map.of());

    public SettingValues {
        set = Map.copyOf(set);
    }

    /** The value of a setting, with where it was set. */
    @SuppressWarnings("unchecked") // only with() adds values, and those of the key's type
    public <T> Setting<T> get(SettingKey<T> key) {
        Setting<?> setting = set.get(key);
        return setting == null ? Setting.ofDefault(key.defaultValue()) : (Setting<T>) setting;
    }

    /** The same with another value. */
    public <T> SettingValues with(SettingKey<T> key, T value, Source source) {
        Map<SettingKey<?>, Setting<?>> all = new HashMap<>(set);
        all.put(key, new Setting<>(value, source));
        return new SettingValues(all);
    }

    /** The same, with the others' values before these. */
    public SettingValues with(SettingValues others) {
        Map<SettingKey<?>, Setting<?>> all = new HashMap<>(set);
        all.putAll(others.set);
        return new SettingValues(all);
    }

    /** A setting's value and where it was set, as in the log. */
    public <T> String describe(SettingKey<T> key) {
        Setting<T> setting = get(key);
        String text = setting.source().equals(Source.DEFAULT)
                ? key.defaultText()
                : key.type().text(setting.value());
        return text + " (" + setting.source() + ")";
    }
}
