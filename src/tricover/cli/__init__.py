"""The ``tricover`` command: one file per subcommand. Heavy libraries load inside the commands."""
