/** The commands {@code trigon policy} and {@code trigon tune}; {@code tools} finds them as services. */
module trigon.policy.commands {
    requires info.picocli;
    requires trigon.cluster;
    requires trigon.policy;
    requires trigon.report;
    requires trigon.system;
    requires trigon.tools;
    requires static org.jspecify;

    opens trigon.policy.commands to
            info.picocli;
    opens trigon.policy.commands.tune to
            info.picocli;

    provides trigon.tools.command.CommandProvider with
            trigon.policy.commands.PolicyCommands,
            trigon.policy.commands.tune.TuneCommands;
}
