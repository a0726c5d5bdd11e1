"""The command line: one short module per verb, imported when the verb is called."""
